import { isUtf8 } from 'node:buffer'
import { ok } from '../../../schemas/failures.ts'
import type { RequestHead } from '../call/head.ts'
import type { Reply } from './reply-body.ts'
import { statusLine, type ReplyFacts } from './reply.ts'
import type { UploadBody } from '../body/upload.ts'
import { RawUpload } from '../body/upload.ts'
import type { RelayedAnswer, RelayedRequest } from '../../ports/egress/egress.ts'

const NO_CONTENT = 204
const NOT_MODIFIED = 304
const NOTHING = new Uint8Array(0)

/** The request as received, before its body is read. */
export function relayedOf(head: RequestHead, body: UploadBody): RelayedRequest {
  return {
    method: head.method.toUpperCase(),
    query: head.query === '' ? null : head.query,
    headers: head.all ?? [],
    bodyBytes: head.declared,
    body: new RawUpload(body, head.declared),
  }
}

/**
 * The reply that relays an answer. The answer keeps its headers: Sluice adds headers under its own names, and
 * the rate-limit headers only if the answer has none. `done` closes the answer.
 */
export function replyOfRelay(
  answer: RelayedAnswer,
  facts: ReplyFacts,
  { method }: Pick<RequestHead, 'method'>,
): Reply {
  const { status, bodyBytes, body } = answer
  const reply = {
    status,
    statusLine: statusLine(status),
    headers: headersOf(answer, facts),
    done: () => body.close(),
  }
  if (status === NO_CONTENT) return { ...reply, body: null }
  const isBodiless = method === 'head' || status === NOT_MODIFIED || bodyBytes === 0
  if (!isBodiless) return { ...reply, body: null, relayed: { bytes: bodyBytes, reader: body } }
  const empty = { first: NOTHING, next: () => Promise.resolve(ok(null)) }
  return { ...reply, body: bodyBytes === null ? null : { ...empty, bytes: bodyBytes } }
}

function headersOf(
  { headers: theirs }: RelayedAnswer,
  { requestId, limitHeaders, corsHeaders }: ReplyFacts,
): readonly string[] {
  const headers: string[] = []
  const names = new Set<string>()
  const isCorsOurs = corsHeaders.length > 0
  for (let at = 0; at + 1 < theirs.length; at += 2) {
    const [name = '', value = ''] = [theirs[at], theirs[at + 1]]
    if (isCorsOurs && name.startsWith('access-control-')) continue
    names.add(name)
    headers.push(name, textOf(value))
  }
  headers.push('x-sluice-request-id', requestId)
  if (!names.has('x-request-id')) headers.push('x-request-id', requestId)
  const limits = Object.entries(limitHeaders ?? {})
  if (!limits.some(([name]) => names.has(name.toLowerCase()))) headers.push(...limits.flat())
  return [...headers, ...corsHeaders]
}

/** Keeps the bytes as received: the library writes texts as UTF-8. */
function textOf(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : value
}
