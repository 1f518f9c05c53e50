import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MIB } from '../../schemas/limits/limits.ts'

/** Bytes by which a heap grows until its garbage is worth a collection, which stops the loop for some 50 ms. Decision. */
export const WORTH_COLLECTING_BYTES = 16 * MIB

/** The runtime's collector, and the bytes in use, including buffers outside of the heap. */
export interface CollectedHeap {
  collect(): void
  readonly usedBytes: number
}

/**
 * Returns a function that collects all garbage of this process, unless there is little of it. An idle process
 * allocates too little for the runtime to collect by itself, so that the garbage of its start would remain.
 * Does nothing in a process without `--expose-gc`.
 */
export function heapCollector(heap: CollectedHeap | null = ownHeap()): () => void {
  let keptBytes = 0
  return () => {
    if (heap === null) return
    // Buffers that lived at the last collection may have been freed since.
    keptBytes = Math.min(keptBytes, heap.usedBytes)
    if (heap.usedBytes - keptBytes < WORTH_COLLECTING_BYTES) return
    heap.collect()
    keptBytes = heap.usedBytes
  }
}

/** Enables collection in this process even if it was started without `--expose-gc`. */
export function exposedHeap(): CollectedHeap | null {
  setFlagsFromString('--expose-gc')
  return heapOf(runInNewContext('gc'))
}

function ownHeap(): CollectedHeap | null {
  return heapOf(globalThis.gc)
}

function heapOf(gc: unknown): CollectedHeap | null {
  if (typeof gc !== 'function') return null
  return {
    collect: () => void Reflect.apply(gc, undefined, []),
    get usedBytes() {
      const { used_heap_size: own, external_memory: outside } = getHeapStatistics()
      return own + outside
    },
  }
}
