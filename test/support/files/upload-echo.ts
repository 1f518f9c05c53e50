/** An operation that takes an upload and answers with its content, and forms to send to it. */
import { createHash } from 'node:crypto'
import type { Failure } from '../../../src/schemas/failures.ts'
import type { AnyOperation, Call } from '../../../src/server/operations/define.ts'
import type { Upload, UploadSink } from '../../../src/server/ports/byte-streams.ts'
import { AUTHORIZATION, operation } from '../front.ts'
import { rawClient, requestText, type RawClient } from '../wire/raw-http.ts'

/** The answer of a sink at its end. */
export interface Echo {
  readonly filename: string | null
  readonly sizeBytes: number
  readonly sha256: string
  readonly fields: Readonly<Record<string, string>>
}

export interface EchoOptions {
  /** Called for each piece; false makes the upload wait until `upload.resume()`. */
  readonly onPiece?: (upload: Upload, bytes: Uint8Array) => boolean
  /** Awaited before `receive`. */
  readonly before?: (upload: Upload, call: Call) => Promise<void>
  /** Called with every failure. */
  readonly onFailure?: (failure: Failure) => void
}

/** Receives to the end and answers with what came. */
export function collect(upload: Upload, { onPiece, onFailure }: EchoOptions = {}): Promise<Echo | Failure> {
  return new Promise((resolve) => {
    const hash = createHash('sha256')
    let filename: string | null = null
    let sizeBytes = 0
    const sink: UploadSink = {
      begin: (name) => (filename = name),
      take(bytes) {
        hash.update(bytes)
        sizeBytes += bytes.length
        return onPiece?.(upload, bytes) ?? true
      },
      end: (fields) =>
        resolve({ filename, sizeBytes, sha256: hash.digest('hex'), fields: Object.fromEntries(fields) }),
      fail(failure) {
        onFailure?.(failure)
        resolve(failure)
      },
    }
    upload.receive(sink)
  })
}

export function uploadEcho(kind: 'form' | 'raw', options: EchoOptions = {}): AnyOperation {
  return operation({
    id: 'test.upload',
    path: '/upload',
    input: { upload: kind },
    outlivesClient: true,
    async run(call: Call) {
      const { upload } = call
      if (upload === null) throw new Error('the pipeline passed no upload')
      await options.before?.(upload, call)
      const echo = await collect(upload, options)
      return 'name' in echo
        ? { ok: false, failure: echo }
        : { ok: true, value: { kind: 'json', value: echo } }
    },
  })
}

export const BOUNDARY = '----form-7MA4YWxk'

export interface Part {
  /** The whole value of the header `content-disposition`. */
  readonly disposition: string
  readonly type?: string
  /** `content-transfer-encoding`. */
  readonly encoding?: string
  readonly content: string | Uint8Array
}

export function filePart(content: string | Uint8Array, filename = 'a.txt'): Part {
  return { disposition: `form-data; name="file"; filename="${filename}"`, type: 'text/plain', content }
}

export function fieldPart(name: string, content: string): Part {
  return { disposition: `form-data; name="${name}"`, content }
}

export function form(parts: readonly Part[], boundary = BOUNDARY): Buffer {
  const pieces = parts.flatMap(({ disposition, type, encoding, content }) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: ${disposition}\r\n`),
    Buffer.from(type === undefined ? '' : `Content-Type: ${type}\r\n`),
    Buffer.from(encoding === undefined ? '\r\n' : `Content-Transfer-Encoding: ${encoding}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)])
}

export interface SendOptions {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** `content-length`; null = in chunks. The body's own unless given. */
  readonly declared?: number | null
}

/** Opens a connection and sends the head of an upload. */
export function beginUpload(
  port: number,
  declared: number | null,
  { path = '/upload', method = 'POST', headers = {} }: SendOptions = {},
): RawClient {
  const client = rawClient(port)
  client.send(
    requestText(`${method} /api/v1${path}`, {
      authorization: AUTHORIZATION,
      'content-type': `multipart/form-data; boundary="${BOUNDARY}"`,
      ...(declared === null ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(declared) }),
      ...headers,
    }),
  )
  return client
}

/** One HTTP chunk, or the last one. */
export function chunkOf(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  /** Of a failure. */
  readonly type: string | undefined
  readonly message: string
}

/** The answer once it is whole. */
export async function answerOf(client: RawClient): Promise<Answer> {
  const text = await client.until(/\r\n\r\n\{[^]*\}$/)
  client.destroy()
  const body = JSON.parse(
    Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1').toString(),
  ) as Record<string, unknown>
  const error = body['error'] as
    { readonly message: string; readonly metadata: { readonly error_type: string } } | undefined
  return {
    status: Number(text.slice(9, 12)),
    body,
    type: error?.metadata.error_type,
    message: error?.message ?? '',
  }
}

/** Sends a whole body in one go. */
export function sendForm(port: number, body: Buffer, options: SendOptions = {}): Promise<Answer> {
  const declared = options.declared === undefined ? body.length : options.declared
  const client = beginUpload(port, declared, options)
  client.send(declared === null ? Buffer.concat([chunkOf(body), Buffer.from('0\r\n\r\n')]) : body)
  return answerOf(client)
}
