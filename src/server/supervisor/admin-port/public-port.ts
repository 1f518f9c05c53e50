import { X509Certificate } from 'node:crypto'
import {
  Agent,
  request as plainRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import { ADMIN_KEYS_MAX, ADMIN_RELAYS_MAX } from '../../../schemas/operator/admin-port-limits.ts'

/** Idle connections to the public port that are kept. */
const FREE_SOCKETS_MAX = 8
/** Milliseconds that an idle connection is kept: less than a front keeps it. */
const KEPT_MS = 4_000
/** Bytes of a response that is read whole. */
const ANSWER_BYTES_MAX = 65_536

export interface PublicPortOptions {
  /** An address to connect to. */
  readonly host: string
  readonly port: number
  readonly isTls: boolean
}

export interface PublicRequest {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  /** Flat list of names and values; the port itself sets `host`. */
  readonly headers: readonly string[]
  readonly signal: AbortSignal
}

/** A small response, read whole. */
export interface SmallAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** The host of relayed requests: the caller may not reach the public port at its address, so links in responses must be paths. */
const NO_HOST = '-'

/** The public port of this node, over a few kept connections. */
export class PublicPort {
  readonly #options: PublicPortOptions
  readonly #agent: Agent
  #certificates: readonly Buffer[] = []

  constructor(options: PublicPortOptions) {
    this.#options = options
    const kept = {
      keepAlive: true,
      maxSockets: ADMIN_RELAYS_MAX + ADMIN_KEYS_MAX,
      maxFreeSockets: FREE_SOCKETS_MAX,
      timeout: KEPT_MS,
    }
    this.#agent = options.isTls
      ? new PinnedAgent(kept, (raw) => this.#certificates.some((one) => one.equals(raw)))
      : new Agent(kept)
  }

  /** Sets the certificates that fronts serve with from now on. @param pems texts; the first certificate of each is that of fronts */
  trust(pems: readonly string[]): void {
    this.#certificates = pems.map((pem) => new X509Certificate(pem).raw)
  }

  /** Begins a call; the caller of this method writes the body and ends it. */
  ask({ method, path, headers, signal }: PublicRequest): ClientRequest {
    const { host, port, isTls } = this.#options
    const options: PinnedOptions = {
      host,
      port,
      method,
      path,
      headers: ['host', NO_HOST, ...headers],
      agent: this.#agent,
      signal,
      ending: signal,
    }
    return isTls ? tlsRequest(options) : plainRequest(options)
  }

  /** Makes a GET without a body; null when no front answers in time. */
  async read(path: string, headers: readonly string[], msMax: number): Promise<SmallAnswer | null> {
    const call = { method: 'GET', path, headers, signal: AbortSignal.timeout(msMax) }
    const answer = await this.#readOnce(call)
    const again = answer === STALE ? await this.#readOnce(call) : answer
    return again === STALE ? null : again
  }

  #readOnce(call: PublicRequest): Promise<SmallAnswer | typeof STALE | null> {
    return new Promise((resolve) => {
      const request = this.ask(call)
      request.once('error', (cause) => resolve(isStale(request, cause) ? STALE : null))
      request.once(
        'response',
        (answer) =>
          void readWhole(answer).then(
            (body) => {
              resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body })
            },
            () => resolve(null),
          ),
      )
      request.end()
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

const STALE = 'stale'

/** True when the front closed a kept connection at the moment of its reuse: the call never reached the front. */
export function isStale(request: ClientRequest, cause: Error): boolean {
  return request.reusedSocket && 'code' in cause && cause.code === 'ECONNRESET'
}

async function readWhole(answer: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error('the answer is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

interface PinnedOptions extends RequestOptions {
  /** The signal of the call, which Node does not pass to its agents. */
  readonly ending?: AbortSignal
}

/** Connects only to a server with a certificate of this node, whatever its names and age: no other server may receive a key. */
class PinnedAgent extends TlsAgent {
  readonly #isOurs: (raw: Buffer) => boolean

  constructor(options: ConstructorParameters<typeof TlsAgent>[0], isOurs: (raw: Buffer) => boolean) {
    super(options)
    this.#isOurs = isOurs
  }

  override createConnection(
    { host, port, timeout, ending }: PinnedOptions,
    callback?: (cause: Error | null, stream: Duplex) => void,
  ): undefined {
    const socket = connect({
      host: host ?? '',
      port: Number(port),
      rejectUnauthorized: false,
      ...(timeout === undefined ? {} : { timeout }),
    })
    // A pending connection ignores the signal of its call: without this, a call to a front that hangs would wait for
    // the handshake forever.
    const giveUp = (): void => void socket.destroy(new Error('the call has ended'))
    const failed = (cause: Error): void => {
      ending?.removeEventListener('abort', giveUp)
      callback?.(cause, socket)
    }
    if (ending?.aborted === true) giveUp()
    else ending?.addEventListener('abort', giveUp)
    socket.once('error', failed)
    socket.once('secureConnect', () => {
      ending?.removeEventListener('abort', giveUp)
      const certificate = socket.getPeerX509Certificate()
      if (certificate === undefined || !this.#isOurs(certificate.raw)) {
        socket.destroy(new Error('the public port uses another certificate'))
        return
      }
      socket.off('error', failed)
      callback?.(null, socket)
    })
  }
}
