/** The generator's own process: runs one plan, received by IPC, and answers with its results. */
import { LoadConnection, type LoadOutcome } from './load-connection.ts'
import { latencies, latencyOf, latenessOf, noteMs } from './load-latency.ts'
import { monotonicMs, type LoadPlan, type LoadResult, type LoadRow, type LoadSocket } from './load-plan.ts'
import { requestWriter, type RequestWriter } from './load-request.ts'

const FAILURES_KEPT = 20
/**
 * A connection that has rested longer is not used again: servers end theirs after some seconds, and a request
 * may meet that end. As undici does.
 */
const REST_MS_MAX = 4_000
const LONGEST_TIMER_MS = 2 ** 31 - 1
const REOPEN_MS = 5
/** Under a highest rate, after a connection that answered nothing: the server may be ill, and is not ours. */
const REOPEN_GENTLY_MS = 1_000
/** Of an open pace: how often what is due is sent. */
const TICK_MS = 1
/** A request that starts so soon counts from its start: timers are no finer, and the server is not late. */
const TICK_LATE_MS = 1.5
const DRAIN_MS = 5_000

class Load {
  readonly #plan: LoadPlan
  readonly #requests: readonly RequestWriter[]
  readonly #slots: Slot[] = []
  /** When each request was due that no connection was free for. */
  readonly #waiting: number[] = []
  readonly #fromDue = latencies()
  readonly #fromSent = latencies()
  readonly #late = latencies()
  readonly #statuses: Record<number, number> = {}
  readonly #failures: string[] = []
  readonly #sockets: LoadSocket[] = []
  readonly #rows: LoadRow[] = []
  readonly #measureFrom: number
  readonly #endsAt: number
  #answerBytes = 0
  #sentBytes = 0
  #requestsWithWarmUp = 0
  #cpuAtStart = process.cpuUsage()
  #finish: ((result: LoadResult) => void) | null = null
  #isStopping = false
  #turn = 0
  /** Under a highest rate: when the next turn is. */
  #freeAt = 0
  /**
   * Of an open pace under a highest rate: when each of the last requests was sent, as many as a second may
   * have.
   */
  readonly #sentAt: number[] = []
  #sent = 0
  /** By slot: the earliest time of its next request, by Retry-After. */
  readonly #quietUntil = new Map<number, number>()
  #unsent = 0
  #lastAt = 0
  /** Of the open pace: when its first request was due, and how many have fallen due. */
  readonly #began: number
  #noticed = 0

  constructor(plan: LoadPlan) {
    this.#plan = plan
    const authority = plan.origin?.authority ?? `${plan.host}:${plan.port}`
    this.#requests = plan.requests.map((request) => requestWriter(request, authority))
    const now = monotonicMs()
    this.#began = now
    this.#measureFrom = now + (plan.warmUpMs ?? 0)
    this.#endsAt = this.#measureFrom + plan.durationMs
    for (let index = 0; index < plan.connections; index++) this.#slots.push(this.#open(index))
  }

