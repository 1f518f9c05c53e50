import { fail, ok, type Failure, type FailureName, type Outcome } from '../../schemas/failures.ts'
import type { Repeatable } from '../../schemas/idempotency.ts'
import { IDEMPOTENCY_WAIT_MS_MAX } from '../../schemas/limits.ts'
import { placeRefusal, writesRefusal } from '../access/gates.ts'
import type { Admitted } from '../limits/replies.ts'
import type { AnyOperation, Call, HeaderName, Success } from '../operations/define.ts'
import type { Upload } from '../ports/byte-streams.ts'
import type { Turn } from '../ports/idempotency.ts'
import type { RelayedRequest } from '../ports/relay.ts'
import type { KeyRecord } from '../ports/keys.ts'
import type { CallNotes } from '../ports/observe.ts'
import { replyOfContent, type ContentSuccess } from './content-reply.ts'
import { bodyOf, contentRefusal, credentialOf, declaredHeaders, NO_HEADERS, refusedCredential } from './inputs.ts'
import type { Body } from './body.ts'
import type { ExchangeOwner } from './exchange-parts.ts'
import { Exchange } from './exchange.ts'
import type { Head } from './head.ts'
import { KeptCall, repeatableOf } from './kept-call.ts'
import { UNROUTED, type PipelineParts } from './pipeline-parts.ts'
import { parseQuery, type UrlReader } from './query.ts'
import { readJson } from './read-json.ts'
import { relayedOf, replyOfRelay } from './relay-reply.ts'
import type { Reply } from './reply-body.ts'
import { replyOfFailure, replyOfSuccess, statusLine, type ReplyFacts } from './reply.ts'
import { ALLOWED_BY_ANY, type Match, type NamedForm, type Route, type Routed } from './route-table.ts'
import { uploadBytesMax, uploadOf, type UploadBody } from './upload.ts'
import type { WireResponse } from './wire.ts'

/**
 * One request on its way through the stages, whose order stands here and nowhere else (style §2):
 * access → limits → validation (line and headers → turn → body) → operation → reply → settle.
 *
 * It is also the `Call` that the operation sees. Each stage goes on by a plain call while its answer is at hand (a
 * known key, a purse with tokens, a body that came with the headers), and by a promise only when it must wait.
 */
export class ServedCall implements Call, ExchangeOwner, ReplyFacts {
  readonly requestId: string
  readonly notes: CallNotes = {}
  readonly corsHeaders: readonly string[]
  limitHeaders: Readonly<Record<string, string>> | null = null
  params: unknown = undefined
  query: unknown = undefined
  body: unknown = undefined
  upload: Upload | null = null
  relayed: RelayedRequest | null = null
  headers: Readonly<Partial<Record<HeaderName, string>>> = NO_HEADERS
  idempotency: Repeatable | null = null
  readonly #parts: PipelineParts
  readonly #exchange: Exchange
  readonly #head: Head
  #operation: AnyOperation | null = null
  #key: KeyRecord | null = null
  #body: Body | null = null
  #incoming: UploadBody | null = null
  #kept: KeptCall | null = null
  #failure: Failure | null = null
  /** `performance.now()` of the last stage's end. */
  #lapAt: number

  constructor(parts: PipelineParts, res: WireResponse, head: Head) {
    this.#parts = parts
    this.#head = head
    this.requestId = head.requestId === '' ? parts.nextRequestId() : head.requestId
    this.corsHeaders = parts.cors.headersFor(head.origin)
    this.#exchange = new Exchange(res, { owner: this, host: parts.host, head })
    this.#lapAt = this.#exchange.startedAt
  }

