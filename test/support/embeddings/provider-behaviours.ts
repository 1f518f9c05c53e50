/** What the scripted provider answers: honest embeddings in each protocol, and every way of misbehaving. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'

export type WireProtocol = 'openai' | 'cohere' | 'google'

/** One request as the provider received it. */
export interface ProviderCall {
  readonly protocol: WireProtocol
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly text: string
  readonly body: Record<string, unknown>
}

export interface ProviderExchange {
  readonly call: ProviderCall
  readonly res: ServerResponse
}

/** One step of a script. */
export type Behaviour = (exchange: ProviderExchange) => void

export interface AnswerForm {
  /** Replaces the usage; null leaves it out. */
  readonly usage?: unknown
  /** What the vectors look like, whatever was asked. */
  readonly encoding?: 'float' | 'base64'
  readonly contentEncoding?: 'gzip' | 'deflate' | 'br' | 'zstd'
  /** Sends without a length, in pieces of so many bytes. */
  readonly chunkBytes?: number
  readonly dimensions?: number
  /** Leaves so many vectors out of the answer. */
  readonly missing?: number
}

/** An honest answer in the protocol that was spoken, bent as `form` says. */
export function answers(form: AnswerForm = {}): Behaviour {
  return ({ call, res }) => {
    const json = Buffer.from(JSON.stringify(answerOf(call, form)))
    const body = form.contentEncoding === undefined ? json : ENCODERS[form.contentEncoding](json)
    const headers = {
      'content-type': 'application/json',
      ...(form.contentEncoding === undefined ? {} : { 'content-encoding': form.contentEncoding }),
    }
    if (form.chunkBytes === undefined) {
      res.writeHead(200, { ...headers, 'content-length': body.length }).end(body)
      return
    }
    res.writeHead(200, headers)
    for (let at = 0; at < body.length; at += form.chunkBytes)
      res.write(body.subarray(at, at + form.chunkBytes))
    res.end()
  }
}

/** Bytes of any kind with status 200. */
export function sends(body: string | Uint8Array, contentType = 'application/json'): Behaviour {
  return ({ res }) => {
    res.writeHead(200, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }).end(body)
  }
}

/** An error status with a body of the protocol's own form. */
export function refuses(
  status: number,
  message = `status ${status}`,
  headers: Readonly<Record<string, string>> = {},
): Behaviour {
  return ({ call, res }) => {
    res
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(errorOf(call.protocol, status, message)))
  }
}

export const sendsHtml = sends('<!doctype html><title>Welcome</title><p>It works.</p>', 'text/html')

export const sendsHalfJson: Behaviour = ({ call, res }) => {
  const json = JSON.stringify(answerOf(call, {}))
  res.writeHead(200, { 'content-type': 'application/json' }).end(json.slice(0, json.length / 2))
}

export const redirects: Behaviour = ({ res }) => {
  res.writeHead(307, { location: 'http://127.0.0.1:1/elsewhere' }).end()
}

/** Takes the request and says nothing, for ever. */
export const neverAnswers: Behaviour = () => undefined

/** Sends headers and the first bytes, then nothing more. */
export const stallsInBody: Behaviour = ({ call, res }) => {
  const json = Buffer.from(JSON.stringify(answerOf(call, {})))
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': json.length })
  res.write(json.subarray(0, 20))
}

/** Hangs up before any byte of an answer. */
export const hangsUp: Behaviour = ({ res }) => {
  res.socket?.resetAndDestroy()
}

/** Hangs up in the middle of the body. */
export const resetsInBody: Behaviour = ({ call, res }) => {
  const json = Buffer.from(JSON.stringify(answerOf(call, {})))
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': json.length })
  res.write(json.subarray(0, 20), () => res.socket?.resetAndDestroy())
}

/** Ends the connection politely in the middle of the body. */
export const truncatesBody: Behaviour = ({ call, res }) => {
  const json = Buffer.from(JSON.stringify(answerOf(call, {})))
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': json.length })
  res.write(json.subarray(0, 20), () => res.socket?.end())
}

/** Claims, or really sends for as long as it is read, ten gigabytes. */
export function sendsHuge(isAnnounced: boolean): Behaviour {
  return ({ res }) => {
    const total = 10 * 1024 ** 3
    const piece = Buffer.alloc(1024 * 1024, ' ')
    res.writeHead(200, {
      'content-type': 'application/json',
      ...(isAnnounced ? { 'content-length': total } : {}),
    })
    let sent = 0
    const more = (): void => {
      while (sent < total && !res.destroyed) {
        sent += piece.length
        if (!res.write(piece)) {
          res.once('drain', more)
          return
        }
      }
    }
    more()
  }
}

