import { fail, type Failure, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import type { Repeatable } from '../../../schemas/idempotency.ts'
import { UNREAD_SMALL_BYTES } from '../../../schemas/limits/share-limits.ts'
import { limitOf, reasonOf } from '../../../schemas/requests/failure-reason.ts'
import { UNREAD } from '../../../schemas/values/unread.ts'
import type { AnyOperation, Call, HeaderName, Success } from '../../operations/define.ts'
import type { Upload } from '../../ports/byte-streams.ts'
import type { IdempotencyClaim } from '../../ports/idempotency.ts'
import type { KeyRecord } from '../../ports/keys/keys.ts'
import type { CallNotes } from '../../ports/observe.ts'
import { joinedHeaders } from '../../limits/admitted.ts'
import { compressedReply, VARIES, type CompressibleCall } from '../reply/compressed-reply.ts'
import { replyOfContent, type ContentSuccess } from '../reply/content-reply.ts'
import type { ExchangeOwner } from '../exchange-deps.ts'
import { Exchange } from '../exchange.ts'
import { NO_HEADERS, type RequestHead } from './head.ts'
import { inputNames } from './input-names.ts'
import type { IdempotentCall } from './idempotent-call.ts'
import { UNROUTED, type PipelineDeps } from './pipeline-deps.ts'
import { replyOfRelay } from '../reply/relay-reply.ts'
import { unreadBytesOf, type Reply } from '../reply/reply-body.ts'
import { replyOfFailure, replyOfSuccess, type ReplyFacts, type WholeSuccess } from '../reply/reply.ts'
import type { Body } from '../body/body.ts'
import type { UploadBody } from '../body/upload.ts'
import { isMessagesPath, isScimPath, type Routed } from './route-table.ts'
import type { WireResponse } from '../reply/wire.ts'
import { GONE, replyOfEvents } from '../reply/event-writer.ts'
import type { RelayedRequest } from '../../ports/egress/egress.ts'
import type { EventStream, EventStreamHead } from '../../ports/inference/inference.ts'

const NO_REMARKS: readonly string[] = []
const NO_EVENT = new Uint8Array(0)

/** A body that was attached in the handler and is not read yet; null when none was announced. */
export type ComingBody = Body | UploadBody | null

/** Called once, when every input of the operation is in the call. */
export type InputsTaken = (call: RequestCall, operation: AnyOperation) => void

const UNTAKEN: InputsTaken = () => undefined

/**
 * One request: the facts that the stages found, the answer, and the end, which every stage may cause. Only
 * `pipeline.ts` defines the order of the stages.
 *
 * The object is also the `Call` that the operation gets; the stages fill it.
 */
export class RequestCall implements Call, CompressibleCall, ExchangeOwner, ReplyFacts {
  readonly deps: PipelineDeps
  readonly head: RequestHead
  readonly exchange: Exchange
  readonly requestId: string
  readonly notes: CallNotes = {}
  readonly corsHeaders: readonly string[]
  limitHeaders: Readonly<Record<string, string>> | null = null
  remarks: readonly string[] = NO_REMARKS
  params: unknown = undefined
  query: unknown = undefined
  body: unknown = undefined
  upload: Upload | null = null
  relayed: RelayedRequest | null = null
  headers: Readonly<Partial<Record<HeaderName, string>>> = NO_HEADERS
  idempotency: Repeatable | null = null
  /** The operation that defines the statuses and headers of the answer; null until a route is found. */
  operation: AnyOperation | null = null
  kept: IdempotentCall | null = null
  coming: ComingBody = null
  inputsTaken = UNTAKEN
  #match: Routed | null = null
  #key: KeyRecord | null = null
  /** True when the call's use of the event loop counts for its organization. */
  isSharing = false
  /** True when it is booked at once, as use by calls to models. */
  isBooked = false
  /** Milliseconds of the event loop that were measured. */
  #loopMs = 0
  #events: EventStream | null = null
  /** Start of the current measurement; null outside of one. */
  #heldSince: number | null = null
  #ownBytes = 0
  #failure: Failure | null = null
  /** `performance.now()` of the last stage's end. */
  #lapAt: number

  constructor(deps: PipelineDeps, res: WireResponse, head: RequestHead) {
    this.deps = deps
    this.head = head
    this.requestId = head.requestId === '' ? deps.nextRequestId() : head.requestId
    this.corsHeaders = deps.cors.headersFor(head.origin)
    this.exchange = new Exchange(res, { owner: this, host: deps.host, head })
    this.#lapAt = this.exchange.time.startedAt
  }

  get match(): Routed {
    if (this.#match === null) throw new Error('route read before routing')
    return this.#match
  }

  set match(match: Routed) {
    this.#match = match
  }

  get key(): KeyRecord {
    if (this.#key === null) throw new Error('key read before the access stage')
    return this.#key
  }

  set key(key: KeyRecord) {
    this.#key = key
  }

  get operationId(): string {
    return this.operation?.id ?? UNROUTED
  }

  get startedAt(): number {
    return this.exchange.time.startedAt
  }

  get deadlineAt(): number {
    return this.exchange.time.deadlineAt
  }

  get signal(): AbortSignal {
    return this.exchange.time.signal
  }

  get hasEnded(): boolean {
    return this.exchange.time.hasEnded
  }

  get claim(): IdempotencyClaim | null {
    return this.kept?.claim ?? null
  }

  get bodySha256(): string | null {
    return this.kept?.bodySha256 ?? null
  }

  get organizationId(): string | null {
    return this.#key?.organizationId ?? null
  }

  /** False: the caller's organization has too many unread answers and must read them first. */
  get hasRoomToRead(): boolean {
    return this.#key === null || this.deps.host.unread.hasRoom(this.#key.organizationId)
  }

  get isRegional(): boolean {
    return this.deps.regional.has(this.head.host)
  }

  get isScim(): boolean {
    return isScimPath(this.head.path)
  }

  get isAnthropic(): boolean {
    return this.operation?.isAnthropic === true || isMessagesPath(this.head.path)
  }

  /** True when the answer is a failure, even if it is not sent until the idempotency key is released. */
  get hasFailed(): boolean {
    return this.#failure !== null
  }

  get lapAt(): number {
    return this.#lapAt
  }

  sent(isSent: boolean): void {
    if (this.operation?.outlivesClient === true) this.exchange.reading.hold(isSent)
  }

  limited(headers: Readonly<Record<string, string>>): void {
    this.limitHeaders = joinedHeaders(this.limitHeaders, headers)
  }

  watch(): void {
    this.exchange.reading.watch()
  }

  /** Milliseconds since the last lap, or since the call began. */
  lap(): number {
    const now = performance.now()
    const ms = now - this.#lapAt
    this.#lapAt = now
    return ms
  }

  /** Restarts the deadline: a wait that has just ended counts neither for the operation nor for a stage. */
  restartDeadline(): void {
    this.lap()
    this.exchange.time.restart(this.#lapAt)
  }

  /** Runs a part of the call and measures its time on the loop. A part within another part is counted once. */
  held(act: () => void): void {
    const isOuter = this.beginPart()
    try {
      act()
    } finally {
      if (isOuter) this.endPart()
    }
  }

  /** @returns false inside another part; the caller must not call `endPart` then */
  beginPart(): boolean {
    if (this.#heldSince !== null) return false
    this.#heldSince = performance.now()
    return true
  }

  endPart(): void {
    const ms = performance.now() - (this.#heldSince ?? Infinity)
    this.#loopMs += ms
    this.#heldSince = null
    if (this.isBooked && this.#key !== null) this.deps.budget.book(this.#key.organizationId, ms)
  }

  /** Continues at once, or when the promise settles and the client still waits for the answer. */
  after<T>(value: T | Promise<T>, next: (call: this, value: T) => void): void {
    if (value instanceof Promise) this.#afterWait(value, next)
    else next(this, value)
  }

  /** A separate function: one that contains a closure over its inputs allocates memory for them even when the closure is not created. */
  #afterWait<T>(value: Promise<T>, next: (call: this, value: T) => void): void {
    value
      .then((late) => {
        if (!this.exchange.isOver) next(this, late)
      })
      .catch((error: unknown) => this.crashed(error))
  }

  /** Ends the call in any stage. The first failure counts. */
  fail(failure: Failure): void {
    this.#failure ??= failure
    const send = (): void => this.exchange.send(replyOfFailure(failure, this.operation, this))
    const forgotten = this.#forget()
    // The key is released before the answer, so that a client which tries again finds no call in progress.
    if (forgotten === null) send()
    else void forgotten.then(send)
  }

  events({ headers, silence }: EventStreamHead): EventStream {
    this.#events = this.exchange.events(replyOfEvents(headers, this), silence)
    return this.#events ?? GONE
  }

  /** Called once, with the operation's outcome. */
  answer(operation: AnyOperation, outcome: Outcome<Success>): void {
    // The operation left its stream open: it is cut, so that the client does not take it for complete.
    if (this.#events?.isOpen === true) this.#events.breakOff(NO_EVENT)
    if (!outcome.ok) return this.#finish(() => this.fail(outcome.failure))
    const { value } = outcome
    if (value.kind === 'content') return this.#answerContent(value)
    if (value.kind === 'relay')
      return this.#finish(() => this.exchange.send(replyOfRelay(value.answer, this, this.head)))
    if (value.kind === 'streamed') return this.#finish(() => undefined)
    const { status, isList } = operation.success
    if (isList === true) return this.#answerList(operation, value)
    this.#finish(() => this.#answerWhole(operation, replyOfSuccess(value, status, this)))
  }

  #answerList(operation: AnyOperation, value: WholeSuccess): void {
    const made = this.#made(operation, value)
    const compressing = made === null ? null : compressedReply(this, operation, made)
    const send = (reply: Reply | null): void =>
      this.#finish(() => void (reply !== null && this.#answerWhole(operation, reply)))
    if (compressing === null) return send(made)
    compressing.then(send, (cause: unknown) => this.#finish(() => this.crashed(cause)))
  }

  /** Null: building the reply threw, and the call has already failed. */
  #made({ success }: AnyOperation, value: WholeSuccess): Reply | null {
    let reply: Reply | null = null
    this.held(() => {
      try {
        const whole = replyOfSuccess(value, success.status, this)
        reply = { ...whole, headers: [...whole.headers, ...VARIES] }
      } catch (cause) {
        this.crashed(cause)
      }
    })
    return reply
  }

  #finish(send: () => void): void {
    const isOuter = this.beginPart()
    try {
      send()
    } catch (error) {
      this.crashed(error)
    } finally {
      if (isOuter) this.endPart()
    }
    // The client may take minutes to read a reply, which does not need the request's data.
    this.body = undefined
    this.upload = this.relayed = null
    this.#leaveLoop()
    this.exchange.rest()
  }

  /** Sends an answer that no operation made, and adds the request id. */
  send(reply: Reply): void {
    this.exchange.send({ ...reply, headers: [...reply.headers, 'x-request-id', this.requestId] })
  }

  expired(): void {
    this.fail({ name: 'deadline_exceeded' })
  }

  drained(): void {
    this.fail({ name: 'draining' })
  }

  broken(failure: Failure): void {
    this.#failure ??= failure
  }

  crashed(cause: unknown): void {
    this.fail({ name: 'internal', cause })
  }

  settled(): void {
    const { exchange } = this
    const failure = this.#failure
    void this.#forget()
    this.#leaveLoop()
    this.deps.observer.settled({
      operation: this.operationId,
      requestId: this.requestId,
      status: exchange.status,
      failure: this.#failureName(),
      cause: failure?.cause,
      reason: failure === null ? undefined : () => reasonOf(failure, inputNames()),
      isClientGone: exchange.isClientGone,
      startedAt: exchange.time.startedAt,
      durationMs: performance.now() - exchange.time.startedAt,
      organizationId: this.organizationId,
      workspaceId: this.#key?.workspaceId ?? null,
      keyHash: this.#key?.hash ?? null,
      limits: this.#key?.money ?? null,
      limit: failure === null ? null : limitOf(failure),
      askedModel: failure?.askedModel,
      requestBytes: this.head.declared,
      replyBytes: exchange.bytes,
      traceparent: this.head.kept('traceparent'),
      notes: this.notes,
    })
  }

  /** Ends the call's use of the loop in the account of its organization, once, if it was begun. */
  #leaveLoop(): void {
    if (!this.isSharing || this.#key === null) return
    this.isSharing = false
    const heldMs = this.#heldSince === null ? 0 : performance.now() - this.#heldSince
    this.deps.loop.leave(this.#key.organizationId, { loopMs: this.#loopMs + heldMs, bytes: this.#ownBytes })
  }

  /**
   * Answers of reads, which can be repeated, are dropped while the caller's organization has too many unread
   * answers; all other answers are sent, since their calls may have been paid for.
   */
  #answerWhole({ method }: AnyOperation, reply: Reply): void {
    if (method !== 'get') return this.exchange.send(reply)
    this.#ownBytes = unreadBytesOf(reply)
    if (this.#ownBytes <= UNREAD_SMALL_BYTES || this.hasRoomToRead) return this.exchange.send(reply)
    reply.done?.()
    this.fail(UNREAD)
  }

  #answerContent(success: ContentSuccess): void {
    const threw = (cause: unknown): Outcome<never> => fail('internal', { cause })
    void replyOfContent(success, this, this.head)
      .catch(threw)
      .then((reply) => {
        if (reply.ok) this.exchange.send(reply.value)
        else this.fail(reply.failure)
        // The client may take minutes to read it.
        this.#leaveLoop()
        this.exchange.rest()
      })
  }

  /** @returns null when this call holds no idempotency key */
  #forget(): Promise<void> | null {
    const forgotten = this.kept?.drop() ?? null
    return (
      forgotten?.catch((cause: unknown) =>
        this.deps.observer.log.error('idempotency.forget_failed', { cause }),
      ) ?? null
    )
  }

  #failureName(): FailureName | null {
    if (this.#failure !== null) return this.#failure.name
    return this.exchange.isClientGone ? 'client_gone' : null
  }
}
