import { ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import { FILE_BYTES_MAX } from '../../schemas/files/file-limits.ts'
import type { Upload, UploadSink } from '../ports/byte-streams.ts'
import type { Intake, IntakeSession, IntakeVerdict } from '../ports/files/intake.ts'

/** The bytes of the workspace's quota that are reserved for an upload. */
export interface Reservation {
  readonly bytes: number
  /** Increases the reservation to this many bytes. */
  extend(bytes: number): Promise<Outcome<null>>
}

/** A reservation for bytes that are not stored or that count toward no quota. */
export const UNLIMITED: Reservation = {
  bytes: Infinity,
  extend: () => Promise.resolve({ ok: true, value: null }),
}

export interface Received {
  /** Null when the request names no file. */
  readonly filename: string | null
  readonly fields: ReadonlyMap<string, string>
  readonly verdict: IntakeVerdict
}

/**
 * Copies an upload into a session until both have ended. The upload pauses while the session's window is full,
 * and while more bytes have arrived than are reserved. The outcome settles once; the caller still has to
 * cancel the session. Failures: those of the upload, the session and the reservation.
 */
export function receive(
  upload: Upload,
  session: IntakeSession,
  reservation: Reservation,
): Promise<Outcome<Received>> {
  return new Promise((resolve) => {
    const receiving = new Receiving({ upload, session, reservation, settle: resolve })
    session.onRoom(() => receiving.onRoom())
    session.onFailure((failure) => receiving.fail(failure))
    upload.receive(receiving)
  })
}

/**
 * SHA-256 of an upload, in lower-case hex. Any content is allowed: the bytes of a repetition are compared
 * and not stored.
 * @param holder the workspace whose share of the worker sessions the upload takes. Failures: those of the
 * upload and of `Intake`
 */
export async function digestOf(intake: Intake, upload: Upload, holder: string): Promise<Outcome<string>> {
  const session = intake.open({ holder, target: null, content: 'any', bytesMax: FILE_BYTES_MAX })
  if (!session.ok) return session
  try {
    const received = await receive(upload, session.value, UNLIMITED)
    return received.ok ? ok(received.value.verdict.sha256) : received
  } finally {
    await session.value.cancel()
  }
}

interface ReceivingDeps {
  readonly upload: Upload
  readonly session: IntakeSession
  readonly reservation: Reservation
  readonly settle: (outcome: Outcome<Received>) => void
}

class Receiving implements UploadSink {
  readonly #deps: ReceivingDeps
  #filename: string | null = null
  #fields: ReadonlyMap<string, string> | null = null
  #bytes = 0
  #hasRoom = true
  #isExtending = false
  /** The upload is paused. */
  #isWaiting = false
  #isOver = false

  constructor(deps: ReceivingDeps) {
    this.#deps = deps
  }

  begin(filename: string | null): void {
    this.#filename = filename
  }

  take(bytes: Uint8Array): boolean {
    if (this.#isOver) return false
    this.#bytes += bytes.length
    this.#hasRoom = this.#deps.session.push(bytes)
    if (!this.#isExtending && this.#bytes > this.#deps.reservation.bytes) this.#wait(this.#extend())
    const mayGoOn = this.#hasRoom && !this.#isExtending
    this.#isWaiting = !mayGoOn
    return mayGoOn
  }

  end(fields: ReadonlyMap<string, string>): void {
    this.#fields = fields
    this.#goOn()
  }

  fail(failure: Failure): void {
    this.#settle({ ok: false, failure })
  }

  onRoom(): void {
    this.#hasRoom = true
    this.#goOn()
  }

  async #extend(): Promise<void> {
    this.#isExtending = true
    while (!this.#isOver && this.#bytes > this.#deps.reservation.bytes) {
      const extended = await this.#deps.reservation.extend(this.#bytes)
      if (!extended.ok) return this.#settle(extended)
    }
    this.#isExtending = false
    this.#goOn()
  }

  #goOn(): void {
    if (this.#isOver || this.#isExtending) return
    if (this.#fields !== null) return this.#wait(this.#finish(this.#fields))
    if (!this.#hasRoom || !this.#isWaiting) return
    this.#isWaiting = false
    this.#deps.upload.resume()
  }

  async #finish(fields: ReadonlyMap<string, string>): Promise<void> {
    this.#fields = null
    const verdict = await this.#deps.session.finish()
    this.#settle(
      verdict.ok
        ? { ok: true, value: { filename: this.#filename, fields, verdict: verdict.value } }
        : verdict,
    )
  }

  /** Waits for a step. A rejection is a bug; it ends only this upload. */
  #wait(step: Promise<void>): void {
    step.catch((cause: unknown) => this.fail({ name: 'internal', cause }))
  }

  #settle(outcome: Outcome<Received>): void {
    if (this.#isOver) return
    this.#isOver = true
    if (!outcome.ok) this.#deps.upload.stop()
    this.#deps.settle(outcome)
  }
}
