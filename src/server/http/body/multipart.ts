import type { Readable } from 'node:stream'
import busboy, { type Busboy, type FieldInfo, type FileInfo } from 'busboy'
import type { Failure } from '../../../schemas/failures.ts'
import { FILE_BYTES_MAX, FORM_EXTRA_BYTES_MAX } from '../../../schemas/files/file-limits.ts'
import { expiryIssue } from '../../../schemas/files/file-expiry.ts'
import { purposeIssue } from '../../../schemas/files/files.ts'
import { filenameIssue } from '../../../schemas/files/filenames.ts'
import type { Upload, UploadSink } from '../../ports/byte-streams.ts'
import { FileScan } from './file-scan.ts'
import { KIB } from '../../../schemas/limits/limits.ts'

/** Parts of an upload's form, apart from the file. Decision. */
export const FORM_FIELDS_MAX = 32
/** Bytes of each part of an upload's form, apart from the file. Decision. */
export const FORM_FIELD_BYTES_MAX = 64 * KIB

const FILE_PART = 'file'
/** Characters of a field's value that are kept for the operation: this limits the memory of many forms. Decision. */
const FIELD_KEPT_CHARS_MAX = 1_024

/** @returns the boundary of a form's content type; null for anything else. RFC 2046. */
export function boundaryOf(contentType: string): string | null {
  const parameters = /^multipart\/form-data\s*(;.*)$/i.exec(contentType)?.[1]
  const found = /;\s*boundary=(?:"([^"\\]*)"|([^\s";]*))\s*(?:;|$)/i.exec(parameters ?? '')
  const boundary = found?.[1] ?? found?.[2] ?? ''
  return /^[\x20-\x7e]{0,69}[\x21-\x7e]$/.test(boundary) ? boundary : null
}

/** Bytes of the smallest form around a file: the delimiters and the shortest header that names a file. */
export function smallestOverhead(boundary: string): number {
  const head = `--${boundary}\r\ncontent-disposition:form-data;name=${FILE_PART};filename=a\r\n\r\n`
  return head.length + `\r\n--${boundary}--`.length
}

interface FormFacts {
  readonly declared: number | null
  readonly boundary: string
}

/** Bytes that are passed to busboy at once, as a copy. Bytes of a file after them are scanned without a copy. */
const PARSED_BYTES = 64 * KIB

/** A form with one file, parsed by busboy. */
export class FormUpload implements Upload {
  readonly bytesAtMost: number | null
  readonly slackBytes: number
  readonly #body: BodySource
  readonly #boundary: string
  #reader: FormReader | null = null

  constructor(body: BodySource, { declared, boundary }: FormFacts) {
    this.#body = body
    this.#boundary = boundary
    const most =
      declared === null ? null : Math.min(FILE_BYTES_MAX, Math.max(0, declared - smallestOverhead(boundary)))
    this.bytesAtMost = most
    this.slackBytes = Math.min(most ?? 0, FORM_EXTRA_BYTES_MAX)
  }

  receive(sink: UploadSink): void {
    this.#reader = new FormReader(this.#boundary, this.#body, sink)
    this.#body.flow(this.#reader)
  }

  resume(): void {
    this.#reader?.resume()
  }

  stop(): void {
    this.#reader?.stop()
    this.#body.quit()
  }
}

/** Passes the bytes of a form to busboy, and the found file to the sink. Every form ends in one of four methods. */
class FormReader implements BodySink {
  readonly #parser: Busboy
  readonly #body: BodySource
  readonly #sink: UploadSink
  readonly #fields = new Map<string, string>()
  readonly #scan: FileScan
  readonly #trail: FormTrail
  #isScanning = false
  #bodyBytes = 0
  #fileBytes = 0
  #hasFile = false
  #hasRoom = true
  #isOver = false

