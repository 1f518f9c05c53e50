import { BulkBytes } from '../../../schemas/bodies.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { KeptBody } from '../../../schemas/kept-body.ts'
import { IDEMPOTENCY_WAIT_MS_MAX } from '../../../schemas/limits/idempotency-limits.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import type { AnyOperation } from '../../operations/define.ts'
import type { BodyVerdict, ShortJobTypes } from '../../ports/short-jobs.ts'
import type { Body } from '../body/body.ts'
import { contentRefusal, declaredHeaders } from './head.ts'
import { IdempotentCall, repeatableOf } from './idempotent-call.ts'
import { parseQuery, type UrlReader } from './query.ts'
import { relayedOf } from '../reply/relay-reply.ts'
import type { NamedForm, Route, Routed } from './route-table.ts'
import type { RequestCall } from './request-call.ts'
import { UploadBody, uploadOf } from '../body/upload.ts'

/** A body that was attached in the handler and does not flow yet; null when none was announced. */
export type ComingBody = Body | UploadBody | null

/** Called once, when every input of the operation is in the call. */
export type InputsTaken = (call: RequestCall, operation: AnyOperation) => void

/**
 * The stage of validation: reads the declared inputs of the operation from the request into the call, and
 * nothing else. The line and the headers come first, since they cost least; the body waits until a repeatable
 * call has claimed its key (C16). An invalid input ends the call here.
 */
export function takeInputs(call: RequestCall, match: Routed, coming: ComingBody, taken: InputsTaken): void {
  const { route } = match
  if (!takeLine(call, match)) return
  const wanted = route.operation.input.headers
  if (wanted !== undefined) call.headers = declaredHeaders(wanted, call.head)
  const refusal = announcedRefusal(call, route, coming)
  if (refusal !== null) return call.fail(refusal)
  takeTurn(call, route.operation, () => takeBody(call, route, coming, taken))
}

/** @returns whether the call goes on */
function takeLine(call: RequestCall, { kind, route, params }: Routed): boolean {
  if (kind === 'undecodable') {
    call.fail({ name: 'params_invalid', detail: 'A percent-encoding in it is not UTF-8.' })
    return false
  }
  if (route.params !== null && !takeUrl(call, 'params', route.params, params)) return false
  if (route.query === null) return true
  const query = parseQuery(call.head.query)
  if (query !== null) return takeUrl(call, 'query', route.query, query)
  call.fail({ name: 'query_invalid', detail: 'A percent-encoding in it is not UTF-8.' })
  return false
}

type UrlTexts = ReadonlyMap<string, readonly string[]>

function takeUrl(call: RequestCall, part: 'params' | 'query', reader: UrlReader, texts: UrlTexts): boolean {
  const read = reader.read(texts)
  if (read.ok) call[part] = read.value
  else call.fail(read.failure)
  return read.ok
}

/**
 * Faults of a JSON body that the head shows are decided before the wait for the key, which may be long. C38.
 */
function announcedRefusal({ head }: RequestCall, { body: form }: Route, coming: ComingBody): Failure | null {
  if (form === null || coming instanceof UploadBody) return null
  return contentRefusal(head) ?? coming?.refusal ?? null
}

/**
 * For operations whose answers are kept: a repeated call waits here for the first call, with its body unread.
 * C16.
 */
function takeTurn(call: RequestCall, operation: AnyOperation, next: () => void): void {
  if (operation.idempotent === undefined) return next()
  const read = repeatableOf(operation, call, call.head)
  if (!read.ok) return call.fail(read.failure)
  call.idempotency = read.value
  if (read.value === null || operation.idempotent === 'own') return next()
  // The time of the first call does not count for this call.
  call.exchange.time.allow(IDEMPOTENCY_WAIT_MS_MAX)
  call.after(IdempotentCall.begin(call.deps.ports.idempotency, read.value, call), (begun) => {
    if (!begun.ok) return call.fail(begun.failure)
    call.kept = begun.value
    call.restartDeadline()
    next()
  })
}

