import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Transform } from 'node:stream'
import {
  ADMIN_ANSWER_MS_MAX,
  ADMIN_BODY_BYTES_MAX,
  ADMIN_RELAYS_MAX,
} from '../../../schemas/operator/admin-port-limits.ts'
import { PAGE_TOKEN_HEADER } from '../../../schemas/api-prefix.ts'
import type { Failure } from '../../../schemas/failures.ts'
import { isOfConnection, namedByConnection } from '../../../schemas/values/hop-by-hop.ts'
import { EVERY_ANSWER, failed, send } from './answers.ts'
import { KEY_REFUSALS } from './operator-keys.ts'
import { isStale, type PublicPort } from './public-port.ts'

/**
 * Headers of a caller that are not relayed, in addition to those of the connection. With an origin the front would
 * answer for other sites. Cookies belong to any other service at this address. The caller's address is decided by the
 * connection to the public port: fronts trust no proxy, including this relay.
 */
const DROPPED: ReadonlySet<string> = new Set([
  'host',
  'origin',
  'referer',
  'cookie',
  'expect',
  'forwarded',
  'via',
  'x-real-ip',
  PAGE_TOKEN_HEADER,
])
/** Headers that the relay writes itself, with the values that it has checked. */
const OURS: ReadonlySet<string> = new Set(['authorization', 'content-length'])
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const TOO_LARGE: Failure = { name: 'body_too_large', fields: { limit: ADMIN_BODY_BYTES_MAX } }
const NO_FRONT: Failure = { name: 'busy', detail: 'No front process is responding.' }

export interface RelayTarget {
  /** The path with its query. */
  readonly path: string
  /** Empty for a page that needs no key. */
  readonly authorization: string
  /** Called when the front refuses the call with a status that it also uses to refuse keys. */
  onRefused?(): void
}

/** Passes calls on to the public port of this node, as streams in both directions; when one side ends, the other ends too. */
export class Relay {
  readonly #port: Pick<PublicPort, 'ask'>
  readonly #answerMsMax: number
  #running = 0

  constructor(
    port: Pick<PublicPort, 'ask'>,
    { answerMsMax = ADMIN_ANSWER_MS_MAX }: { readonly answerMsMax?: number } = {},
  ) {
    this.#port = port
    this.#answerMsMax = answerMsMax
  }

  pass(request: IncomingMessage, response: ServerResponse, target: RelayTarget): void {
    const length = Number(request.headers['content-length'] ?? 0)
    if (length > ADMIN_BODY_BYTES_MAX) return send(response, failed(TOO_LARGE))
    if (this.#running >= ADMIN_RELAYS_MAX) return send(response, failed({ name: 'busy' }))
    this.#running++
    response.once('close', () => this.#running--)
    new RelayedCall(this.#port, { request, response, target }).begin(this.#answerMsMax)
  }
}

interface CallInput {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly target: RelayTarget
}

class RelayedCall {
  readonly #port: Pick<PublicPort, 'ask'>
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #target: RelayTarget
  readonly #ending = new AbortController()
  readonly #hasBody: boolean
  #failure = NO_FRONT

  constructor(port: Pick<PublicPort, 'ask'>, { request, response, target }: CallInput) {
    this.#port = port
    this.#request = request
    this.#response = response
    this.#target = target
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers
    this.#hasBody = coding !== undefined || Number(length ?? 0) > 0
  }

  begin(answerMsMax: number): void {
    const timer = setTimeout(() => {
      this.#failure = { name: 'deadline_exceeded' }
      this.#ending.abort()
    }, answerMsMax)
    this.#response.once('close', () => {
      clearTimeout(timer)
      this.#ending.abort()
    })
    this.#ask(() => clearTimeout(timer))
  }

  #ask(answered: () => void): void {
    const outgoing = this.#port.ask({
      method: this.#request.method ?? 'GET',
      path: this.#target.path,
      headers: this.#headers(),
      signal: this.#ending.signal,
    })
    outgoing.once('response', (answer) => {
      answered()
      this.#answer(answer)
    })
    outgoing.once('error', (cause) => {
      if (isStale(outgoing, cause) && !this.#hasBody && BODILESS.has(this.#request.method ?? ''))
        return this.#ask(answered)
      this.#fail()
    })
    if (this.#hasBody) this.#send(outgoing)
    else outgoing.end()
  }

  #headers(): readonly string[] {
    const { rawHeaders } = this.#request
    const lower = rawHeaders.map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text))
    const named = namedByConnection(lower)
    const kept: string[] = []
    for (let at = 0; at + 1 < lower.length; at += 2) {
      const [name = '', value = ''] = [lower[at], lower[at + 1]]
      const isDropped =
        DROPPED.has(name) ||
        OURS.has(name) ||
        isOfConnection(name) ||
        named.has(name) ||
        name.startsWith('x-forwarded-')
      if (!isDropped) kept.push(name, value)
    }
    const { 'content-length': length = '0' } = this.#request.headers
    kept.push('authorization', this.#target.authorization)
    if (!this.#hasBody)
      return BODILESS.has(this.#request.method ?? '') ? kept : [...kept, 'content-length', '0']
    return length === '0' ? [...kept, 'transfer-encoding', 'chunked'] : [...kept, 'content-length', length]
  }

  #send(outgoing: ClientRequest): void {
    let bytes = 0
    const bounded = new Transform({
      transform: (piece: Buffer, _encoding, done) => {
        bytes += piece.length
        if (bytes <= ADMIN_BODY_BYTES_MAX) return done(null, piece)
        this.#failure = TOO_LARGE
        done(new Error('the body is too large'))
      },
    })
    // Each stream reports its own failure, so the callback needs no error.
    this.#request.pipe(bounded)
    pipeline(bounded, outgoing, () => {
      this.#request.unpipe(bounded)
      this.#request.resume()
      if (this.#failure === TOO_LARGE) this.#fail()
    })
  }

  #answer(answer: IncomingMessage): void {
    const response = this.#response
    if (KEY_REFUSALS.includes(answer.statusCode ?? 0)) this.#target.onRefused?.()
    if (response.destroyed || response.headersSent) return void answer.destroy()
    const lower = answer.rawHeaders.map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text))
    const named = namedByConnection(lower)
    const headers = lower.flatMap((name, at) =>
      at % 2 === 1 || isOfConnection(name) || named.has(name) ? [] : [name, lower[at + 1] ?? ''],
    )
    for (const [name, value] of Object.entries(EVERY_ANSWER))
      if (!lower.includes(name)) headers.push(name, value)
    response.writeHead(answer.statusCode ?? 0, answer.statusMessage, headers)
    // When a front fails in the middle of a response, the relayed response is cut, so that it does not seem complete.
    pipeline(answer, response, () => undefined)
  }

  /** Sends the failure, unless a response has begun; a begun response is cut instead. */
  #fail(): void {
    send(this.#response, failed(this.#failure))
  }
}
