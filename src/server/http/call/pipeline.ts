import { fail, type Outcome } from '../../../schemas/failures.ts'
import { UNREAD } from '../../../schemas/values/unread.ts'
import type { Admitted } from '../../limits/admitted.ts'
import type { AnyOperation } from '../../operations/define.ts'
import type { KeyRecord } from '../../ports/keys/keys.ts'
import { credentialOf, refusedCredential, type RequestHead } from './head.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { ALLOWED_BY_ANY, type Route, type Routed } from './route-table.ts'
import { RequestCall, type ComingBody } from './request-call.ts'
import { takeInputs } from './take-inputs.ts'
import { answerPreflight, answerUnrouted } from './unrouted.ts'
import { uploadBytesMax } from '../body/upload.ts'
import type { WireResponse } from '../reply/wire.ts'
import { placeRefusal, writesRefusal } from '../../access/access.ts'

/**
 * Takes one request through the stages: route → access → unread answers → place, scope, writes → limits or
 * share → inputs → operation → reply → settle. Their order is defined only here, and the order of the inputs
 * only in `take-inputs.ts`.
 *
 * Each stage continues by a plain call if its result is available at once (a cached key, a lease with tokens,
 * a body that arrived with the headers), and by a promise only when it must wait. Called only in the
 * synchronous part of the handler.
 */
export function serve(deps: PipelineDeps, res: WireResponse, head: RequestHead): void {
  const call = new RequestCall(deps, res, head)
  try {
    const match = deps.table.find(head.method, head.path)
    if (match.kind === 'route' || match.kind === 'undecodable') begin(call, match)
    else answerUnrouted(call, match)
    call.exchange.awaitAnswer()
  } catch (error) {
    call.crashed(error)
  }
}

function begin(call: RequestCall, match: Routed): void {
  const { deps, head, exchange } = call
  const { route } = match
  const { operation } = route
  // A browser sends its preflight without the key. Sluice answers it, even if another server answers the calls
  // that follow.
  if (operation.method === 'any' && deps.cors.isPreflight(head)) return answerPreflight(call, ALLOWED_BY_ANY)
  call.operation = operation
  call.match = match
  exchange.time.limit(operation.deadlineMs)
  call.coming = attachBody(call, route)
  if (deps.host.isOutOfTime) return call.fail({ name: 'draining' })
  call.after(deps.access.authenticate(credentialOf(operation, head)), authenticated)
}

/* The stages that may wait take the call and what they waited for: a closure for each stage would cost a kilobyte of garbage for each call. */

function authenticated(call: RequestCall, known: Outcome<KeyRecord>): void {
  const { deps, match } = call
  const { operation } = match.route
  call.notes.authMs = call.lap()
  const refusal = known.ok
    ? deps.access.checkKey(operation, known.value)
    : refusedCredential(operation, known.failure, call.head)
  if (known.ok) call.key = known.value
  if (refusal !== null) return call.fail(refusal)
  call.exchange.letIn()
  deps.loop.saw(call.key.organizationId)
  deps.budget.saw(call.key.organizationId)
  if (mayHold(operation) && !call.hasRoomToRead) return call.fail(UNREAD)
  enter(call, match)
}

/**
 * Whether the answer may be large. Operations that change or end something run despite unread answers, so that
 * a key whose client does not read can be revoked.
 */
function mayHold({ method }: AnyOperation): boolean {
  return method === 'get' || method === 'post' || method === 'any'
}

/** The library drops a body without a listener at the end of the handler. */
function attachBody({ exchange, head }: RequestCall, { operation, body }: Route): ComingBody {
  const { upload } = operation.input
  if (upload !== undefined) return exchange.receiveUpload(uploadBytesMax(upload))
  return head.declared === 0 ? null : exchange.receive(body?.form.bytesMax ?? 0)
}

/** The rights of the key, before the body is read: program, hostname, scope, writes. */
function enter(call: RequestCall, { route }: Routed): void {
  const { operation } = route
  const { key } = call
  const refusal = placeRefusal(operation, key, call)
  if (refusal !== null) return call.fail(refusal)
  const { scope } = operation.access
  if (scope === undefined) enterWriting(call)
  else enterScope(call, scope)
}

function enterScope(call: RequestCall, scope: Scope): void {
  const { key, deps, match } = call
  const param = (name: string): string | null => match.params.get(name)?.[0] ?? null
  call.after(scope({ key, param }, deps.ports), scoped)
}

type Scope = NonNullable<AnyOperation['access']['scope']>

function scoped(call: RequestCall, found: Outcome<unknown>): void {
  call.notes.authMs = (call.notes.authMs ?? 0) + call.lap()
  if (found.ok) enterWriting(call)
  else call.fail(found.failure)
}

function enterWriting(call: RequestCall): void {
  const { route } = call.match
  const closed = writesRefusal(route.operation, call.key)
  if (closed !== null) return call.fail(closed)
  if (!route.isLimited) return share(call)
  call.after(call.deps.admission.admit(call.key), admitted)
}

function admitted(call: RequestCall, { failure, headers }: Admitted): void {
  call.notes.limitsMs = call.lap()
  call.limitHeaders = headers
  if (failure !== null) return call.fail(failure)
  if (!call.match.route.isModelCall) return takeInputs(call, run)
  call.isBooked = true
  const turn = call.deps.budget.enter(call.key.organizationId)
  if (turn === null) takeInputs(call, run)
  else call.after(turn, letIn)
}

/** Continues a call to a model that had to wait: the wait does not count toward its times. */
function letIn(call: RequestCall): void {
  call.restartDeadline()
  takeInputs(call, run)
}

/** An operation without a rate limit waits when its organization has used more of the front than its share. */
function share(call: RequestCall): void {
  const { loop } = call.deps
  const { organizationId } = call.key
  const turn = loop.enter(organizationId)
  if (turn === null) return shared(call)
  // If a call ended during its wait, its place is passed on to the next call.
  void turn.then(() => {
    if (call.exchange.isOver) loop.leave(organizationId, { loopMs: 0, bytes: 0 })
  })
  call.after(turn, () => {
    call.notes.limitsMs = call.lap()
    call.restartDeadline()
    shared(call)
  })
}

function shared(call: RequestCall): void {
  call.isSharing = true
  call.held(() => takeInputs(call, run))
}

function run(call: RequestCall, operation: AnyOperation): void {
  if (operation.outlivesClient) call.exchange.afterRead(() => work(call, operation))
  else work(call, operation)
}

function work(call: RequestCall, operation: AnyOperation): void {
  const { exchange, kept, deps } = call
  // The call may have failed while its body arrived, for example because the node drains: its client has been
  // notified and will retry.
  if (call.hasFailed) return
  exchange.work(operation.outlivesClient)
  try {
    // The earlier stages have just checked the shapes by which `run` is typed.
    const outcome =
      kept === null
        ? operation.run(call as never, deps.ports)
        : kept.run(() => operation.run(call as never, deps.ports))
    if (!(outcome instanceof Promise)) return call.answer(operation, outcome)
    const threw = (cause: unknown): void => call.answer(operation, fail('internal', { cause }))
    outcome.then((late) => call.answer(operation, late), threw)
  } catch (cause) {
    call.answer(operation, fail('internal', { cause }))
  }
}
