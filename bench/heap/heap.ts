/** Reads the garbage of server processes that were started with the reporter. */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HEAP_FOLDER, type HeapReading } from './reading.ts'

/** Milliseconds that a process may take to answer. */
const ANSWER_MS_MAX = 2_000

export interface HeapWatch {
  /** Environment of a process that Node's own options reach by `NODE_OPTIONS`, and of its children. */
  readonly inherited: Readonly<Record<string, string>>
  /** Environment of a process that is started with `execArgv`. */
  readonly env: Readonly<Record<string, string>>
  readonly execArgv: readonly string[]
  /** Null: the process does not report. */
  read(pid: number): Promise<HeapReading | null>
  close(): Promise<void>
}

export async function openHeapWatch(): Promise<HeapWatch> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-heap-'))
  const reporter = `--import=${new URL('./reporter.js', import.meta.url).href}`
  const env = { [HEAP_FOLDER]: folder }
  return {
    inherited: { ...env, NODE_OPTIONS: reporter },
    env,
    execArgv: [reporter],
    read: (pid) => readHeap(join(folder, String(pid))),
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

function readHeap(path: string): Promise<HeapReading | null> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(path)
    socket.setTimeout(ANSWER_MS_MAX, () => socket.destroy())
    socket.setEncoding('utf8').on('data', (piece: string) => (text += piece))
    socket.on('error', () => undefined)
    // A connection that failed left no text.
    socket.on('close', () => resolve(readingOf(text)))
  })
}

function readingOf(text: string): HeapReading | null {
  try {
    return JSON.parse(text) as HeapReading
  } catch {
    return null
  }
}

/** The garbage of a request, as figures of a sample. */
export function heapFigures(
  before: HeapReading | null,
  after: HeapReading | null,
  requests: number,
): Readonly<Record<string, number>> {
  if (before === null || after === null || requests === 0) return {}
  return {
    heap_bytes: (after.allocatedBytes - before.allocatedBytes) / requests,
    gc_us: ((after.gcMs - before.gcMs) / requests) * 1_000,
  }
}
