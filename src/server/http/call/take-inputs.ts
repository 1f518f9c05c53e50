import { BulkBytes } from '../../../schemas/bodies.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { KeptBody } from '../../../schemas/kept-body.ts'
import type { Issue } from '../../../schemas/failure-metadata.ts'
import { IGNORED_NAMES_MAX, type OtherMember } from '../../../schemas/other-members.ts'
import { IDEMPOTENCY_WAIT_MS_MAX } from '../../../schemas/limits/idempotency-limits.ts'
import { INLINE_JSON_BYTES_MAX, ISSUES_MAX } from '../../../schemas/limits/limits.ts'
import type { AnyOperation } from '../../operations/define.ts'
import type { BodyVerdict, ShortJobTypes } from '../../ports/short-jobs.ts'
import type { Body } from '../body/body.ts'
import { contentRefusal, declaredHeaders } from './head.ts'
import { IdempotentCall, repeatableOf } from './idempotent-call.ts'
import { parseQuery, type UrlReader } from './query.ts'
import { relayedOf } from '../reply/relay-reply.ts'
import type { NamedForm, Route, Routed } from './route-table.ts'
import type { InputsTaken, RequestCall } from './request-call.ts'
import { UploadBody, uploadOf } from '../body/upload.ts'

/**
 * The stage of validation: reads the declared inputs of the operation from the request into the call, and
 * nothing else. The request line and the headers are read first, since they cost least; the body is read after
 * a repeatable call has claimed its key. An invalid input ends the call here.
 */
export function takeInputs(call: RequestCall, taken: InputsTaken): void {
  const { match } = call
  const { route } = match
  if (!takeLine(call, match)) return
  call.inputsTaken = taken
  const wanted = route.operation.input.headers
  if (wanted !== undefined) call.headers = declaredHeaders(wanted, call.head)
  const refusal = announcedRefusal(call, route)
  if (refusal !== null) return call.fail(refusal)
  takeTurn(call, route.operation)
}

/** @returns whether the call continues */
function takeLine(call: RequestCall, { kind, route, params }: Routed): boolean {
  if (kind === 'undecodable') {
    call.fail({ name: 'params_invalid', detail: 'A percent-encoded part is not UTF-8.' })
    return false
  }
  if (route.params !== null && !takeUrl(call, 'params', route.params, params)) return false
  if (route.query === null) return true
  const query = parseQuery(call.head.query)
  if (query !== null) return takeUrl(call, 'query', route.query, query)
  call.fail({ name: 'query_invalid', detail: 'A percent-encoded part is not UTF-8.' })
  return false
}

type UrlTexts = ReadonlyMap<string, readonly string[]>

function takeUrl(call: RequestCall, part: 'params' | 'query', reader: UrlReader, texts: UrlTexts): boolean {
  const read = reader.read(texts)
  if (read.ok) call[part] = read.value
  else call.fail(read.failure)
  return read.ok
}

/** Refuses a JSON body if the head already shows a fault, before the wait for the key, which may be long. */
function announcedRefusal({ head, coming }: RequestCall, { body: form }: Route): Failure | null {
  if (form === null || coming instanceof UploadBody) return null
  return contentRefusal(head) ?? coming?.refusal ?? null
}

/** For operations whose answers are stored: a repeated call waits here for the first call, before its body is read. */
function takeTurn(call: RequestCall, operation: AnyOperation): void {
  if (operation.idempotent === undefined) return takeBody(call)
  const read = repeatableOf(operation, call, call.head)
  if (!read.ok) return call.fail(read.failure)
  call.idempotency = read.value
  if (read.value === null || operation.idempotent === 'own') return takeBody(call)
  // The time of the first call does not count for this call.
  call.exchange.time.allow(IDEMPOTENCY_WAIT_MS_MAX)
  call.after(IdempotentCall.begin(call.deps.ports.idempotency, read.value, call), begun)
}

function begun(call: RequestCall, first: Outcome<IdempotentCall>): void {
  if (!first.ok) return call.fail(first.failure)
  call.kept = first.value
  call.restartDeadline()
  takeBody(call)
}

function takeBody(call: RequestCall): void {
  const { coming } = call
  if (coming instanceof UploadBody) return takeUpload(call, coming)
  if (call.match.route.body === null) {
    const compared = call.kept?.checkBody()
    if (compared?.ok === false) return call.fail(compared.failure)
    return taken(call)
  }
  if (coming === null) return readBody(call, ok(NOTHING))
  coming.admit(callerOf(call.key), (received) => bodyCame(call, received), call.lapAt)
}

function takeUpload(call: RequestCall, body: UploadBody): void {
  const kind = call.match.route.operation.input.upload ?? 'raw'
  if (kind === 'whole') call.relayed = relayedOf(call.head, body)
  else {
    const upload = uploadOf(kind, call.head, body)
    if (!upload.ok) return call.fail(upload.failure)
    call.upload = upload.value
  }
  taken(call)
}

function taken(call: RequestCall): void {
  call.notes.validateMs = call.lap()
  call.inputsTaken(call, call.match.route.operation)
}

/** Runs the whole synchronous part of a small call to a model. */
function bodyCame(call: RequestCall, received: Outcome<Uint8Array>): void {
  const isMeasured = call.isBooked && call.beginPart()
  try {
    readBody(call, received)
  } finally {
    if (isMeasured) call.endPart()
  }
}

