import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { fail, ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import type { Intake, IntakeSession, IntakeVerdict, IntakeInput } from '../../server/ports/files/intake.ts'
import { SALT_BYTES } from '../seal/format.ts'
import { failureOfLast } from './last-message.ts'
import type { FromThread, IntakeJob } from './protocol.ts'
import type { Session, SessionPool } from './session-pool.ts'
import { UploadBudget, type Share } from './upload-budget.ts'

export interface IntakeOptions {
  readonly sessions: SessionPool
  /** The failure for an error of a system call on a staging file: `Storage.failureOf`. */
  readonly failureOf: (cause: unknown) => Failure
  readonly random?: (count: number) => Uint8Array<ArrayBuffer>
}

export interface IntakePart extends Intake {
  /** Bytes on their way to the threads now: at most UPLOADS_BYTES_MAX and one push each. */
  readonly waitingBytes: number
}

/**
 * The main side of intake: it copies pushed bytes into buffers of COALESCED_BYTES_MIN to COALESCED_BYTES_MAX
 * and moves them to a session's thread, which sends them back. Sessions end with `SessionPool.close`. Design
 * §5.
 */
export function createIntake({ sessions, failureOf, random = randomSalt }: IntakeOptions): IntakePart {
  const budget = new UploadBudget()
  return {
    open(input) {
      const { job, moved } = jobOf(input, random)
      const pushing = new Pushing({ input, budget, failureOf })
      const session = sessions.start(job, { moved, holder: input.holder }, pushing)
      if (!session.ok) {
        input.target?.seal?.dataKey.key.fill(0)
        return session
      }
      pushing.begin(session.value)
      return ok(pushing)
    },
    get waitingBytes() {
      return budget.heldBytes
    },
  }
}

function jobOf(
  { target, content }: IntakeInput,
  random: (count: number) => Uint8Array,
): { job: Omit<IntakeJob, 'port'>; moved: ArrayBuffer[] } {
  const path = target?.path ?? null
  const wanted = target?.seal ?? null
  if (wanted === null) return { job: { kind: 'intake', path, content, seal: null }, moved: [] }
  const { dataKey, objectId } = wanted
  const seal = { dataKey: dataKey.key, dataKeyId: dataKey.id, objectId, salt: random(SALT_BYTES) }
  return { job: { kind: 'intake', path, content, seal }, moved: [dataKey.key.buffer] }
}

/** A copy in a buffer of its own: small random bytes are part of a pool that must not be sent. */
function randomSalt(count: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(randomBytes(count))
}

class Pushing implements IntakeSession {
  readonly #input: IntakeInput
  readonly #budget: UploadBudget
  readonly #failureOf: (cause: unknown) => Failure
  #share: Share | null = null
  #session: Session | null = null
  #buffer: ArrayBuffer | null = null
  #filledBytes = 0
  #sizeBytes = 0
  #end: Outcome<IntakeVerdict> | null = null
  #isCancelled = false
  #onRoom: () => void = () => {}
  #onFailure: ((failure: Failure) => void) | null = null
  #finished: ((end: Outcome<IntakeVerdict>) => void) | null = null

  constructor({
    input,
    budget,
    failureOf,
  }: {
    input: IntakeInput
    budget: UploadBudget
    failureOf: (cause: unknown) => Failure
  }) {
    this.#input = input
    this.#budget = budget
    this.#failureOf = failureOf
  }

  begin(session: Session): void {
    this.#session = session
    void session.released.then(() => (session.isLost ? this.#clean() : undefined))
    this.#share = this.#budget.join()
  }

  push(bytes: Uint8Array): boolean {
    const share = this.#share
    if (share === null || this.#finished !== null) return false
    this.#sizeBytes += bytes.length
    if (this.#sizeBytes > this.#input.bytesMax) {
      this.#session?.cancel()
      this.#settle(fail('file_too_large', { fields: { limit: this.#input.bytesMax } }))
      return false
    }
    if (bytes.length === 0) return share.hasRoom === null
    this.#budget.take(share, bytes.length)
    this.#copy(bytes)
    if (this.#budget.fits(share)) return share.hasRoom === null
    // Bytes that are kept back here would never make room.
    this.#post()
    share.hasRoom = () => this.#onRoom()
    return false
  }

  onRoom(notify: () => void): void {
    this.#onRoom = notify
  }

  onFailure(notify: (failure: Failure) => void): void {
    this.#onFailure = notify
    if (this.#end !== null) this.#tellFailure(this.#end)
  }

  finish(): Promise<Outcome<IntakeVerdict>> {
    if (this.#end !== null) return Promise.resolve(this.#end)
    this.#post()
    this.#session?.post({ kind: 'end' })
    return new Promise((resolve) => {
      this.#finished = resolve
    })
  }

  cancel(): Promise<void> {
    if (this.#end === null) {
      this.#isCancelled = true
      this.#session?.cancel()
      this.#settle(fail('client_gone'))
    }
    return this.#session?.over ?? Promise.resolve()
  }

  onMessage(message: FromThread): void {
    if (message.kind === 'spent') {
      this.#budget.recycle(message.bytes)
      if (this.#share !== null) this.#budget.give(this.#share, message.length)
    } else if (message.kind === 'verdict') {
      const { mimeType, sizeBytes, sha256 } = message
      this.#settle(ok({ mimeType, sizeBytes, sha256 }))
    } else {
      this.#settle({ ok: false, failure: failureOfLast(message, this.#failureOf) })
    }
  }

  onLost(cause: unknown): void {
    this.#settle(fail('busy', { retryAfterS: 1, cause }))
  }

  /** A lost thread may have created the file after its owner had discarded it. */
  async #clean(): Promise<void> {
    const path = this.#input.target?.path
    if (path !== undefined) await rm(path, { force: true }).catch(() => undefined)
  }

  #copy(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      this.#buffer ??= this.#budget.buffer()
      const part = bytes.subarray(at, at + this.#buffer.byteLength - this.#filledBytes)
      new Uint8Array(this.#buffer, this.#filledBytes).set(part)
      at += part.length
      this.#filledBytes += part.length
      if (this.#filledBytes === this.#buffer.byteLength) this.#post()
    }
  }

  #post(): void {
    const buffer = this.#buffer
    if (buffer === null) return
    const length = this.#filledBytes
    this.#buffer = null
    this.#filledBytes = 0
    this.#session?.post({ kind: 'piece', bytes: buffer, length }, buffer)
  }

  #settle(end: Outcome<IntakeVerdict>): void {
    if (this.#end !== null) return
    this.#end = end
    if (this.#buffer !== null) this.#budget.recycle(this.#buffer)
    this.#buffer = null
    if (this.#share !== null) this.#budget.leave(this.#share)
    this.#share = null
    if (this.#finished !== null) this.#finished(end)
    else this.#tellFailure(end)
  }

  /** Not before the caller's current step is over: the caller may be in the middle of a push. */
  #tellFailure(end: Outcome<IntakeVerdict>): void {
    const notify = this.#onFailure
    if (end.ok || this.#isCancelled || notify === null) return
    this.#onFailure = null
    queueMicrotask(() => notify(end.failure))
  }
}
