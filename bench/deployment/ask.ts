/** One request to a deployment at a time: the requests around a load, not the load itself. */
import { Agent, request as askPlainly, type IncomingMessage } from 'node:http'
import { Agent as SecureAgent, request as askSecurely } from 'node:https'
import { isIP } from 'node:net'
import type { Origin } from './origin.ts'

/** A deployment at one of its addresses: the bench contacts no other. */
export interface Place {
  readonly origin: Origin
  readonly address: string
  /** PEM that replaces the system's issuers; null: the system's. */
  readonly issuers: string | null
  readonly key: string
}

export interface Question {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** `code` is the error code of the system, of TLS or of the parser. */
export type AskOutcome = { readonly answer: Answer } | { readonly code: string }

const ANSWER_BYTES_MAX = 8_000_000

export interface Asker {
  /** Never rejects, follows no redirect, and takes at most `ms`. */
  ask(question: Question, ms: number): Promise<AskOutcome>
  close(): void
}

export function askerOf(place: Place, connections: number): Asker {
  const { origin, address, issuers } = place
  const agent = origin.isTls
    ? new SecureAgent({ keepAlive: true, maxSockets: connections })
    : new Agent({ keepAlive: true, maxSockets: connections })
  const start = origin.isTls ? askSecurely : askPlainly
  const name = isIP(origin.hostname) === 0 ? { servername: origin.hostname } : {}
  // Certificates are checked also where NODE_TLS_REJECT_UNAUTHORIZED is off: the key is for this server
  // alone.
  const trust = { rejectUnauthorized: true, ...(issuers === null ? {} : { ca: issuers }) }
  return {
    close: () => agent.destroy(),
    ask: ({ method, path, headers, body }, ms) =>
      new Promise((resolve) => {
        const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
        const asking = start({
          host: address,
          port: origin.port,
          method,
          path,
          agent,
          ...name,
          ...trust,
          headers: { host: origin.authority, authorization: `Bearer ${place.key}`, ...headers, ...length },
        })
        const end = (outcome: AskOutcome): void => {
          clearTimeout(timer)
          resolve(outcome)
          if ('code' in outcome) asking.destroy()
        }
        const timer = setTimeout(() => end({ code: 'TIMEOUT' }), ms)
        asking.on('error', (error: NodeJS.ErrnoException) => end({ code: error.code ?? 'ERROR' }))
        asking.on('response', (answer) => void read(answer).then(end))
        asking.end(body)
      }),
  }
}

async function read(answer: IncomingMessage): Promise<AskOutcome> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > ANSWER_BYTES_MAX) return { code: 'TOO_LARGE' }
      chunks.push(chunk)
    }
  } catch (error) {
    return { code: error instanceof Error && 'code' in error ? String(error.code) : 'ERROR' }
  }
  return {
    answer: {
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      text: Buffer.concat(chunks).toString(),
    },
  }
}
