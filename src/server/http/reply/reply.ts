import { STATUS_CODES } from 'node:http'
import { ERRORS_PATH } from '../../../schemas/api-prefix.ts'
import {
  FAILURES,
  REASONS,
  statusOf,
  textOf,
  type Failure,
  type FailureRow,
} from '../../../schemas/failures.ts'
import { memberPath } from '../../../schemas/issues.ts'
import { messageError } from '../../../schemas/inference/message-errors.ts'
import { SCIM_CONTENT_TYPE, scimErrorOf } from '../../../schemas/scim/scim-errors.ts'
import type { AnyOperation, Success } from '../../operations/define.ts'
import type { CallNotes } from '../../ports/observe.ts'
import type { RequestHead } from '../call/head.ts'
import type { Reply } from './reply-body.ts'
import { Desk } from './reply-body.ts'

export interface ReplyFacts {
  readonly requestId: string
  /** `performance.now()` milliseconds. */
  readonly startedAt: number
  readonly notes: CallNotes
  /** Headers of the limits stage; null when the key has no limit or the call did not reach the stage. */
  readonly limitHeaders: Readonly<Record<string, string>> | null
  /** Flat list of names and values: inputs of the call that Sluice does not read. */
  readonly remarks: readonly string[]
  /** Flat list of names and values. */
  readonly corsHeaders: readonly string[]
  /** True when the path is below `/scim/v2`, where bodies and errors follow RFC 7644. */
  readonly isScim: boolean
  /** True when the path belongs to an operation in Anthropic's dialect, or is below such a path. */
  readonly isAnthropic: boolean
  readonly head: Pick<RequestHead, 'ownOrigin'>
}

const JSON_TYPE = 'application/json'
const UNAUTHORIZED: number = FAILURES.credentials_missing.status[0]
/** Seconds until a client may retry after a 5xx that persists. Decision. */
const LASTING_S = 60
/** Status of a reply to a client that has the current content. */
const NOT_MODIFIED = 304
/** The lowest status of a failure on the server's side. */
const OURS_FROM: number = FAILURES.internal.status[0]
/** Statuses of failures caused by load: clients retry after a second, unless the failure has its own wait. */
const OF_LOAD: readonly number[] = [FAILURES.busy.status[0], FAILURES.upstream_overloaded.status[0]]

/** Characters from which a body is encoded here: below this the library encodes as quickly. Decision. */
const ENCODED_CHARS_MIN = 16 * 1_024

/** A success whose answer is available as a whole. */
export type WholeSuccess = Exclude<Success, { kind: 'content' | 'relay' | 'streamed' }>

/** Successes become bytes only here, and failures only in `replyOfFailure`. */
export function replyOfSuccess(success: WholeSuccess, status: number, facts: ReplyFacts): Reply {
  if (success.kind === 'nothing' || success.kind === 'unmodified')
    return bodiless(success, success.kind === 'nothing' ? status : NOT_MODIFIED, facts)
  const isJson = success.kind === 'json'
  const headers = headersOf(isJson ? jsonTypeOf(facts) : success.contentType, facts, true)
  if (success.headers !== undefined) appendOwn(headers, success.headers, facts)
  return {
    status,
    statusLine: statusLine(status),
    headers,
    body: isJson ? encoded(JSON.stringify(success.value)) : success.parts,
    isShared: isJson ? undefined : success.isShared,
    done: isJson ? undefined : success.done,
  }
}

/** Encodes long strings once; every length check would otherwise encode them again. */
function encoded(json: string): string | Uint8Array {
  return json.length < ENCODED_CHARS_MIN ? json : Buffer.from(json)
}

function bodiless(
  { headers: more }: Pick<Success & { kind: 'nothing' }, 'headers'>,
  status: number,
  facts: ReplyFacts,
): Reply {
  const headers = headersOf(null, facts)
  if (more !== undefined) append(headers, more)
  return { status, statusLine: statusLine(status), headers, body: null }
}

