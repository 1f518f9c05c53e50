import { writeSync } from 'node:fs'
import { LOG_BUFFER_BYTES_MAX } from '../../schemas/limits/limits.ts'

/** The way by which finished lines leave the process. */
export interface Outlet {
  write(line: string): void
  /** Writes the buffered lines as long as the reader takes them. */
  flush(): void
  /** Lines that were dropped because the buffer was full or the reader was gone. */
  readonly dropped: number
}

/** Error codes of a temporary failure to write: the pipe or the disk is full. */
const PASSING: ReadonlySet<string> = new Set(['EAGAIN', 'ENOSPC', 'EDQUOT'])
/** Milliseconds between two writes to a full pipe. */
const RETRY_MS = 50
/** Milliseconds that `flush` waits for a reader that takes nothing. */
const STALL_MS_MAX = 1_000
/** Milliseconds between two writes of a `flush` that waits. */
const STALL_LOOK_MS = 10

/**
 * Writes lines to a file descriptor; the lines of one turn of the event loop go in one write. A stalled
 * reader does not block the process: Node makes the pipe of stdout non-blocking, lines wait in a bounded
 * buffer, and further lines are dropped and counted. A file stream would write in a thread of the pool, and a
 * thread that waits in a write would keep the process from ending.
 */
export function openOutlet(fd: number): Outlet {
  // Reading this property makes the pipe non-blocking, for this process and for those that inherit the pipe.
  if (fd === 1) void process.stdout.writable
  let lines: string[] = []
  let waiting: Buffer = Buffer.alloc(0)
  let bytes = 0
  let dropped = 0
  let isScheduled = false
  let isBroken = false

  /** @returns false when the reader takes nothing now */
  const push = (): boolean => {
    if (lines.length > 0) {
      waiting = Buffer.concat([waiting, Buffer.from(lines.join(''))])
      lines = []
    }
    try {
      while (waiting.length > 0) {
        const written = writeSync(fd, waiting)
        waiting = waiting.subarray(written)
        bytes -= written
      }
      return true
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && PASSING.has(String(cause.code))) return false
      // A reader that closed the pipe (`npm start | head`) must not end the node.
      isBroken = true
      return true
    }
  }
  const turn = (): void => {
    isScheduled = !push()
    if (isScheduled) setTimeout(turn, RETRY_MS).unref()
  }
  return {
    get dropped() {
      return dropped
    },
    write(line) {
      const length = Buffer.byteLength(line)
      if (isBroken || bytes + length > LOG_BUFFER_BYTES_MAX) {
        dropped += 1
        return
      }
      lines.push(line)
      bytes += length
      if (isScheduled) return
      isScheduled = true
      setImmediate(turn)
    },
    flush() {
      for (let giveUpAt = performance.now() + STALL_MS_MAX; !isBroken && performance.now() < giveUpAt;) {
        const before = bytes
        if (push()) return
        if (bytes < before) giveUpAt = performance.now() + STALL_MS_MAX
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_LOOK_MS)
      }
    },
  }
}
