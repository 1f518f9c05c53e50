import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Transform } from 'node:stream'
import {
  ADMIN_ANSWER_MS_MAX,
  ADMIN_BODY_BYTES_MAX,
  ADMIN_RELAYS_MAX,
} from '../../../schemas/operator/admin-port-limits.ts'
import type { Failure } from '../../../schemas/failures.ts'
import { isOfConnection, namedByConnection } from '../../../schemas/values/hop-by-hop.ts'
import { EVERY_ANSWER, failed, send } from './answers.ts'
import { isStale, type PublicPort } from './public-port.ts'

/**
 * What of a caller's headers is not relayed beside those of the connection. An origin would make the front
 * speak of other sites, cookies are those of whatever else has this address, and where the caller is says
 * only who connects to the public port: no proxy is believed, this one neither.
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
])
/** Each is written once, as it was understood here. */
const OURS: ReadonlySet<string> = new Set(['authorization', 'content-length'])
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const TOO_LARGE: Failure = { name: 'body_too_large', fields: { limit: ADMIN_BODY_BYTES_MAX } }
const NO_FRONT: Failure = { name: 'busy', detail: 'No front answers.' }

/**
 * Passes calls on to this node's own public port, as streams both ways; when one side goes, so does the
 * other.
 */
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

  pass(request: IncomingMessage, response: ServerResponse): void {
    const length = Number(request.headers['content-length'] ?? 0)
    if (length > ADMIN_BODY_BYTES_MAX) return send(response, failed(TOO_LARGE))
    if (this.#running >= ADMIN_RELAYS_MAX) return send(response, failed({ name: 'busy' }))
    this.#running++
    response.once('close', () => this.#running--)
    new RelayedCall(this.#port, request, response).begin(this.#answerMsMax)
  }
}

class RelayedCall {
  readonly #port: Pick<PublicPort, 'ask'>
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #ending = new AbortController()
  readonly #hasBody: boolean
  #failure = NO_FRONT

  constructor(port: Pick<PublicPort, 'ask'>, request: IncomingMessage, response: ServerResponse) {
    this.#port = port
    this.#request = request
    this.#response = response
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
    const asked = this.#port.ask({
      method: this.#request.method ?? 'GET',
      path: this.#request.url ?? '/',
      headers: this.#headers(),
      signal: this.#ending.signal,
    })
    asked.once('response', (answer) => {
      answered()
      this.#answer(answer)
    })
    asked.once('error', (cause) => {
      if (isStale(asked, cause) && !this.#hasBody && BODILESS.has(this.#request.method ?? ''))
        return this.#ask(answered)
      this.#fail()
    })
    if (this.#hasBody) this.#send(asked)
    else asked.end()
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
    const { authorization = '', 'content-length': length = '0' } = this.#request.headers
    kept.push('authorization', authorization)
    if (!this.#hasBody)
      return BODILESS.has(this.#request.method ?? '') ? kept : [...kept, 'content-length', '0']
    return length === '0' ? [...kept, 'transfer-encoding', 'chunked'] : [...kept, 'content-length', length]
  }

  #send(asked: ClientRequest): void {
    let bytes = 0
    const bounded = new Transform({
      transform: (piece: Buffer, _encoding, done) => {
        bytes += piece.length
        if (bytes <= ADMIN_BODY_BYTES_MAX) return done(null, piece)
        this.#failure = TOO_LARGE
        done(new Error('the body is too large'))
      },
    })
    // Of what fails the one end that is left hears by itself.
    this.#request.pipe(bounded)
    pipeline(bounded, asked, () => {
      this.#request.unpipe(bounded)
      this.#request.resume()
      if (this.#failure === TOO_LARGE) this.#fail()
    })
  }

  #answer(answer: IncomingMessage): void {
    const response = this.#response
    if (response.destroyed || response.headersSent) return void answer.destroy()
    const lower = answer.rawHeaders.map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text))
    const named = namedByConnection(lower)
    const headers = lower.flatMap((name, at) =>
      at % 2 === 1 || isOfConnection(name) || named.has(name) ? [] : [name, lower[at + 1] ?? ''],
    )
    for (const [name, value] of Object.entries(EVERY_ANSWER))
      if (!lower.includes(name)) headers.push(name, value)
    response.writeHead(answer.statusCode ?? 0, answer.statusMessage, headers)
    // A front that fails midway leaves an answer that is cut, not one that seems whole.
    pipeline(answer, response, () => undefined)
  }

  /** Once an answer has begun, it says by itself how it ends. */
  #fail(): void {
    send(this.#response, failed(this.#failure))
  }
}