function jsonTypeOf({ isScim }: Pick<ReplyFacts, 'isScim'>): string {
  return isScim ? SCIM_CONTENT_TYPE : JSON_TYPE
}

/**
 * The reply for a failure, in Sluice's error envelope or in that of SCIM.
 * @param operation null when no route was found: then the status of the failure's row applies
 */
export function replyOfFailure(failure: Failure, operation: AnyOperation | null, facts: ReplyFacts): Reply {
  const status = statusOf(
    failure.name,
    operation === null ? FAILURES[failure.name].status : listedBy(operation),
  )
  const row: FailureRow = FAILURES[failure.name]
  const headers = headersOf(jsonTypeOf(facts), facts, status !== UNAUTHORIZED)
  // A message may quote the path, which a browser must not read as a page.
  headers.push('x-content-type-options', 'nosniff')
  if (status === UNAUTHORIZED) headers.push('www-authenticate', 'Bearer')
  // The status alone does not show whether Sluice or the relayed server failed.
  if (operation?.success.isRelayed === true) headers.push('x-sluice-error', failure.name)
  // Clients retry every 5xx automatically, one of them for an hour; they respect these two headers.
  const isLasting = row.retry !== 'backoff'
  if (isLasting) headers.push('x-should-retry', 'false')
  const waitS = isLasting && status >= OURS_FROM ? LASTING_S : OF_LOAD.includes(status) ? 1 : undefined
  const retryAfterS = failure.retryAfterS ?? waitS
  if (retryAfterS !== undefined) headers.push('retry-after', String(retryAfterS))
  if (failure.name === 'range_unsatisfiable')
    headers.push('content-range', `bytes */${failure.fields?.['size'] ?? '*'}`)
  if (failure.name === 'method_not_allowed') headers.push('allow', String(failure.fields?.['allowed'] ?? ''))
  const body = facts.isScim
    ? scimErrorOf(failure.name, status, textOf(failure))
    : envelopeOf(failure, operation, { status, facts })
  return { status, statusLine: statusLine(status), headers, body: JSON.stringify(body) }
}

interface EnvelopeFacts {
  readonly status: number
  readonly facts: Pick<ReplyFacts, 'requestId' | 'isAnthropic' | 'head'>
}

function envelopeOf(
  failure: Failure,
  operation: AnyOperation | null,
  { status, facts: { requestId, isAnthropic, head } }: EnvelopeFacts,
): object {
  const row: FailureRow = FAILURES[failure.name]
  const reason =
    operation?.tellsReason === true ? { reason: failure.name, retryable: row.retry === 'backoff' } : null
  const docs = { docs_url: `${head.ownOrigin}${ERRORS_PATH}/${failure.name}` }
  const metadata = {
    error_type: failure.name,
    request_id: requestId,
    ...docs,
    ...reason,
    ...failure.metadata,
  }
  if (isAnthropic) return messageError({ status, message: textOf(failure), metadata, requestId })
  const shown = operation?.tellsParam === true ? { type: failure.name, param: paramOf(failure) } : null
  const { data } = failure
  const account = operation?.tellsAccount === true ? UNKNOWN_ACCOUNT : null
  return {
    error: { code: status, message: textOf(failure), ...shown, metadata },
    ...(data !== undefined && { data }),
    ...account,
  }
}

/** The member at fault in OpenAI's notation, `messages[0].role`; null: none, or the whole body. */
function paramOf({ metadata, param }: Failure): string | null {
  const path = metadata?.issues?.[0]?.path
  return path === undefined ? (param ?? null) : memberPath(path)
}

/** Null until errors carry account facts. */
const UNKNOWN_ACCOUNT = { sluice_metadata: null, user_id: null } as const

/** Error statuses of an operation; range reads add a status to those of its contract row. */
export function listedBy({ statuses, success }: AnyOperation): readonly number[] {
  return success.content === undefined ? statuses : [...statuses, ...FAILURES.range_unsatisfiable.status]
}

