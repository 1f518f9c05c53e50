import { threadId } from 'node:worker_threads'
import { IntakeWork } from './intake-work.ts'
import type {
  FromThread,
  LastMessage,
  SessionJob,
  ThreadSession,
  ToThread,
  SessionOutput,
} from './protocol.ts'
import { UnsealWork } from './unseal-work.ts'
import { SESSION_TURN_MS } from '../../schemas/files/file-limits.ts'

/** Does one slice of work. @returns whether there is more work now */
type Step = () => boolean

/**
 * The sessions of a thread take turns, one slice each, and every SESSION_TURN_MS the thread reads its
 * messages: so a busy session delays neither the others nor the answer to a ping. Design §5.
 */
export class TimeSlices {
  readonly #waiting = new Set<Step>()
  #isDue = false

  /** Has no effect for a step that is waiting already. A step that throws is not called again, and does not delay the others. */
  ask(step: Step): void {
    this.#waiting.add(step)
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => this.#run())
  }

  #run(): void {
    this.#isDue = false
    const endMs = performance.now() + SESSION_TURN_MS
    // When a member is added again during the iteration, a set yields it once more at its end.
    for (const step of this.#waiting) {
      this.#waiting.delete(step)
      if (step()) this.ask(step)
      if (performance.now() >= endMs) break
    }
    const [next] = this.#waiting
    if (next !== undefined) this.ask(next)
  }
}

const turns = new TimeSlices()

/**
 * Entry of a session thread. One task is one session, from its job to its last message; it never rejects. All
 * state belongs to the session, so that hundreds of them share a thread. A null job only loads the code.
 */
export default function runSession(job: SessionJob | null): Promise<void> {
  if (job === null) return Promise.resolve()
  return new Promise((resolve) => new Running(job, resolve))
}

class Running implements SessionOutput {
  readonly #job: SessionJob
  readonly #resolve: () => void
  readonly #step = (): boolean => this.#guarded((session) => session.step())
  /** Null after the end. */
  #session: ThreadSession | null = null
  #isOver = false

  constructor(job: SessionJob, resolve: () => void) {
    this.#job = job
    this.#resolve = resolve
    job.port.on('message', (message: ToThread) => this.#receive(message))
    this.post({ kind: 'begun', threadId })
    try {
      const session = job.kind === 'intake' ? new IntakeWork(job, this) : new UnsealWork(job, this)
      // The session may have ended already; its resources are then released here.
      if (this.#isOver) session.release()
      else this.#session = session
    } catch (cause) {
      this.#fail(cause)
    }
  }

  post(message: FromThread, moved?: ArrayBuffer): void {
    this.#job.port.postMessage(message, moved === undefined ? [] : [moved])
  }

  end(message: LastMessage): void {
    if (this.#isOver) return
    this.#leave()
    this.post(message)
    this.#resolve()
  }

  #receive(message: ToThread): void {
    if (message.kind === 'ping') return this.post({ kind: 'pong' })
    if (this.#isOver) return
    if (message.kind === 'cancel') {
      this.#leave()
      return this.#resolve()
    }
    this.#guarded((session) => {
      session.receive(message)
      return true
    })
    turns.ask(this.#step)
  }

  #guarded(act: (session: ThreadSession) => boolean): boolean {
    if (this.#session === null) return false
    try {
      return act(this.#session) && !this.#isOver
    } catch (cause) {
      this.#fail(cause)
      return false
    }
  }

  #fail(cause: unknown): void {
    this.end(
      isSystemError(cause) ? { kind: 'system', code: cause.code, message: cause.message } : failed(cause),
    )
  }

  #leave(): void {
    this.#isOver = true
    const session = this.#session
    this.#session = null
    try {
      session?.release()
    } catch {
      // The resources are given up in any case, so an error in closing them is ignored: the caller removes the file.
    }
  }
}

function isSystemError(cause: unknown): cause is Error & { readonly code: string } {
  return cause instanceof Error && 'syscall' in cause && 'code' in cause && typeof cause.code === 'string'
}

function failed(cause: unknown): LastMessage {
  return {
    kind: 'failed',
    name: 'internal',
    fields: {},
    cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
  }
}