  /** Resolves when the plan's time is over, or `stop` was called, and what is in flight has ended. */
  async run(): Promise<LoadResult> {
    setTimeout(
      () => {
        this.#cpuAtStart = process.cpuUsage()
      },
      Math.max(0, this.#measureFrom - monotonicMs()),
    )
    setTimeout(() => this.stop(), Math.max(0, this.#endsAt - monotonicMs()))
    const { pace } = this.#plan
    if (pace.kind === 'open') this.#keepRate()
    const timeoutMs = this.#plan.answerTimeoutMs ?? 30_000
    const watch = setInterval(() => this.#dropSilent(monotonicMs() - timeoutMs), 100)
    const result = await new Promise<LoadResult>((resolve) => {
      this.#finish = resolve
    })
    clearInterval(watch)
    return result
  }

  stop(): void {
    // What fell due since the last tick is part of the rate.
    if (!this.#isStopping) this.#sendDue()
    this.#isStopping = true
    setTimeout(() => this.#giveUp(), this.#plan.drainMs ?? DRAIN_MS).unref()
    this.#settleIfDone()
  }

  /** What was due and never sent has been waiting for as long as this, and would still. */
  #giveUp(): void {
    const now = monotonicMs()
    for (const dueAt of this.#waiting.splice(0)) {
      if (dueAt < this.#measureFrom) continue
      this.#unsent += 1
      this.#statuses[0] = (this.#statuses[0] ?? 0) + 1
      this.#fail('not sent: no connection was free')
      noteMs(this.#fromDue, now - dueAt)
    }
    this.#settleIfDone()
  }

  #open(index: number): Slot {
    const socket: LoadSocket = {
      connection: index,
      localPort: 0,
      openedAt: monotonicMs(),
      closedAt: 0,
      isCut: false,
      answers: 0,
    }
    const connection = new LoadConnection(this.#plan, {
      opened: (localPort) => {
        this.#sockets.push(Object.assign(socket, { localPort }))
        slot.restedSince = monotonicMs()
        this.#next(index)
      },
      closed: (isCut) => {
        Object.assign(socket, { closedAt: monotonicMs(), isCut })
        if (this.#isOver()) return
        const { freshEveryMs, ratePerSMax } = this.#plan
        const isRefused =
          freshEveryMs === undefined ? ratePerSMax !== undefined && socket.localPort === 0 : !slot.isAsked
        if (isRefused) this.#refused(index, socket.openedAt)
        const waitMs = ratePerSMax !== undefined && socket.answers === 0 ? REOPEN_GENTLY_MS : REOPEN_MS
        setTimeout(() => this.#reopen(index), freshEveryMs ?? waitMs)
      },
    })
    const slot: Slot = { connection, socket, startedAt: null, restedSince: 0, isAsked: false, turnAt: null }
    return slot
  }

  /**
   * A connection that was made for a request and ended before that could be sent: the request has failed.
   */
  #refused(index: number, startedAt: number): void {
    const at = { dueAt: startedAt, startedAt, endedAt: monotonicMs() }
    this.#record(index, at, { failure: 'no connection' })
    if (this.#isStopping) this.#settleIfDone()
  }

  #reopen(index: number): void {
    if (!this.#isOver()) this.#slots[index] = this.#open(index)
  }

  #isOver(): boolean {
    return this.#isStopping && this.#waiting.length === 0
  }

  /** Gives a free connection its next request, if one is due. */
  #next(index: number): void {
    const slot = this.#slots[index]
    if (slot === undefined || this.#isOver() || !slot.connection.isOpen || slot.startedAt !== null) return
    if (!this.#mayGo(index, slot)) return
    const now = monotonicMs()
    const isOpen = this.#plan.pace.kind === 'open'
    if (isOpen && this.#waiting.length === 0) return
    if (now - slot.restedSince > REST_MS_MAX) return slot.connection.destroy('rested')
    this.#send(index, slot, isOpen ? (this.#waiting.shift() ?? now) : now)
  }

  /**
   * False: too early, after a `Retry-After` or under a highest rate, where each request of a closed pace has
   * a turn; it comes back then.
   */
  #mayGo(index: number, slot: Slot): boolean {
    const { ratePerSMax, pace } = this.#plan
    if (ratePerSMax === undefined && this.#quietUntil.size === 0) return true
    const now = monotonicMs()
    // A tick comes back for it.
    if (pace.kind === 'open') return now - (this.#sentAt[this.#sent % this.#perSecond] ?? -Infinity) >= 1_000
    const quietUntil = this.#quietUntil.get(index) ?? 0
    if (quietUntil <= now && ratePerSMax !== undefined && slot.turnAt === null) {
      slot.turnAt = Math.max(now, this.#freeAt)
      this.#freeAt = slot.turnAt + 1_000 / ratePerSMax
    }
    const waitMs = Math.max(quietUntil, slot.turnAt ?? 0) - now
    if (waitMs <= 0) slot.turnAt = null
    // A timer that is too long goes off at once.
    else setTimeout(() => this.#next(index), Math.min(Math.ceil(waitMs), LONGEST_TIMER_MS))
    return waitMs <= 0
  }

  #send(index: number, slot: Slot, dueAt: number): void {
    const turn = this.#plan.isInTurn === true ? this.#turn++ : index
    const request = this.#requests[turn % this.#requests.length]
    if (request === undefined) return
    const startedAt = monotonicMs()
    slot.startedAt = startedAt
    slot.isAsked = true
    if (this.#plan.ratePerSMax !== undefined) this.#sentAt[this.#sent++ % this.#perSecond] = startedAt
    const bodyBytes = request.send(slot.connection, (outcome) => {
      slot.startedAt = null
      slot.restedSince = monotonicMs()
      if ('status' in outcome) slot.socket.answers += 1
      if (this.#record(index, { dueAt, startedAt, endedAt: monotonicMs() }, outcome))
        this.#sentBytes += bodyBytes
      if (this.#isOver()) this.#settleIfDone()
      else if (this.#plan.freshEveryMs !== undefined) slot.connection.destroy('answered')
      else this.#after(index, outcome)
    })
  }

  #after(index: number, outcome: LoadOutcome): void {
    const waitMs =
      this.#plan.pace.kind === 'polite' && 'head' in outcome ? retryAfterMs(outcome.head, Date.now()) : 0
    // Of the slot, not of its connection, which may end with the refusal.
    if (waitMs > 0) this.#quietUntil.set(index, monotonicMs() + waitMs)
    this.#next(index)
  }

  /** @returns whether it was answered well, after the warm-up */
  #record(
    connection: number,
    at: { dueAt: number; startedAt: number; endedAt: number },
    outcome: LoadOutcome,
  ): boolean {
    const status = 'status' in outcome ? outcome.status : 0
    const failure = 'failure' in outcome ? outcome.failure : ''
    if (this.#plan.keepRows?.except.includes(status) === false)
      this.#rows.push({ connection, startedAt: at.startedAt, endedAt: at.endedAt, status, failure })
    this.#requestsWithWarmUp += 1
    if (this.#requestsWithWarmUp === this.#plan.requestsMax) {
      this.#isStopping = true
      this.#waiting.length = 0
    }
    const isMeasured = (this.#plan.pace.kind === 'open' ? at.dueAt : at.endedAt) >= this.#measureFrom
    if (!isMeasured) return false
    if (status !== 0) this.#lastAt = at.endedAt
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    if (failure !== '') this.#fail(failure)
    if ('bytes' in outcome) this.#answerBytes += outcome.bytes
    noteMs(this.#fromDue, at.endedAt - at.dueAt)
    noteMs(this.#fromSent, at.endedAt - at.startedAt)
    return status >= 200 && status < 300
  }

  #fail(reason: string): void {
    if (this.#failures.length < FAILURES_KEPT) this.#failures.push(reason)
  }

  /** Sends what is due each tick; what finds no free connection waits and is late. */
  #keepRate(): void {
    const timer = setInterval(() => {
      if (this.#isOver()) return clearInterval(timer)
      if (this.#isStopping) this.#sendWaiting()
      else this.#sendDue()
    }, TICK_MS)
  }

  #sendDue(): void {
    const { pace } = this.#plan
    if (pace.kind !== 'open') return
    const now = monotonicMs()
    // The first one is due at once: else each would count from one interval before it may go.
    const due = Math.floor(((Math.min(now, this.#endsAt) - this.#began) * pace.ratePerS) / 1_000) + 1
    for (; this.#noticed < due; this.#noticed++) {
      const dueAt = this.#began + (this.#noticed * 1_000) / pace.ratePerS
      if (dueAt >= this.#measureFrom) noteMs(this.#late, now - dueAt)
      this.#waiting.push(now - dueAt <= TICK_LATE_MS ? now : dueAt)
    }
    this.#sendWaiting()
  }

  #sendWaiting(): void {
    for (let index = 0; index < this.#slots.length && this.#waiting.length > 0; index++) this.#next(index)
  }

  get #perSecond(): number {
    return Math.max(1, Math.floor(this.#plan.ratePerSMax ?? 1))
  }

  #dropSilent(before: number): void {
    for (const slot of this.#slots)
      if (slot.startedAt !== null && slot.startedAt < before) slot.connection.destroy('no answer')
  }

  #settleIfDone(): void {
    if (!this.#isOver() || this.#slots.some((slot) => slot.startedAt !== null)) return
    const finish = this.#finish
    this.#finish = null
    for (const slot of this.#slots) slot.connection.destroy('done')
    finish?.(this.#result())
  }

  #result(): LoadResult {
    const used = process.cpuUsage(this.#cpuAtStart)
    // Answers after the end count, and so does their time.
    const measuredMs = Math.max(
      1,
      Math.max(Math.min(monotonicMs(), this.#endsAt), this.#lastAt) - this.#measureFrom,
    )
    return {
      statuses: this.#statuses,
      requests: Object.values(this.#statuses).reduce((sum, count) => sum + count, 0),
      requestsWithWarmUp: this.#requestsWithWarmUp,
      measuredMs,
      latency: latencyOf(this.#fromDue),
      latencyFromSent: latencyOf(this.#fromSent),
      generatorLate: latenessOf(this.#late),
      unsent: this.#unsent,
      generatorCores: (used.user + used.system) / 1_000 / measuredMs,
      failures: this.#failures,
      sockets: this.#sockets,
      rows: this.#rows,
      answerBytes: this.#answerBytes,
      sentBytes: this.#sentBytes,
    }
  }
}

interface Slot {
  readonly connection: LoadConnection
  readonly socket: LoadSocket
  /** `monotonicMs()` of the request in flight. */
  startedAt: number | null
  /** `monotonicMs()` of its opening or its last answer. */
  restedSince: number
  isAsked: boolean
  /** Under a highest rate: when the next request may go; null: none yet. */
  turnAt: number | null
}

/** Seconds or a date, as RFC 9110 has it; 0 for neither. */
function retryAfterMs(head: string, now: number): number {
  const [, text] = /\r\nretry-after: *([^\r]+)/i.exec(head) ?? []
  if (text === undefined) return 0
  const waitMs = /^\d+ *$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : 0
}

let load: Load | null = null
process.on('message', (message: LoadPlan | 'stop') => {
  if (message === 'stop') return load?.stop()
  load = new Load(message)
  process.send?.('started')
  void load.run().then((result) => process.send?.(result, () => process.disconnect()))
})
process.on('disconnect', () => process.exit(0))
