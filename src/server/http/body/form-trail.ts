import type { Failure } from '../../../schemas/failures.ts'
import { filenameIssue } from '../../../schemas/files/filenames.ts'

/** Bytes of earlier pieces that are kept: the beginning of a part's header may be among them. Decision. */
const TRAIL_BYTES_MAX = 2_048
const NOTHING = Buffer.alloc(0)
/** Single-byte characters that no header may contain. */
const CONTROL = /(?![\t\x80-\x9f])\p{Cc}/u
/** Stands for a line end in a text with one character for each byte. */
const LINE_END = '\u2028'

/** The last read bytes of a form: busboy says that the form is malformed, but not why. */
export class FormTrail {
  readonly #delimiter: string
  #before: Buffer = NOTHING
  #now: Buffer = NOTHING
  #hasDelimiter = false
  #hasBareLine = false
  #hasEnded = false

  constructor(boundary: string) {
    this.#delimiter = `--${boundary}`
  }

  /** @param parse reads the bytes, and may ask for the failure meanwhile */
  take(bytes: Buffer, parse: () => void): void {
    this.#now = bytes
    if (!this.#hasDelimiter) this.#look(bytes)
    parse()
    // A copy: a slice would keep the whole piece in memory.
    this.#before = Buffer.from(
      Buffer.concat([this.#before, bytes.subarray(-TRAIL_BYTES_MAX)]).subarray(-TRAIL_BYTES_MAX),
    )
    this.#now = NOTHING
  }

  end(): void {
    this.#hasEnded = true
  }

  /**
   * The fault of the form, never with the offending bytes: form_malformed, or filename_invalid for a name
   * that no header can contain. C13.
   */
  failure(): Failure {
    if (!this.#hasEnded) return this.#headerFailure()
    if (this.#hasBareLine) return malformed(BARE_LINES)
    return malformed(
      this.#hasDelimiter
        ? 'The form ends before its last boundary.'
        : 'The form does not contain the boundary named in its content type.',
    )
  }

  #look(bytes: Buffer): void {
    const seam = Buffer.concat([this.#before, bytes.subarray(0, TRAIL_BYTES_MAX)])
    const has = (text: string): boolean => seam.includes(text) || bytes.includes(text)
    this.#hasDelimiter = has(this.#delimiter)
    this.#hasBareLine = this.#hasDelimiter && has(`${this.#delimiter}\n`)
  }

  #headerFailure(): Failure {
    for (const part of this.#text().split(this.#delimiter).slice(1)) {
      const header = (part.split('\r\n\r\n')[0] ?? '').replaceAll('\r\n', LINE_END)
      const bad = CONTROL.exec(header)
      if (bad === null) continue
      if (bad[0] === '\n' || bad[0] === '\r') return malformed(BARE_LINES)
      const line = header.slice(0, bad.index).split(LINE_END).at(-1) ?? ''
      if (!/^content-disposition:.*;\s*filename\*?=/i.test(line)) break
      const issue = filenameIssue('\0')
      return { name: 'filename_invalid', ...(issue !== null && { metadata: { issues: [issue] } }) }
    }
    return malformed('A part of the form has an invalid header.')
  }

  #text(): string {
    return Buffer.concat([this.#before, this.#now]).toString('latin1')
  }
}

const BARE_LINES = 'Lines of the form do not end with CR LF.'

function malformed(detail: string): Failure {
  return { name: 'form_malformed', detail }
}
