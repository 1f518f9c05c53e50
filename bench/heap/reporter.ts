/**
 * Loaded into a server's process by `--import`: tells over a local socket what the process has allocated in
 * its young generation and how long its collections took. It costs nothing between two collections.
 */
import { createServer } from 'node:net'
import { join } from 'node:path'
import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'
import { isMainThread } from 'node:worker_threads'
import { HEAP_FOLDER, type HeapReading } from './reading.ts'

const folder = process.env[HEAP_FOLDER]
if (isMainThread && folder !== undefined) report(join(folder, String(process.pid)))

function report(path: string): void {
  let [minors, gcMs] = [0, 0]
  const count = (entries: readonly PerformanceEntry[]): void => {
    for (const entry of entries) {
      if (kindOf(entry) === constants.NODE_PERFORMANCE_GC_MINOR) minors += 1
      gcMs += entry.duration
    }
  }
  const observer = new PerformanceObserver((list) => count(list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  const reading = (): HeapReading => {
    count(observer.takeRecords())
    const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
    const used = young?.space_used_size ?? 0
    // A minor collection comes when half of the young generation is full.
    return { allocatedBytes: minors * (used + (young?.space_available_size ?? 0)) + used, gcMs }
  }
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.end(JSON.stringify(reading()))
  })
  // The process does not wait for its observer, and works without it where the folder is gone.
  server.on('error', () => undefined)
  server.listen(path).unref()
}

/** Collections have their kind in a member that the types of Node leave out. */
function kindOf(entry: PerformanceEntry): unknown {
  const detail: unknown = Reflect.get(entry, 'detail')
  return typeof detail === 'object' && detail !== null ? Reflect.get(detail, 'kind') : undefined
}
