import { Readable } from 'node:stream'
import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { isOfConnection, namedByConnection } from '../../../schemas/values/hop-by-hop.ts'
import { holdsKey } from './own-keys.ts'
import {
  filled,
  hasPlaceholder,
  leastBytes,
  percentDecoded,
  templateOf,
  type Template,
} from './placeholders.ts'
import { KIB } from '../../../schemas/limits/limits.ts'
import type { RelayedRequest } from '../../ports/egress/egress.ts'
import type { Upload } from '../../ports/byte-streams.ts'

/** Bytes of a request's target and headers after secrets have replaced their placeholders. Decision. */
export const EGRESS_FILLED_HEAD_BYTES_MAX = 128 * KIB

/** A request's target and headers as they will be sent, with placeholders for secrets. */
export interface OutgoingHead {
  /** The path with its leading slash; nothing in it is ever replaced. */
  readonly path: string
  readonly query: Template | null
  readonly headers: readonly { readonly name: string; readonly value: Template }[]
  /** True when placeholders in the body are also replaced. */
  readonly isBodyFilled: boolean
}

/** Headers about the connection to Sluice, which a destination must not receive. */
const NEVER_FORWARDED: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'expect',
  'forwarded',
  'x-real-ip',
  'traceparent',
  'tracestate',
])
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const ASCII_VALUE = /^[\t\x20-\x7e]*$/
const URL_TEXT = /^[\x21\x22\x24-\x7e]*$/

/** Failures: params_invalid (path), query_invalid, header_invalid. */
export function outgoingHead(path: string, request: RelayedRequest): Outcome<OutgoingHead> {
  if (!URL_TEXT.test(path))
    return fail('params_invalid', { detail: 'The path contains characters that are not allowed in a URL.' })
  if (hasPlaceholder(percentDecoded(path)))
    return fail('params_invalid', { detail: 'A placeholder is not allowed in the path.' })
  if (holdsKey(path))
    return fail('params_invalid', { detail: 'The path contains an API key of this installation.' })
  const query = request.query === null ? ok(null) : queryOf(request.query)
  if (!query.ok) return query
  const headers: { name: string; value: Template }[] = []
  const named = namedByConnection(request.headers)
  let isBodyFilled = false
  for (let at = 0; at + 1 < request.headers.length; at += 2) {
    const [name = '', value = ''] = [request.headers[at], request.headers[at + 1]]
    if (name === 'x-sluice-substitute') {
      if (value !== 'body') return refused(name, 'is unknown', '`body`')
      isBodyFilled = true
    }
    if (isWithheld(name, named)) continue
    const template = headerOf(name, value)
    if (!template.ok) return template
    headers.push({ name, value: template.value })
  }
  return ok({ path: `/${path}`, query: query.value, headers, isBodyFilled })
}

/** @returns the head to send; failures: header_invalid, for values that are not allowed in the head or make it too long */
export function filledHead(
  head: OutgoingHead,
  values: ReadonlyMap<string, string>,
): Outcome<{ path: string; headers: string[] }> {
  const query = head.query === null ? ok('') : filled(head.query, values, 'query')
  if (!query.ok) return query
  const path = head.query === null ? head.path : `${head.path}?${query.value}`
  const headers: string[] = []
  let bytes = path.length
  for (const { name, value } of head.headers) {
    const text = filled(value, values, 'header')
    if (!text.ok)
      return refused(
        name,
        'cannot contain the value of its secret',
        'a value without line breaks or other control characters',
      )
    headers.push(name, text.value)
    bytes += name.length + text.value.length
  }
  return bytes <= EGRESS_FILLED_HEAD_BYTES_MAX ? ok({ path, headers }) : HEAD_TOO_LARGE
}

/**
 * Checks whether a head may fit after its placeholders are replaced, before any secret is decrypted. @param
 * bytes length of each value. Failure: header_invalid
 */
export function headFits(
  { path, query, headers }: OutgoingHead,
  bytes: ReadonlyMap<string, number>,
): Outcome<null> {
  const target = path.length + (query === null ? 0 : 1 + leastBytes(query, bytes))
  const all = headers.reduce((sum, { name, value }) => sum + name.length + leastBytes(value, bytes), target)
  return all <= EGRESS_FILLED_HEAD_BYTES_MAX ? ok(null) : HEAD_TOO_LARGE
}

const HEAD_TOO_LARGE = fail('header_invalid', {
  detail: `With the values of its secrets, the request head is larger than ${EGRESS_FILLED_HEAD_BYTES_MAX} bytes.`,
})

function isWithheld(name: string, named: ReadonlySet<string>): boolean {
  return (
    NEVER_FORWARDED.has(name) ||
    isOfConnection(name) ||
    named.has(name) ||
    name.startsWith('x-sluice-') ||
    name.startsWith('x-forwarded-')
  )
}