  constructor(boundary: string, body: BodySource, sink: UploadSink) {
    this.#body = body
    this.#sink = sink
    this.#parser = parserOf(boundary)
    this.#scan = new FileScan(boundary)
    this.#trail = new FormTrail(boundary)
    this.#parser
      .on('file', (name, stream, info) => this.#onFile(name, stream, info))
      .on('field', (name, value, info) => this.#onField(name, value, info))
      .on('fieldsLimit', () => this.#refuse(TOO_MANY))
      .on('partsLimit', () => this.#refuse(TOO_MANY))
      .on('error', () => this.#refuse(this.#trail.failure()))
      .on('finish', () => this.#onFinish())
  }

  take(bytes: Uint8Array): boolean {
    this.#bodyBytes += bytes.length
    let rest: Uint8Array | null = bytes
    do {
      if (this.#isScanning) rest = this.#scan.take(rest, (part) => this.#onBytes(part))
      if (rest === null) break
      this.#parse(rest.subarray(0, PARSED_BYTES))
      rest = rest.subarray(PARSED_BYTES)
    } while (rest.length > 0 && !this.#isOver)
    if (this.#bodyBytes - this.#fileBytes > FORM_EXTRA_BYTES_MAX) this.#refuse(TOO_MUCH)
    return this.#hasRoom
  }

  end(): void {
    this.#trail.end()
    this.#parser.end()
  }

  fail(failure: Failure): void {
    if (this.#isOver) return
    this.stop()
    this.#sink.fail(failure)
  }

  resume(): void {
    this.#hasRoom = true
    this.#body.goOn()
  }

  stop(): void {
    this.#isOver = true
    this.#parser.destroy()
  }

  #parse(bytes: Uint8Array): void {
    const before = this.#fileBytes
    // A copy: busboy keeps slices of its input.
    const copy = Buffer.from(bytes)
    this.#trail.take(copy, () => this.#parser.write(copy))
    this.#isScanning = !this.#isScanning && this.#scan.mayBegin(bytes, this.#fileBytes - before)
  }

  #onFile(name: string | undefined, stream: Readable, { filename, encoding }: FileInfo): void {
    stream.on('error', () => this.#refuse(this.#trail.failure()))
    if (this.#isOver) return void stream.resume()
    if (name !== FILE_PART) {
      // busboy treats any part of this type as a file; without a filename the part is a field.
      if (filename !== undefined) return this.#refuse(this.#hasFile ? ONE_FILE : OTHER_PART)
      return void stream.resume()
    }
    if (this.#hasFile) return this.#refuse(ONE_FILE)
    if (filename === undefined) return this.#refuse(NAMELESS)
    if (!PLAIN_ENCODINGS.has(encoding)) return this.#refuse(ENCODED)
    const decoded = unescaped(filename)
    const issue = filenameIssue(decoded)
    if (issue !== null) return this.#refuse({ name: 'filename_invalid', metadata: { issues: [issue] } })
    this.#hasFile = true
    this.#sink.begin(decoded)
    stream.on('data', (bytes: Uint8Array) => this.#onBytes(bytes))
    // Without this read the stream starts to flow at the next tick, and buffers the bytes until then.
    stream.read(0)
  }

  #onBytes(bytes: Uint8Array): void {
    if (this.#isOver) return
    this.#fileBytes += bytes.length
    if (this.#fileBytes > FILE_BYTES_MAX)
      return this.#refuse({ name: 'file_too_large', fields: { limit: FILE_BYTES_MAX } })
    if (!this.#sink.take(bytes)) this.#hasRoom = false
  }

  #onField(name: string | undefined, value: string, { valueTruncated }: FieldInfo): void {
    if (name === FILE_PART) return this.#refuse(NAMELESS)
    if (valueTruncated) return this.#refuse(FIELD_TOO_LARGE)
    const issue = name === 'purpose' ? purposeIssue(value) : null
    if (issue !== null) return this.#refuse({ name: 'form_invalid', metadata: { issues: [issue] } })
    if (name !== undefined && value.length <= FIELD_KEPT_CHARS_MAX && !this.#fields.has(name))
      this.#fields.set(name, value)
  }

  #onFinish(): void {
    if (this.#isOver) return
    if (!this.#hasFile) return this.#refuse(NO_FILE)
    const issue = expiryIssue(this.#fields)
    if (issue !== null) return this.#refuse({ name: 'form_invalid', metadata: { issues: [issue] } })
    this.#isOver = true
    this.#sink.end(this.#fields)
  }

  #refuse(failure: Failure): void {
    if (this.#isOver) return
    this.#body.quit()
    this.fail(failure)
  }
}

/** Unescapes a name, so that it is the same from every client: browsers and `fetch` escape these three characters, curl only the first. */
function unescaped(filename: string): string {
  return filename.replace(/%22|%0D|%0A/g, decodeURIComponent)
}

function parserOf(boundary: string): Busboy {
  return busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    preservePath: true,
    defParamCharset: 'utf8',
    limits: {
      // One byte more than allowed: busboy truncates a value that has exactly the limit.
      fieldSize: FORM_FIELD_BYTES_MAX + 1,
      fields: FORM_FIELDS_MAX,
      // One part more than allowed, the file included: busboy reports the limit at the end of the first
      // excess part.
      parts: FORM_FIELDS_MAX + 2,
    },
  })
}

const NO_FILE = refusal('/file', 'is missing', 'one part named `file` with a filename')
const ONE_FILE = refusal('', 'has a second file', 'one part named `file`')
const OTHER_PART = refusal(
  '',
  'has a file in a part that is not named `file`',
  'the file in a single part named `file`',
)
const NAMELESS = refusal('/file', 'has no filename', 'a filename in its content-disposition')
const FIELD_TOO_LARGE = refusal(
  '',
  'has a field that is too large',
  `at most ${FORM_FIELD_BYTES_MAX} bytes per field`,
)
const ENCODED = refusal('/file', 'is encoded', 'unencoded bytes (RFC 7578 §4.7)')
/** Values of `content-transfer-encoding` that change no byte; busboy reports `7bit` when the header is missing. */
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary'])
const TOO_MANY = refusal('', 'has too many fields', `at most ${FORM_FIELDS_MAX} fields besides the file`)
const TOO_MUCH = refusal('', 'is too large, not counting its file', `at most ${FORM_EXTRA_BYTES_MAX} bytes`)

function refusal(path: string, message: string, expected: string): Failure {
  return { name: 'form_invalid', metadata: { issues: [{ path, message, expected }] } }
}

/** Bytes of earlier pieces that are kept: the beginning of a part's header may be among them. Decision. */
const TRAIL_BYTES_MAX = 2_048
const NOTHING = Buffer.alloc(0)
/** Single-byte characters that no header may contain. */
const CONTROL = /(?![\t\x80-\x9f])\p{Cc}/u
/** Replaces a line end in a text with one character for each byte. */
const LINE_END = '\u2028'
const BARE_LINES = 'Lines of the form do not end with CR LF.'

/** The last read bytes of a form, to find its fault: busboy reports that the form is malformed, but not why. */
class FormTrail {
  readonly #delimiter: string
  #before: Buffer = NOTHING
  #now: Buffer = NOTHING
  #hasDelimiter = false
  #hasBareLine = false
  #hasEnded = false

  constructor(boundary: string) {
    this.#delimiter = `--${boundary}`
  }

  /** @param parse parses the bytes, and may call `failure` meanwhile */
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
   * that no header can contain.
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

function malformed(detail: string): Failure {
  return { name: 'form_malformed', detail }
}

/** Receives the bytes of a streamed body. */
export interface BodySink {
  /** @param bytes valid only during the call @returns false: send no more until `goOn` */
  take(bytes: Uint8Array): boolean
  end(): void
  fail(failure: Failure): void
}

export interface BodySource {
  /** Starts the flow; once. */
  flow(sink: BodySink): void
  /** Resumes after `take` has returned false. */
  goOn(): void
  /** Called when the reader needs no more bytes. */
  quit(): void
}