function takeBody(call: RequestCall, route: Route, coming: ComingBody, taken: InputsTaken): void {
  const { operation, body: form } = route
  if (coming instanceof UploadBody) return takeUpload(call, operation, coming, taken)
  if (form === null) {
    const compared = call.kept?.checkBody()
    if (compared?.ok === false) return call.fail(compared.failure)
    call.notes.validateMs = call.lap()
    return taken(call, operation)
  }
  const json: JsonInput = { operation, form, body: coming, taken }
  if (coming === null) return readBody(call, json, ok(NOTHING))
  coming.admit(callerOf(call.key), (received) => readBody(call, json, received), call.lapAt)
}

function takeUpload(call: RequestCall, operation: AnyOperation, body: UploadBody, taken: InputsTaken): void {
  const kind = operation.input.upload ?? 'raw'
  if (kind === 'whole') call.relayed = relayedOf(call.head, body)
  else {
    const upload = uploadOf(kind, call.head, body)
    if (!upload.ok) return call.fail(upload.failure)
    call.upload = upload.value
  }
  call.notes.validateMs = call.lap()
  taken(call, operation)
}

interface JsonInput {
  readonly operation: AnyOperation
  readonly form: NamedForm
  /** Null when the client sent no body. */
  readonly body: Body | null
  readonly taken: InputsTaken
}

function readBody(call: RequestCall, json: JsonInput, received: Outcome<Uint8Array>): void {
  if (!received.ok) return call.fail(received.failure)
  call.restartDeadline()
  const bytes = received.value
  const { kept } = call
  if (kept === null) return parseBody(call, json, bytes)
  call.after(kept.takeBody(bytes), () => {
    const compared = kept.checkBody()
    if (compared.ok) parseBody(call, json, bytes)
    else call.fail(compared.failure)
  })
}

function parseBody(call: RequestCall, json: JsonInput, bytes: Uint8Array): void {
  call.after(readJson(call, json, bytes), (verdict) => {
    call.notes.validateMs = call.lap()
    if (!verdict.ok) return call.fail(verdict.failure)
    call.body = takenOf(verdict, json)
    json.taken(call, json.operation)
  })
}

/**
 * Parses and validates a JSON body: at once when that is cheap, otherwise in a short job. Failures: also busy
 * and its kin.
 * @param bytes only lent up to INLINE_JSON_BYTES_MAX; larger bodies are moved away
 */
function readJson(
  call: RequestCall,
  { form: { name, form }, body }: JsonInput,
  bytes: Uint8Array,
): BodyVerdict | Promise<BodyVerdict> {
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
  // Objects that are spread and then changed cost a call of the runtime for each change.
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
  // A thread that has the bytes keeps them until its end, even when the client leaves.
  body?.lend()
  try {
    const read = await job
    return read.ok ? read.value : read
  } finally {
    body?.returned()
  }
}

/** The body as its operation sees it, with its bytes where the form keeps them. */
function takenOf(verdict: Verdict, { form: { form }, body }: JsonInput): Record<string, unknown> {
  const { value, source } = verdict
  if (source === undefined || form.keeps === undefined) return bodyOf(verdict, form.bulk)
  const { names } = form.keeps
  const released = (): void => body?.release()
  const taken: Record<string, unknown> = value
  taken['source'] = new KeptBody(source.bytes, source.places, { names, released })
  return taken
}

/** @param bulk name of the member that may have stayed bytes */
export function bodyOf({ value, bulk: large }: Verdict, bulk: string | undefined): Record<string, unknown> {
  if (large === null || bulk === undefined) return value
  const { json, kind, count } = large
  return { ...value, [bulk]: new BulkBytes(json, kind, count) }
}

type Verdict = Extract<BodyVerdict, { ok: true }>
type KeptSource = NonNullable<Verdict['source']>

const NO_ROOM = fail('busy', { retryAfterS: 1 })
const NOTHING = new Uint8Array(0)
