import { endedBy } from '../../../schemas/values/call-ended.ts'
import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { expiresAfterOf } from '../../../schemas/files/file-expiry.ts'
import { NAMELESS } from '../../../schemas/files/filenames.ts'
import { purposeOf } from '../../../schemas/files/files.ts'
import type { Upload, UploadSink } from '../../ports/byte-streams.ts'
import type { EgressAnswer } from '../../ports/egress/egress.ts'
import type { IntakeSession, IntakeVerdict } from '../../ports/files/intake.ts'
import type { FilesLink } from './files-link.ts'
import { FormStream } from './form-stream.ts'
import { partType } from './part-type.ts'
import type { UploadFields } from './protocol.ts'

export interface SendingDeps {
  readonly upload: Upload
  /** The intake session that checks the bytes; the caller cancels it. */
  readonly session: IntakeSession
  readonly link: FilesLink
  readonly boundary: string
  /**
   * Ends the transfer until the provider has the whole file; from then on the transfer waits for the
   * provider's response.
   */
  readonly signal: AbortSignal
}

/**
 * The result of a transfer. Without a verdict the provider answered before it had the whole file, and refused
 * it.
 */
export interface Sent {
  readonly answer: EgressAnswer
  readonly verdict: IntakeVerdict | null
}

/**
 * Streams an upload to a provider while the intake session checks its content. The provider gets the end of
 * the file only after a good verdict; an earlier failure cuts the request. The transfer holds at most the
 * windows of session and form.
 * Failures: form_invalid (fields that the provider does not support), those of the upload, the session and
 * the provider, and how the signal ended.
 */
export function sendFile(deps: SendingDeps): Promise<Outcome<Sent>> {
  return new Promise((settle) => new Sending(deps, settle).start())
}

class Sending implements UploadSink {
  readonly #deps: SendingDeps
  readonly #settle: (outcome: Outcome<Sent>) => void
  readonly #form: FormStream
  readonly #cut = new AbortController()
  #hasSessionRoom = true
  /** `performance.now()` since which the provider takes nothing; null while the provider takes bytes. */
  #fullSince: number | null = null
  /** `performance.now()` of the last byte; null before the last byte. */
  #endedAt: number | null = null
  #verdict: IntakeVerdict | null = null
  /** True while the upload is paused. */
  #isWaiting = false
  #isSent = false
  #isOver = false

  constructor(deps: SendingDeps, settle: (outcome: Outcome<Sent>) => void) {
    this.#deps = deps
    this.#settle = settle
    this.#form = new FormStream(deps.boundary, () => this.#onFormRoom())
  }

  start(): void {
    const { upload, session, signal } = this.#deps
    session.onRoom(() => {
      this.#hasSessionRoom = true
      this.#goOn()
    })
    session.onFailure((failure) => this.fail(failure))
    signal.addEventListener('abort', this.#onAbort)
    if (signal.aborted) this.#onAbort()
    else upload.receive(this)
  }

  begin(filename: string | null): void {
    const name = filename ?? NAMELESS
    this.#form.begin(name, partType(name))
  }

  take(bytes: Uint8Array): boolean {
    if (this.#isOver) return false
    this.#hasSessionRoom = this.#deps.session.push(bytes)
    if (this.#isOver) return false
    if (!this.#form.write(bytes)) this.#fullSince ??= performance.now()
    if (this.#form.hasBegun) this.#send()
    const mayGoOn = this.#hasSessionRoom && this.#fullSince === null
    this.#isWaiting = !mayGoOn
    return mayGoOn
  }

  end(fields: ReadonlyMap<string, string>): void {
    void this.#finish({ purpose: purposeOf(fields), expiresAfterS: expiresAfterOf(fields) })
  }

  fail(failure: Failure): void {
    this.#over({ ok: false, failure })
  }

  async #finish(input: UploadFields): Promise<void> {
    const { session, link, signal } = this.#deps
    const fields = link.protocol.fields(input)
    if (!fields.ok) return this.fail(fields.failure)
    const verdict = await session.finish()
    if (!verdict.ok) return this.fail(verdict.failure)
    if (this.#isOver) return
    signal.removeEventListener('abort', this.#onAbort)
    this.#verdict = verdict.value
    this.#endedAt = performance.now()
    this.#form.finish(fields.value)
    this.#send()
  }

  /**
   * Opens the request when there are bytes to send: for a small file that is refused Sluice makes no call to
   * the provider.
   */
  #send(): void {
    if (this.#isSent) return
    this.#isSent = true
    const endsAt = (): number => this.#endsAt()
    const { body, contentType } = this.#form
    const answered = this.#deps.link.post({ body, contentType, endsAt, signal: this.#cut.signal })
    void answered.then((answer) => this.#take(answer))
  }

  /** Time at which the request ends. The upload itself watches for a slow client. */
  #endsAt(): number {
    const { answerMs, stallMs } = this.#deps.link.times
    if (this.#endedAt !== null) return this.#endedAt + answerMs
    return this.#fullSince === null ? Infinity : this.#fullSince + stallMs
  }

  #take(answer: Outcome<EgressAnswer>): void {
    if (!answer.ok) return this.#over(answer)
    const { value } = answer
    if (this.#isOver) return value.release()
    if (this.#verdict !== null || !value.isSuccess)
      return this.#over(ok({ answer: value, verdict: this.#verdict }))
    value.release()
    this.#over(
      fail('upstream_invalid', { detail: 'The provider answered before it received the whole file.' }),
    )
  }

  readonly #onAbort = (): void => this.fail(endedBy(this.#deps.signal))

  #onFormRoom(): void {
    this.#fullSince = null
    this.#goOn()
  }

  #goOn(): void {
    if (this.#isOver || !this.#isWaiting || !this.#hasSessionRoom || this.#fullSince !== null) return
    this.#isWaiting = false
    this.#deps.upload.resume()
  }

  #over(outcome: Outcome<Sent>): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#deps.signal.removeEventListener('abort', this.#onAbort)
    if (!outcome.ok || outcome.value.verdict === null) this.#deps.upload.stop()
    this.#cut.abort()
    this.#form.destroy()
    this.#settle(outcome)
  }
}