function headerOf(name: string, value: string): Outcome<Template> {
  if (!TOKEN.test(name)) return fail('header_invalid', { detail: 'A header has an invalid name.' })
  if (holdsKey(name))
    return fail('header_invalid', {
      detail: 'The name of a header contains an API key of this installation.',
    })
  if (!ASCII_VALUE.test(value)) return refused(name, 'contains characters that are not ASCII', 'ASCII')
  if (holdsKey(value))
    return refused(
      name,
      'contains an API key of this installation',
      "the destination's own key, or a placeholder",
    )
  const template = templateOf(value)
  return template === null
    ? refused(name, 'contains an invalid placeholder', '`{{secret:name}}` with the name of a secret')
    : ok(template)
}

/** The template of a query: values may contain placeholders, names may not. */
function queryOf(text: string): Outcome<Template> {
  if (!URL_TEXT.test(text))
    return fail('query_invalid', { detail: 'The query contains characters that are not allowed in a URL.' })
  if (holdsKey(text))
    return fail('query_invalid', { detail: 'The query contains an API key of this installation.' })
  const isInName = text.split('&').some((pair) => hasPlaceholder(percentDecoded(pair.split('=', 1)[0] ?? '')))
  if (isInName)
    return fail('query_invalid', {
      detail: 'A placeholder is not allowed in the name of a parameter.',
    })
  const template = templateOf(text, true)
  return template === null ? malformed('query_invalid') : ok(template)
}

export function malformed(name: Failure['name']): Outcome<never> {
  return fail(name, {
    detail: 'Write placeholders as `{{secret:name}}`, with the name of a secret.',
  })
}

function refused(name: string, message: string, expected: string): Outcome<never> {
  return fail('header_invalid', { metadata: { issues: [{ path: `/${name}`, message, expected }] } })
}

/** Bytes of a request's body that wait for the destination. Decision. */
export const EGRESS_WAITING_BYTES_MAX = 256 * KIB

/** Streams a request's body to a destination, as fast as the destination accepts it. */
export class BodyFlow {
  readonly stream: Readable
  /** The client's failure that ended the body early; null otherwise. */
  failure: Failure | null = null
  isWhole = false
  /** `performance.now()` of the last transferred byte. */
  movedAt = performance.now()
  readonly #upload: Upload
  readonly #failed: () => void
  #isFull = false

  /** @param failed called when the client does not send the rest */
  constructor(upload: Upload, failed: () => void) {
    this.#upload = upload
    this.#failed = failed
    this.stream = new Readable({
      highWaterMark: EGRESS_WAITING_BYTES_MAX,
      read: () => this.#read(),
      destroy: (error, done) => {
        upload.stop()
        done(error)
      },
    })
    // `failure` and the exchange report the error: this listener only keeps it from ending the process.
    this.stream.on('error', () => undefined)
  }

  start(): void {
    this.#upload.receive({
      begin: () => undefined,
      take: (bytes) => this.#take(bytes),
      end: () => {
        this.isWhole = true
        this.#moved()
        this.stream.push(null)
      },
      fail: (failure) => this.#fail(failure),
    })
  }

  /** Stops the body: the rest is no longer needed. May be called at any time. */
  stop(): void {
    this.stream.destroy()
  }

  #take(bytes: Uint8Array): boolean {
    if (this.stream.destroyed) return false
    this.#moved()
    // The bytes are copied, since their buffer is reused.
    this.#isFull = !this.stream.push(Buffer.from(bytes))
    return !this.#isFull
  }

  #read(): void {
    if (!this.#isFull) return
    this.#isFull = false
    this.#moved()
    this.#upload.resume()
  }

  #fail(failure: Failure): void {
    this.failure = failure
    // The stream ends with an error, so that the destination does not take a partial body for a complete one.
    this.stream.destroy(new Error('the client did not send the whole body'))
    this.#failed()
  }

  #moved(): void {
    this.movedAt = performance.now()
  }
}

/** Reads a small body into memory. Failures: body_too_large, and those of receiving. */
export function wholeBody(upload: Upload, bytesMax: number): Promise<Outcome<Buffer>> {
  const pieces: Buffer[] = []
  let bytes = 0
  return new Promise((settle) =>
    upload.receive({
      begin: () => undefined,
      take(piece) {
        bytes += piece.length
        if (bytes <= bytesMax) pieces.push(Buffer.from(piece))
        else {
          upload.stop()
          settle(fail('body_too_large', { fields: { limit: bytesMax } }))
        }
        return bytes <= bytesMax
      },
      end: () => settle(ok(Buffer.concat(pieces))),
      fail: (failure) => settle({ ok: false, failure }),
    }),
  )
}