/** A body of garbage that claims to be gzip. */
export const sendsBrokenGzip: Behaviour = ({ res }) => {
  res
    .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    .end('this is not gzip')
}

/**
 * The vector that the provider answers for a text: exact in float32, so that every encoding of it is equal.
 */
export function vectorOf(text: string, dimensions: number): number[] {
  let seed = 2166136261 ^ text.length
  for (const char of text.slice(0, 256)) seed = Math.imul(seed ^ (char.codePointAt(0) ?? 0), 16777619) >>> 0
  return Array.from({ length: dimensions }, (_, at) => (((seed >>> (at % 16)) + at * 37) % 2048) / 1024 - 1)
}

const ENCODERS = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: (bytes: Uint8Array) => Buffer.from(bytes),
}

function answerOf(call: ProviderCall, form: AnswerForm): Record<string, unknown> {
  const inputs = inputsOf(call)
  const dimensions = form.dimensions ?? dimensionsOf(call) ?? 8
  const vectors = inputs
    .slice(0, inputs.length - (form.missing ?? 0))
    .map((text) => vectorOf(text, dimensions))
  const tokens = inputs.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0)
  return FORMS[call.protocol](call, vectors, tokens, form)
}

type Form = (
  call: ProviderCall,
  vectors: readonly number[][],
  tokens: number,
  form: AnswerForm,
) => Record<string, unknown>

const FORMS: Readonly<Record<WireProtocol, Form>> = {
  openai: (call, vectors, tokens, form) => {
    const encoding = form.encoding ?? (call.body['encoding_format'] === 'base64' ? 'base64' : 'float')
    const data = vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encoding === 'float' ? vector : base64Of(vector),
    }))
    const usage = form.usage === undefined ? { prompt_tokens: tokens, total_tokens: tokens } : form.usage
    return { object: 'list', data, model: call.body['model'], ...(usage === null ? {} : { usage }) }
  },
  cohere: (_call, vectors, tokens, form) => {
    const usage = form.usage === undefined ? { input_tokens: tokens } : form.usage
    return {
      id: 'c-1',
      embeddings: { float: vectors },
      texts: [],
      meta: { api_version: { version: '2' }, ...(usage === null ? {} : { billed_units: usage }) },
    }
  },
  google: (_call, vectors, tokens, form) => {
    const usage = form.usage === undefined ? { promptTokenCount: tokens } : form.usage
    return {
      embeddings: vectors.map((values) => ({ values })),
      ...(usage === null ? {} : { usageMetadata: usage }),
    }
  },
}

function base64Of(vector: readonly number[]): string {
  return Buffer.from(new Float32Array(vector).buffer).toString('base64')
}

/** Each input as text; what is not text is its JSON. */
function inputsOf({ protocol, body }: ProviderCall): readonly string[] {
  const list =
    protocol === 'openai'
      ? body['input']
      : protocol === 'cohere'
        ? (body['texts'] ?? body['inputs'])
        : body['requests']
  if (typeof list === 'string') return [list]
  if (!Array.isArray(list)) return []
  if (typeof list[0] === 'number') return [JSON.stringify(list)]
  return list.map((item: unknown) =>
    typeof item === 'string' ? item : (textOfContent(item) ?? JSON.stringify(item)),
  )
}

function textOfContent(item: unknown): string | null {
  const parts = (item as { content?: { parts?: readonly { text?: string }[] } }).content?.parts
  return parts?.length === 1 ? (parts[0]?.text ?? null) : null
}

function dimensionsOf({ protocol, body }: ProviderCall): number | null {
  const requests = body['requests'] as readonly Record<string, unknown>[] | undefined
  const asked =
    protocol === 'google'
      ? requests?.[0]?.['outputDimensionality']
      : (body['dimensions'] ?? body['output_dimension'])
  return typeof asked === 'number' ? asked : null
}

function errorOf(protocol: WireProtocol, status: number, message: string): Record<string, unknown> {
  if (protocol === 'cohere') return { message }
  if (protocol === 'google')
    return { error: { code: status, message, status: 'FAILED_PRECONDITION', details: [] } }
  return { error: { message, type: 'invalid_request_error', code: 'scripted', param: null } }
}
