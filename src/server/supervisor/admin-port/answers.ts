import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { ErrorEnvelope } from '../../../schemas/envelope.ts'
import { FAILURES, statusOf, textOf, type Failure } from '../../../schemas/failures.ts'

export interface Answer {
  readonly status: number
  readonly body: string | Uint8Array
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

const OK = 200
const UNAUTHORIZED: number = FAILURES.credentials_missing.status[0]
const FOUND = 302
/** Seconds after which a caller may repeat a request that got `busy`. */
const RETRY_AFTER_S = 1

export function json(value: unknown, status = OK): Answer {
  return jsonText(`${JSON.stringify(value)}\n`, status)
}

export function jsonText(body: string, status = OK): Answer {
  return { status, body, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' } }
}

export function redirect(location: string): Answer {
  return { status: FOUND, body: '', headers: { location, 'cache-control': 'no-store' } }
}

/** A failure in the envelope of the public port. */
export function failed(failure: Failure): Answer {
  const { status: statuses, retry } = FAILURES[failure.name]
  const code = statusOf(failure.name, statuses)
  const requestId = randomUUID()
  const envelope: ErrorEnvelope = {
    error: { code, message: textOf(failure), metadata: { error_type: failure.name, request_id: requestId } },
  }
  const answer = json(envelope, code)
  const { allowed } = failure.fields ?? {}
  return {
    ...answer,
    headers: {
      ...answer.headers,
      'x-request-id': requestId,
      ...(code === UNAUTHORIZED ? { 'www-authenticate': 'Bearer' } : {}),
      ...(failure.name === 'method_not_allowed' ? { allow: String(allowed ?? '') } : {}),
      ...(retry === 'backoff' ? { 'retry-after': String(RETRY_AFTER_S) } : {}),
    },
  }
}

/** Headers of every response: a browser may use it only for a page of Sluice. */
export const EVERY_ANSWER: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}

/** Writes a response; a HEAD gets only the headers. A response is dropped when its caller has disconnected. */
export function send(response: ServerResponse, { status, body, headers }: Answer, isHead = false): void {
  if (response.destroyed || response.headersSent) return
  const length = status === NOT_MODIFIED ? {} : { 'content-length': Buffer.byteLength(body) }
  response.writeHead(status, { ...EVERY_ANSWER, ...headers, ...length })
  response.end(isHead ? undefined : body)
}

export const NOT_MODIFIED = 304
