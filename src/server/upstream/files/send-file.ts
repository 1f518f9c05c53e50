import { Readable } from 'node:stream'
import { endedBy } from '../../../schemas/values/call-ended.ts'
import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { expiresAfterOf } from '../../../schemas/files/file-expiry.ts'
import { NAMELESS } from '../../../schemas/files/filenames.ts'
import { purposeOf } from '../../../schemas/files/files.ts'
import type { MimeType } from '../../../schemas/files/mime-types.ts'
import type { Upload, UploadSink } from '../../ports/byte-streams.ts'
import type { EgressAnswer } from '../../ports/egress/egress.ts'
import type { IntakeSession, IntakeVerdict } from '../../ports/files/intake.ts'
import type { FilesLink } from './files-link.ts'
import { UNKNOWN_TYPE, type UploadFields } from './protocol.ts'
import { KIB } from '../../../schemas/limits/limits.ts'

/**
 * Bytes of one piece of an upload to a provider; the last piece waits for the verdict on the file. Decision.
 */
export const PROVIDER_PIECE_BYTES = 64 * KIB
/** Bytes of an upload that wait for the provider to read them. Decision. */
export const PROVIDER_UPLOAD_BYTES_MAX = 256 * KIB

export interface SendingDeps {
  readonly upload: Upload
  /** The intake session that checks the bytes; the caller cancels it. */
  readonly session: IntakeSession
  readonly link: FilesLink
  readonly boundary: string
  /** Ends the transfer while the provider does not yet have the whole file; after that, the transfer waits for the provider's response. */
  readonly signal: AbortSignal
}

/** The result of a transfer. Without a verdict the provider answered before it had the whole file, and refused it. */
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
  /** `performance.now()` since which the provider reads nothing; null while it reads. */
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

  /** Opens the request when there are bytes to send: for a small file that is refused, Sluice does not call the provider. */
  #send(): void {
    if (this.#isSent) return
    this.#isSent = true
    const endsAt = (): number => this.#endsAt()
    const { body, contentType } = this.#form
    const answered = this.#deps.link.post({ body, contentType, endsAt, signal: this.#cut.signal })
    void answered.then((answer) => this.#take(answer))
  }

  /** Time at which the request ends. A slow client is handled by the upload itself. */
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

/** The types of §4.7 by the extension of a file's name. */
const TYPES: ReadonlyMap<string, MimeType> = new Map([
  ['pdf', 'application/pdf'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['ogg', 'audio/ogg'],
  ['json', 'application/json'],
  ['jsonl', 'application/x-ndjson'],
  ['ndjson', 'application/x-ndjson'],
  ['csv', 'text/csv'],
  ['md', 'text/markdown'],
  ['txt', 'text/plain'],
])

/**
 * The content type of the file's part in the form; Anthropic stores it as the file's type. Sluice knows the type of the
 * content only after its last byte, when the head of the part has long been sent.
 */
function partType(filename: string): string {
  return TYPES.get(filename.slice(filename.lastIndexOf('.') + 1).toLowerCase()) ?? UNKNOWN_TYPE
}

/**
 * A form with one file: the form is written while the file arrives, and read at the provider's pace. It holds back its
 * last piece, up to PROVIDER_PIECE_BYTES, until `finish`: if it ends earlier, the provider has neither the whole file
 * nor the form's end.
 */
class FormStream {
  readonly contentType: string
  /** The whole body; the stream emits no error. */
  readonly body: Readable
  /** True when a piece of the file has been read from the form. */
  hasBegun = false
  readonly #boundary: string
  readonly #onRoom: () => void
  #piece = Buffer.alloc(0)
  #filledBytes = 0
  #isFull = false

  /** @param boundary unpredictable text, so that no field can contain it @param onRoom called when a full form has room again */
  constructor(boundary: string, onRoom: () => void) {
    this.contentType = `multipart/form-data; boundary=${boundary}`
    this.#boundary = boundary
    this.#onRoom = onRoom
    this.body = new Readable({ highWaterMark: PROVIDER_UPLOAD_BYTES_MAX, read: () => this.#read() })
    this.body.on('error', () => undefined)
  }

  /** Writes the head of the file's part. */
  begin(filename: string, type: string): void {
    const name = filename.replace(/["\r\n]/g, (character) => encodeURIComponent(character))
    this.#push(
      Buffer.from(
        `--${this.#boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`,
      ),
    )
  }

  /** Copies the bytes. @returns whether the form has room; on false the caller writes again after `onRoom` */
  write(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length;) {
      if (this.#filledBytes === this.#piece.length) this.#nextPiece()
      const count = Math.min(this.#piece.length - this.#filledBytes, bytes.length - at)
      this.#piece.set(bytes.subarray(at, at + count), this.#filledBytes)
      this.#filledBytes += count
      at += count
    }
    return !this.#isFull
  }

  /** Writes the held piece, the fields and the end. */
  finish(fields: readonly (readonly [name: string, value: string])[]): void {
    this.#push(this.#piece.subarray(0, this.#filledBytes))
    const parts = fields.map(
      ([name, value]) =>
        `\r\n--${this.#boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}`,
    )
    this.#push(Buffer.from(`${parts.join('')}\r\n--${this.#boundary}--\r\n`))
    this.body.push(null)
  }

  /** Drops the waiting bytes; may be called at any time. */
  destroy(): void {
    this.body.destroy()
  }

  #nextPiece(): void {
    if (this.#filledBytes > 0) {
      this.hasBegun = true
      this.#push(this.#piece)
    }
    this.#piece = Buffer.allocUnsafeSlow(PROVIDER_PIECE_BYTES)
    this.#filledBytes = 0
  }

  #push(bytes: Uint8Array): void {
    this.#isFull = !this.body.push(bytes)
  }

  #read(): void {
    if (!this.#isFull) return
    this.#isFull = false
    this.#onRoom()
  }
}