  get key(): KeyRecord {
    if (this.#key === null) throw new Error('a stage before access asked for the key')
    return this.#key
  }

  get startedAt(): number {
    return this.#exchange.startedAt
  }

  get deadlineAt(): number {
    return this.#exchange.deadlineAt
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }

  get turn(): Turn | null {
    return this.#kept?.turn ?? null
  }

  /** Only in the handler's synchronous part. */
  start(): void {
    try {
      const match = this.#parts.table.find(this.#head.method, this.#head.path)
      if (match.kind === 'route' || match.kind === 'undecodable') this.#begin(match)
      else this.#withoutRoute(match)
    } catch (error) {
      this.crashed(error)
    }
  }

  expired(): void {
    this.#fail({ name: 'deadline_exceeded' })
  }

  drained(): void {
    this.#fail({ name: 'draining' })
  }

  broken(failure: Failure): void {
    this.#failure ??= failure
  }

  crashed(cause: unknown): void {
    this.#fail({ name: 'internal', cause })
  }

  settled(): void {
    const exchange = this.#exchange
    void this.#forget()
    this.#parts.observer.settled({
      operation: this.#operation?.id ?? UNROUTED,
      requestId: this.requestId,
      status: exchange.status,
      failure: this.#failureName(),
      cause: this.#failure?.cause,
      isClientGone: exchange.isClientGone,
      durationMs: performance.now() - exchange.startedAt,
      workspaceId: this.#key?.workspaceId ?? null,
      keyHash: this.#key?.hash ?? null,
      traceparent: this.#head.kept('traceparent'),
      notes: this.notes,
    })
  }

  #begin(match: Routed): void {
    const { route } = match
    const { operation } = route
    // A browser asks ahead without the key, and asks us, whoever is to answer what follows.
    if (operation.method === 'any' && this.#parts.cors.isPreflight(this.#head)) return this.#preflight(ALLOWED_BY_ANY)
    this.#operation = operation
    this.#exchange.limit(operation.deadlineMs)
    // The library drops a body that nobody listens for by the end of the handler.
    const { upload } = operation.input
    if (upload !== undefined) this.#incoming = this.#exchange.receiveUpload(uploadBytesMax(upload))
    const hasBody = upload === undefined && this.#head.declared !== 0
    const body = hasBody ? this.#exchange.receive(route.body?.form.bytesMax ?? 0) : null
    this.#after(this.#parts.access.authenticate(credentialOf(operation, this.#head)), (known) => {
      this.notes.authMs = this.#lap()
      const refusal = known.ok ? this.#parts.access.checkKind(operation, known.value) : refusedCredential(operation, known.failure)
      if (known.ok) this.#key = known.value
      if (refusal !== null) return this.#fail(refusal)
      this.#exchange.letIn()
      this.#enter(match, () => this.#limit(() => this.#validateUrl(match, body), route))
    })
  }

  /** What the key may reach, from the head alone: programme, hostname, scope, writes. B1.4. */
  #enter({ route, params }: Routed, next: () => void): void {
    const { operation } = route
    const refusal = placeRefusal(operation, this.key, () => this.#parts.regional.has(this.#head.host))
    if (refusal !== null) return this.#fail(refusal)
    const enterWriting = (): void => {
      const closed = writesRefusal(operation, this.key)
      if (closed === null) next()
      else this.#fail(closed)
    }
    const { scope } = operation.access
    if (scope === undefined) return enterWriting()
    const param = (name: string): string | null => params.get(name)?.[0] ?? null
    this.#after(scope({ key: this.key, param }, this.#parts.ports), (found) => {
      this.notes.authMs = (this.notes.authMs ?? 0) + this.#lap()
      if (found.ok) enterWriting()
      else this.#fail(found.failure)
    })
  }

  #limit(next: () => void, route: Route): void {
    if (!route.isLimited) return next()
    this.#after(this.#parts.admission.admit(this.key), (admitted: Admitted) => {
      this.notes.limitsMs = this.#lap()
      this.limitHeaders = admitted.headers
      if (admitted.failure !== null) return this.#fail(admitted.failure)
      next()
    })
  }

  #validateUrl({ kind, route, params }: Routed, body: Body | null): void {
    if (kind === 'undecodable') {
      return this.#fail({ name: 'params_invalid', detail: 'A percent-encoding in it is not UTF-8.' })
    }
    if (route.params !== null && !this.#takeUrl('params', route.params, params)) return
    if (route.query !== null) {
      const query = parseQuery(this.#head.query)
      if (query === null) return this.#fail({ name: 'query_invalid', detail: 'A percent-encoding in it is not UTF-8.' })
      if (!this.#takeUrl('query', route.query, query)) return
    }
    const wanted = route.operation.input.headers
    if (wanted !== undefined) this.headers = declaredHeaders(wanted, this.#head)
    this.#takeTurn(route.operation, () => this.#takeBody(route, body))
  }

  /** Where answers are kept a repetition waits here for the first call, its body unread. C16. */
  #takeTurn(operation: AnyOperation, next: () => void): void {
    if (operation.idempotent === undefined) return next()
    const read = repeatableOf(operation, this, this.#head)
    if (!read.ok) return this.#fail(read.failure)
    this.idempotency = read.value
    if (read.value === null || operation.idempotent === 'own') return next()
    // The time of the first call is not this one's.
    this.#exchange.allow(IDEMPOTENCY_WAIT_MS_MAX)
    this.#after(KeptCall.begin(this.#parts.ports.idempotency, read.value, this), (begun) => {
      if (!begun.ok) return this.#fail(begun.failure)
      this.#kept = begun.value
      this.#lap()
      this.#exchange.restartDeadline(this.#lapAt)
      next()
    })
  }

  #takeBody(route: Route, body: Body | null): void {
    if (this.#incoming !== null) return this.#takeUpload(route.operation, this.#incoming)
    const form = route.body
    if (form === null) {
      const compared = this.#kept?.checkBody()
      if (compared?.ok === false) return this.#fail(compared.failure)
      this.notes.validateMs = this.#lap()
      return this.#run(route.operation)
    }
    const refusal = contentRefusal(this.#head)
    if (refusal !== null) return this.#fail(refusal)
    if (body === null) return this.#readBody(route.operation, form, ok(NOTHING))
    this.#body = body
    body.admit(this.key.hash, (received) => this.#readBody(route.operation, form, received), this.#lapAt)
  }

  #takeUpload(operation: AnyOperation, body: UploadBody): void {
    const kind = operation.input.upload ?? 'raw'
    if (kind === 'whole') this.relayed = relayedOf(this.#head, body)
    else {
      const upload = uploadOf(kind, this.#head, body)
      if (!upload.ok) return this.#fail(upload.failure)
      this.upload = upload.value
    }
    this.notes.validateMs = this.#lap()
    this.#run(operation)
  }

  #takeUrl(part: 'params' | 'query', reader: UrlReader, texts: ReadonlyMap<string, readonly string[]>): boolean {
    const read = reader.read(texts)
    if (read.ok) this[part] = read.value
    else this.#fail(read.failure)
    return read.ok
  }

  #readBody(operation: AnyOperation, form: NamedForm, received: Outcome<Uint8Array>): void {
    if (!received.ok) return this.#fail(received.failure)
    // The time until the body came is nobody's stage.
    this.#lap()
    this.#exchange.restartDeadline(this.#lapAt)
    const bytes = received.value
    if (this.#kept === null) return this.#parseBody(operation, form, bytes)
    const kept = this.#kept
    this.#after(kept.takeBody(bytes), () => {
      const compared = kept.checkBody()
      if (compared.ok) this.#parseBody(operation, form, bytes)
      else this.#fail(compared.failure)
    })
  }

  #parseBody(operation: AnyOperation, { name, form }: NamedForm, bytes: Uint8Array): void {
    this.#after(readJson(this.#parts.jobs, { name, bytes, body: this.#body, call: this }), (verdict) => {
      this.notes.validateMs = this.#lap()
      if (!verdict.ok) return this.#fail(verdict.failure)
      this.body = bodyOf(verdict, form.bulk)
      this.#run(operation)
    })
  }

  #run(operation: AnyOperation): void {
    this.#exchange.work(operation.outlivesClient)
    try {
      // The shapes that `run` was typed by are the ones that the stages before just checked.
      const run = () => operation.run(this as never, this.#parts.ports)
      const outcome = this.#kept === null ? run() : this.#kept.run(run)
      if (!(outcome instanceof Promise)) return this.#answer(operation, outcome)
      const threw = (cause: unknown): void => this.#answer(operation, fail('internal', { cause }))
      outcome.then((late) => this.#answer(operation, late), threw)
    } catch (cause) {
      this.#answer(operation, fail('internal', { cause }))
    }
  }

  #answer(operation: AnyOperation, outcome: Outcome<Success>): void {
    try {
      if (!outcome.ok) this.#fail(outcome.failure)
      else if (outcome.value.kind === 'content') return this.#answerContent(outcome.value)
      else if (outcome.value.kind === 'relay') this.#exchange.send(replyOfRelay(outcome.value.answer, this, this.#head))
      else this.#exchange.send(replyOfSuccess(outcome.value, operation.success.status, this))
    } catch (error) {
      this.crashed(error)
    }
    // A reply may take minutes to be read, and nobody needs the request for that.
    this.body = undefined
    this.upload = this.relayed = null
    this.#exchange.rest()
  }

  #answerContent(success: ContentSuccess): void {
    const threw = (cause: unknown): Outcome<never> => fail('internal', { cause })
    void replyOfContent(success, this, this.#head).catch(threw).then((reply) => {
      if (reply.ok) this.#exchange.send(reply.value)
      else this.#fail(reply.failure)
      this.#exchange.rest()
    })
  }

  #fail(failure: Failure): void {
    this.#failure ??= failure
    const send = (): void => this.#exchange.send(replyOfFailure(failure, this.#operation, this))
    const forgotten = this.#forget()
    // Who then tries again finds no call that runs.
    if (forgotten === null) send()
    else void forgotten.then(send)
  }

  /** @returns null when this call has no turn that it must give up */
  #forget(): Promise<void> | null {
    const forgotten = this.#kept?.drop() ?? null
    return forgotten?.catch((cause: unknown) => this.#parts.observer.log.error('idempotency.forget_failed', { cause })) ?? null
  }

  /** Preflights, pages of ours, and what leads nowhere. */
  #withoutRoute(match: Exclude<Match, Routed>): void {
    if (this.#head.declared !== 0) this.#exchange.receive(0)
    if (match.kind === 'wrong_method') {
      if (this.#parts.cors.isPreflight(this.#head)) return this.#preflight(match.allowed)
      // Its answers say whose they are.
      if (match.route !== undefined) this.#operation = match.route.operation
      return this.#fail({ name: 'method_not_allowed', fields: { allowed: match.allowed.join(', ') } })
    }
    if (match.kind === 'not_served') {
      return this.#fail({ name: 'not_served', fields: { what: match.what, instead: match.instead } })
    }
    const page = this.#parts.site.find(this.#head)
    if (page === null) return this.#fail({ name: 'route_unknown' })
    this.#after(page, (found) => {
      if (!found.ok) return this.#fail(found.failure)
      const reply = found.value
      const headers = [...reply.headers, ...this.corsHeaders]
      this.#send({ ...reply, statusLine: statusLine(reply.status), headers })
    })
  }

  #preflight(allowed: readonly string[]): void {
    const headers = this.#parts.cors.preflightHeaders(this.#head, allowed)
    this.#send({ status: NO_CONTENT, statusLine: statusLine(NO_CONTENT), headers, body: null })
  }

  #send(reply: Reply): void {
    this.#exchange.send({ ...reply, headers: [...reply.headers, 'x-request-id', this.requestId] })
  }

  #failureName(): FailureName | null {
    if (this.#failure !== null) return this.#failure.name
    return this.#exchange.isClientGone ? 'client_gone' : null
  }

  /** Milliseconds since the last lap, or since the call began. */
  #lap(): number {
    const now = performance.now()
    const ms = now - this.#lapAt
    this.#lapAt = now
    return ms
  }

  /** Goes on at once, or when the promise settles and somebody still waits for the answer. */
  #after<T>(value: T | Promise<T>, next: (value: T) => void): void {
    if (!(value instanceof Promise)) return next(value)
    value.then((late) => {
      if (!this.#exchange.isOver) next(late)
    }).catch((error: unknown) => this.crashed(error))
  }
}

const NO_CONTENT = 204
const NOTHING = new Uint8Array(0)
