import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { fail, ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import type { Intake, IntakeSession, IntakeVerdict, IntakeInput } from '../../server/ports/files/intake.ts'
import {
  COALESCED_BYTES_MAX,
  COALESCED_BYTES_MIN,
  UPLOADS_BYTES_MAX,
  UPLOAD_WINDOW_BYTES_MAX,
  UPLOAD_WINDOW_BYTES_MIN,
} from '../../schemas/files/file-limits.ts'
import { SALT_BYTES } from '../seal/format.ts'
import { detach } from '../detach.ts'
import { failureOfLast } from './last-message.ts'
import type { FromThread, IntakeJob } from './protocol.ts'
import type { Session, SessionPool } from './session-pool.ts'

export interface IntakeOptions {
  readonly sessions: SessionPool
  /** The failure for an error of a system call on a staging file: `Storage.failureOf`. */
  readonly failureOf: (cause: unknown) => Failure
  readonly random?: (count: number) => Uint8Array<ArrayBuffer>
}

export interface IntakePart extends Intake {
  /** Bytes of buffers that are being sent to the threads now: at most UPLOADS_BYTES_MAX and one push each. */
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
    this.#copy(bytes, share)
    share.pushBytes = Math.min(bytes.length, UPLOAD_WINDOW_BYTES_MAX)
    if (this.#budget.fits(share)) return share.hasRoom === null
    share.hasRoom = () => this.#onRoom()
    this.#postLast(share)
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
      this.#budget.giveBack(this.#share, message.bytes)
      if (this.#share !== null) this.#postLast(this.#share)
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

  /** If the thread was lost, it may have created the file after its owner discarded it. */
  async #clean(): Promise<void> {
    const path = this.#input.target?.path
    if (path !== undefined) await rm(path, { force: true }).catch(() => undefined)
  }

  #copy(bytes: Uint8Array, share: Share): void {
    for (let at = 0; at < bytes.length;) {
      this.#buffer ??= this.#budget.buffer(share)
      const part = bytes.subarray(at, at + share.freeBytes)
      new Uint8Array(this.#buffer, this.#buffer.byteLength - share.freeBytes).set(part)
      at += part.length
      share.freeBytes -= part.length
      if (share.freeBytes === 0) this.#post()
    }
  }

  /** Posts the buffer that is being filled when no other is out: waiting for more buffers could not make room. */
  #postLast(share: Share): void {
    if (share.hasRoom !== null && share.heldBytes === this.#buffer?.byteLength) this.#post()
  }

  #post(): void {
    const [buffer, share] = [this.#buffer, this.#share]
    if (buffer === null || share === null) return
    const length = buffer.byteLength - share.freeBytes
    this.#buffer = null
    share.freeBytes = 0
    this.#session?.post({ kind: 'piece', bytes: buffer, length }, buffer)
  }

  #settle(end: Outcome<IntakeVerdict>): void {
    if (this.#end !== null) return
    this.#end = end
    const [buffer, share] = [this.#buffer, this.#share]
    // First: what waits for room may push, now that there is some.
    this.#buffer = null
    this.#share = null
    if (buffer !== null) this.#budget.giveBack(share, buffer)
    if (share !== null) this.#budget.leave(share)
    if (this.#finished !== null) this.#finished(end)
    else this.#tellFailure(end)
  }

  /** Called after the caller's current step: the caller may be in the middle of a push. */
  #tellFailure(end: Outcome<IntakeVerdict>): void {
    const notify = this.#onFailure
    if (end.ok || this.#isCancelled || notify === null) return
    this.#onFailure = null
    queueMicrotask(() => notify(end.failure))
  }
}

/** One upload's part of the budget. */
export interface Share {
  /** Bytes of the buffers that the upload has, full or not. */
  heldBytes: number
  /** Bytes that still fit into the buffer that is being filled. */
  freeBytes: number
  /** Bytes of the last push: the next will be about as large. */
  pushBytes: number
  /** Set while the upload waits for room. */
  hasRoom: (() => void) | null
}

/**
 * The buffers of a front's uploads that are being sent to the threads, in total and for each upload. Each counts with
 * its full size, however few bytes it contains. Design §5.
 */
export class UploadBudget {
  readonly #shares = new Set<Share>()
  /** Kept for reuse, since new memory has to be cleared. */
  readonly #spare: ArrayBuffer[] = []
  #heldBytes = 0
  #spareBytes = 0

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Bytes of all buffers, including those kept for reuse: at most a window and a push for each upload. */
  get bufferBytes(): number {
    return this.#heldBytes + this.#spareBytes
  }

  get windowBytes(): number {
    const fair = Math.floor(UPLOADS_BYTES_MAX / Math.max(1, this.#shares.size))
    return Math.min(UPLOAD_WINDOW_BYTES_MAX, Math.max(UPLOAD_WINDOW_BYTES_MIN, fair))
  }

  join(): Share {
    const share: Share = { heldBytes: 0, freeBytes: 0, pushBytes: 0, hasRoom: null }
    this.#shares.add(share)
    return share
  }

  /** Buffers that a thread still has are no longer counted: the thread frees them. */
  leave(share: Share): void {
    if (!this.#shares.delete(share)) return
    share.hasRoom = null
    this.#give(share, share.heldBytes)
    this.#trim()
  }

  /** Whether another push of the same length fits. A push that is larger than the window may use the whole window. */
  fits({ heldBytes, freeBytes, pushBytes }: Share): boolean {
    const neededBytes = Math.max(0, pushBytes - freeBytes)
    const fitsFront = this.#heldBytes === 0 || this.#heldBytes + neededBytes <= UPLOADS_BYTES_MAX
    return fitsFront && (heldBytes === 0 || heldBytes + neededBytes <= this.windowBytes)
  }

  /**
   * A buffer to be filled. It has a quarter of the window, so that the thread works while the next buffer is filled,
   * and holds whole segments, which are sealed in place.
   */
  buffer(share: Share): ArrayBuffer {
    const quarter = Math.floor(this.windowBytes / 4 / COALESCED_BYTES_MIN) * COALESCED_BYTES_MIN
    const length = Math.min(COALESCED_BYTES_MAX, Math.max(COALESCED_BYTES_MIN, quarter))
    const spare = this.#spare.pop()
    this.#spareBytes -= spare?.byteLength ?? 0
    const buffer = spare ?? Buffer.allocUnsafeSlow(length).buffer
    share.heldBytes += buffer.byteLength
    share.freeBytes = buffer.byteLength
    this.#heldBytes += buffer.byteLength
    return buffer
  }

  /**
   * Takes back a buffer, keeps it for reuse, and calls the waiting uploads that have room now, the oldest
   * first.
   * @param share null when the upload has ended
   */
  giveBack(share: Share | null, buffer: ArrayBuffer): void {
    this.#spare.push(buffer)
    this.#spareBytes += buffer.byteLength
    if (share !== null) this.#give(share, buffer.byteLength)
    this.#trim()
  }

  #trim(): void {
    const most = this.#shares.size * this.windowBytes
    while (this.bufferBytes > most) {
      const buffer = this.#spare.shift()
      if (buffer === undefined) return
      this.#spareBytes -= buffer.byteLength
      detach([buffer])
    }
  }

  #give(share: Share, bytes: number): void {
    const isTight = this.#heldBytes + UPLOAD_WINDOW_BYTES_MAX > UPLOADS_BYTES_MAX
    share.heldBytes -= bytes
    this.#heldBytes -= bytes
    for (const waiting of isTight ? this.#shares : [share]) {
      const { hasRoom } = waiting
      if (hasRoom === null || !this.fits(waiting)) continue
      waiting.hasRoom = null
      hasRoom()
    }
  }
}
