import { writeSync } from 'node:fs'
import { LOG_BUFFER_BYTES_MAX } from '../../schemas/limits/limits.ts'

/** Where finished lines leave the process. */
export interface Outlet {
  write(line: string): void
  /** Writes out what is buffered, as long as somebody reads. */
  flush(): void
  /** Lines that found the buffer full, or nobody to read them. */
  readonly dropped: number
}

/** Nothing can be written now: the pipe is full, or the disk. */
const PASSING: ReadonlySet<string> = new Set(['EAGAIN', 'ENOSPC', 'EDQUOT'])
/** Milliseconds between two tries of a pipe that is full. */
const RETRY_MS = 50
/** Milliseconds that `flush` waits for a reader that takes nothing, and between two tries of it. */
const STALL_MS_MAX = 1_000
const STALL_LOOK_MS = 10

/**
 * Lines to a file descriptor, those of one turn of the loop in one write. A reader that stalls holds nobody
 * up: the pipe of stdout is made non-blocking by Node, lines wait in a bounded buffer, and beyond it they are
 * dropped and counted. A thread of the pool that waits in a write, as a stream of files has it, would keep
 * the process from ending.
 */
export function openOutlet(fd: number): Outlet {
  // Looking at it is what makes the pipe non-blocking, for us and those who inherit it.
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
      // A reader that went away (`npm start | head`) must not end the node.
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