/** `200 OK`: the library writes the line as given, so it must include the phrase. */
export function statusLine(status: number): string {
  const known = STATUS_LINES.get(status)
  if (known !== undefined) return known
  const line = `${status} ${STATUS_CODES[status] ?? REASONS[status] ?? 'Unknown'}`
  STATUS_LINES.set(status, line)
  return line
}

const STATUS_LINES = new Map<number, string>()

/** @param contentType null: the reply has no body, not even an omitted one */
export function headersOf(contentType: string | null, facts: ReplyFacts, isTimed = true): string[] {
  const { requestId, notes, startedAt } = facts
  const timing = isTimed ? serverTiming(notes, performance.now() - startedAt) : null
  // Created with its full length: a list that grows reserves room for seventeen texts.
  const headers =
    contentType !== null && timing !== null
      ? ['x-request-id', requestId, 'content-type', contentType, 'server-timing', timing]
      : [
          'x-request-id',
          requestId,
          ...(contentType === null ? [] : ['content-type', contentType]),
          ...(timing === null ? [] : ['server-timing', timing]),
        ]
  if (facts.isAnthropic) headers.push('request-id', requestId)
  if (facts.limitHeaders !== null) append(headers, facts.limitHeaders)
  if (facts.remarks.length > 0) headers.push(...facts.remarks)
  if (facts.corsHeaders.length > 0) headers.push(...facts.corsHeaders)
  return headers
}

/** Adds the headers of an answer; a header with the name of a remark is appended to its list. */
function appendOwn(
  headers: string[],
  more: Readonly<Record<string, string>>,
  { remarks: [remark] }: ReplyFacts,
): void {
  if (remark === undefined || more[remark] === undefined) return append(headers, more)
  const { [remark]: list, ...others } = more
  const at = headers.indexOf(remark) + 1
  headers[at] = `${headers[at] ?? ''},${list}`
  append(headers, others)
}

export function append(headers: string[], more: Readonly<Record<string, string>>): void {
  for (const name in more) headers.push(name, more[name] ?? '')
}

type Stages = Pick<CallNotes, 'authMs' | 'limitsMs' | 'validateMs' | 'upstreamMs' | 'ttftMs'>

/** Bytes of the longest text: six stages of 40 at most. */
const TEXT_BYTES = 256

const ZERO = 0x30

const POINT = 0x2e

const DESK = new Desk(TEXT_BYTES, 0)

/** Milliseconds of the stages that ran. Digits are written directly: converting numbers to texts would cost 700 bytes of garbage for each call. */
export function serverTiming(stages: Stages, totalMs: number): string {
  let at = stageAt(0, 'auth;dur=', stages.authMs)
  at = stageAt(at, 'limits;dur=', stages.limitsMs)
  at = stageAt(at, 'validate;dur=', stages.validateMs)
  at = stageAt(at, 'upstream;dur=', stages.upstreamMs)
  at = stageAt(at, 'ttft;dur=', stages.ttftMs)
  return DESK.bytes.toString('latin1', 0, millisAt(DESK.ascii('total;dur=', at), totalMs))
}

function stageAt(at: number, name: string, ms: number | undefined): number {
  return ms === undefined ? at : DESK.ascii(', ', millisAt(DESK.ascii(name, at), ms))
}

/** Writes three decimals. */
function millisAt(at: number, ms: number): number {
  const { bytes } = DESK
  const us = Math.round(ms * 1_000)
  const whole = Math.floor(us / 1_000)
  const thousandths = us - whole * 1_000
  const end = whole < 10 ? digitAt(at, whole) : DESK.ascii(String(whole), at)
  bytes[end] = POINT
  digitAt(end + 1, (thousandths / 100) | 0)
  digitAt(end + 2, ((thousandths / 10) | 0) % 10)
  return digitAt(end + 3, thousandths % 10)
}

function digitAt(at: number, digit: number): number {
  DESK.bytes[at] = ZERO + digit
  return at + 1
}