function readBody(call: RequestCall, received: Outcome<Uint8Array>): void {
  if (!received.ok) return call.fail(received.failure)
  call.restartDeadline()
  const bytes = received.value
  const { kept } = call
  if (kept === null) return call.after(readJson(call, bytes), validated)
  call.after(kept.takeBody(bytes), () => {
    const compared = kept.checkBody()
    if (compared.ok) call.after(readJson(call, bytes), validated)
    else call.fail(compared.failure)
  })
}

function validated(call: RequestCall, verdict: BodyVerdict): void {
  const { others = [] } = verdict
  const slips = others.length === 0 ? [] : takeOthers(call, others)
  if (!verdict.ok) {
    call.notes.validateMs = call.lap()
    return call.fail(withSlips(verdict.failure, slips))
  }
  if (slips.length > 0) return call.fail({ name: 'body_invalid', metadata: { issues: slips } })
  call.body = takenOf(call, verdict)
  taken(call)
}

/** Adds typing errors to the failure: a misspelled member is often the reason why another is missing, and one answer names both. */
function withSlips(failure: Failure, slips: readonly Issue[]): Failure {
  if (slips.length === 0) return failure
  const { issues = [] } = failure.metadata ?? {}
  return { ...failure, metadata: { ...failure.metadata, issues: [...slips, ...issues].slice(0, ISSUES_MAX) } }
}

/** Names members that Sluice does not read in a response header. @returns for a management write, members that are probably misspelled */
function takeOthers(call: RequestCall, others: readonly OtherMember[]): readonly Issue[] {
  const { operation, answered, isModelCall } = call.match.route
  if (operation.area === 'scim') return []
  const names = others.slice(0, IGNORED_NAMES_MAX).map(({ name }) => name)
  call.remarks = [isModelCall ? DROPPED_HEADER : IGNORED_HEADER, names.join(',')]
  if (answered === null) return []
  return others.flatMap(({ path, name, meant }) =>
    meant === null || answered.has(name.slice(name.lastIndexOf('.') + 1))
      ? []
      : [{ path, message: 'is not a known member', expected: `\`${meant}\`` }],
  )
}

function formOf({ match }: RequestCall): NamedForm {
  const { body } = match.route
  if (body === null) throw new Error('internal: JSON was read by an operation without a JSON body')
  return body
}

/** Null when the client sent no body. */
function bodyOfCall({ coming }: RequestCall): Body | null {
  return coming instanceof UploadBody ? null : coming
}

/**
 * Parses and validates a JSON body: at once when that is cheap, otherwise in a short job. Failures also
 * include busy and similar ones.
 * @param bytes only lent up to INLINE_JSON_BYTES_MAX; larger bodies are transferred
 */
function readJson(call: RequestCall, bytes: Uint8Array): BodyVerdict | Promise<BodyVerdict> {
  const { name, form } = formOf(call)
  const body = bodyOfCall(call)
  const input = { body: name, bytes, isOnLoop: bytes.length <= INLINE_JSON_BYTES_MAX }
  if (!input.isOnLoop) return readInJob(call, body, input)
  const verdict = call.deps.jobs.here('read_body', input)
  if (verdict.ok && verdict.source !== undefined) return withOwnBytes(verdict, verdict.source, body)
  if (verdict.ok || verdict.isForThread !== true) return verdict
  // The bytes are only lent.
  const copy = form.keeps === undefined ? bytes.slice() : (body?.kept(bytes) ?? null)
  if (copy === null) return NO_ROOM
  if (form.isSecret === true) bytes.fill(0)
  return readInJob(call, body, { body: name, bytes: copy })
}

function withOwnBytes(verdict: Verdict, { bytes, places }: KeptSource, body: Body | null): BodyVerdict {
  const own = body?.kept(bytes) ?? null
  if (own === null) return NO_ROOM
  // Built explicitly: changing an object after spreading it costs a runtime call for each change.
  return { ok: true, value: verdict.value, bulk: verdict.bulk, source: { bytes: own, places } }
}

async function readInJob(
  { key, signal, deps }: RequestCall,
  body: Body | null,
  input: ShortJobTypes['read_body']['in'],
): Promise<BodyVerdict> {
  const job = deps.jobs.run('read_body', input, {
    caller: callerOf(key),
    transfer: [input.bytes.buffer as ArrayBuffer],
    signal,
  })
  // A thread keeps the bytes until it ends, even when the client disconnects.
  body?.lend()
  try {
    const read = await job
    return read.ok ? read.value : read
  } finally {
    body?.returned()
  }
}

/** The body as its operation gets it, with its bytes if the form keeps them. */
function takenOf(call: RequestCall, verdict: Verdict): Record<string, unknown> {
  const { form } = formOf(call)
  const body = bodyOfCall(call)
  const { value, source } = verdict
  if (source === undefined || form.keeps === undefined) return bodyOf(verdict, form.bulk)
  const { names } = form.keeps
  const released = (): void => body?.release()
  const own: Record<string, unknown> = value
  own['source'] = new KeptBody(source.bytes, source.places, { names, released })
  return own
}

/** @param bulk name of the member that may have stayed bytes */
export function bodyOf({ value, bulk: large }: Verdict, bulk: string | undefined): Record<string, unknown> {
  if (large === null || bulk === undefined) return value
  return { ...value, [bulk]: new BulkBytes(large.json, large) }
}

type Verdict = Extract<BodyVerdict, { ok: true }>
type KeptSource = NonNullable<Verdict['source']>

/** Lists members of a body that Sluice does not read. */
const IGNORED_HEADER = 'x-sluice-ignored'
/** As IGNORED_HEADER, for calls to models. */
const DROPPED_HEADER = 'x-sluice-dropped'
const NO_ROOM = fail('busy', { retryAfterS: 1 })
const NOTHING = new Uint8Array(0)
