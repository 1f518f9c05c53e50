/** The generator's own process: runs one plan, told by IPC, and answers with what it found. */
import { build as buildHistogram } from 'hdr-histogram-js'
import { encodeRequest, LoadConnection, type LoadOutcome } from './load-connection.ts'
import { monotonicMs, type LoadPlan, type LoadResult, type LoadRow, type LoadSocket } from './load-plan.ts'

const FAILURES_KEPT = 20
const REOPEN_MS = 5
/** Of an open pace: how often what is due is sent. */
const TICK_MS = 1

class Load {
  readonly #plan: LoadPlan
  readonly #requests: readonly Buffer[]
  readonly #slots: Slot[] = []
  /** When each request was due that no connection was free for. */
  readonly #waiting: number[] = []
  readonly #histogram = buildHistogram({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 120_000_000,
    numberOfSignificantValueDigits: 3,
  })
  readonly #statuses: Record<number, number> = {}
  readonly #failures: string[] = []
  readonly #sockets: LoadSocket[] = []
  readonly #rows: LoadRow[] = []
  readonly #measureFrom: number
  readonly #endsAt: number
  #answerBytes = 0
  #requestsWithWarmUp = 0
  #cpuAtStart = process.cpuUsage()
  #finish: ((result: LoadResult) => void) | null = null
  #isStopping = false
  #turn = 0

  constructor(plan: LoadPlan) {
    this.#plan = plan
    this.#requests = plan.requests.map((request) => encodeRequest(request, plan.host, plan.port))
    const now = monotonicMs()
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
    if (pace.kind === 'open') this.#keepRate(pace.ratePerS)
    const timeoutMs = this.#plan.answerTimeoutMs ?? 30_000
    const watch = setInterval(() => this.#dropSilent(monotonicMs() - timeoutMs), 100)
    const result = await new Promise<LoadResult>((resolve) => {
      this.#finish = resolve
    })
    clearInterval(watch)
    return result
  }

  stop(): void {
    this.#isStopping = true
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
        this.#next(index)
      },
      closed: (isCut) => {
        Object.assign(socket, { closedAt: monotonicMs(), isCut })
        if (this.#isStopping) return
        if (this.#plan.freshEveryMs !== undefined && !slot.isAsked) this.#refused(index, socket.openedAt)
        setTimeout(() => this.#reopen(index), this.#plan.freshEveryMs ?? REOPEN_MS)
      },
    })
    const slot: Slot = { connection, socket, startedAt: null, isAsked: false }
    return slot
  }

  /** A connection that was made for a request and ended before that could be sent: whoever wanted it has failed. */
  #refused(index: number, startedAt: number): void {
    const at = { dueAt: startedAt, startedAt, endedAt: monotonicMs() }
    this.#record(index, at, { failure: 'no connection' })
    if (this.#isStopping) this.#settleIfDone()
  }

  #reopen(index: number): void {
    if (!this.#isStopping) this.#slots[index] = this.#open(index)
  }

  /** Gives a free connection its next request, if one is due. */
  #next(index: number): void {
    const slot = this.#slots[index]
    if (slot === undefined || this.#isStopping || !slot.connection.isOpen || slot.startedAt !== null) return
    if (this.#plan.pace.kind !== 'open') return this.#send(index, slot, monotonicMs())
    const dueAt = this.#waiting.shift()
    if (dueAt !== undefined) this.#send(index, slot, dueAt)
  }

  #send(index: number, slot: Slot, dueAt: number): void {
    const turn = this.#plan.isInTurn === true ? this.#turn++ : index
    const request = this.#requests[turn % this.#requests.length]
    if (request === undefined) return
    const startedAt = monotonicMs()
    slot.startedAt = startedAt
    slot.isAsked = true
    slot.connection.send(request, (outcome) => {
      slot.startedAt = null
      if ('status' in outcome) slot.socket.answers += 1
      this.#record(index, { dueAt, startedAt, endedAt: monotonicMs() }, outcome)
      if (this.#isStopping) this.#settleIfDone()
      else if (this.#plan.freshEveryMs !== undefined) slot.connection.destroy('answered')
      else this.#after(index, outcome)
    })
  }

  #after(index: number, outcome: LoadOutcome): void {
    const wait =
      this.#plan.pace.kind === 'polite' && 'head' in outcome
        ? /\r\nretry-after: *(\d+)/i.exec(outcome.head)?.[1]
        : undefined
    if (wait === undefined) this.#next(index)
    else setTimeout(() => this.#next(index), Number(wait) * 1_000)
  }

  #record(
    connection: number,
    at: { dueAt: number; startedAt: number; endedAt: number },
    outcome: LoadOutcome,
  ): void {
    const status = 'status' in outcome ? outcome.status : 0
    const failure = 'failure' in outcome ? outcome.failure : ''
    if (this.#plan.keepRows?.except.includes(status) === false)
      this.#rows.push({ connection, startedAt: at.startedAt, endedAt: at.endedAt, status, failure })
    this.#requestsWithWarmUp += 1
    if (this.#requestsWithWarmUp === this.#plan.requestsMax) this.#isStopping = true
    if (at.endedAt < this.#measureFrom) return
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    if (failure !== '' && this.#failures.length < FAILURES_KEPT) this.#failures.push(failure)
    if ('bytes' in outcome) this.#answerBytes += outcome.bytes
    this.#histogram.recordValue(Math.max(1, Math.round((at.endedAt - at.dueAt) * 1_000)))
  }

  /** Sends what is due each tick; what finds no free connection waits and is late. */
  #keepRate(ratePerS: number): void {
    const began = monotonicMs()
    let sent = 0
    const timer = setInterval(() => {
      if (this.#isStopping) return clearInterval(timer)
      // The first one is due at once: else each would count from one interval before it may go.
      const due = Math.floor(((monotonicMs() - began) * ratePerS) / 1_000) + 1
      for (; sent < due; sent++) this.#waiting.push(began + (sent * 1_000) / ratePerS)
      for (let index = 0; index < this.#slots.length && this.#waiting.length > 0; index++) this.#next(index)
    }, TICK_MS)
  }

  #dropSilent(before: number): void {
    for (const slot of this.#slots)
      if (slot.startedAt !== null && slot.startedAt < before) slot.connection.destroy('no answer')
  }

  #settleIfDone(): void {
    if (this.#slots.some((slot) => slot.startedAt !== null)) return
    const finish = this.#finish
    this.#finish = null
    for (const slot of this.#slots) slot.connection.destroy('done')
    finish?.(this.#result())
  }

  #result(): LoadResult {
    const used = process.cpuUsage(this.#cpuAtStart)
    const measuredMs = Math.max(1, Math.min(monotonicMs(), this.#endsAt) - this.#measureFrom)
    const at = (percentile: number): number => this.#histogram.getValueAtPercentile(percentile) / 1_000
    return {
      statuses: this.#statuses,
      requests: Object.values(this.#statuses).reduce((sum, count) => sum + count, 0),
      requestsWithWarmUp: this.#requestsWithWarmUp,
      measuredMs,
      latency: {
        p50: at(50),
        p90: at(90),
        p99: at(99),
        max: this.#histogram.maxValue / 1_000,
        mean: this.#histogram.mean / 1_000,
      },
      generatorCores: (used.user + used.system) / 1_000 / measuredMs,
      failures: this.#failures,
      sockets: this.#sockets,
      rows: this.#rows,
      answerBytes: this.#answerBytes,
    }
  }
}

interface Slot {
  readonly connection: LoadConnection
  readonly socket: LoadSocket
  /** `monotonicMs()` of the request in flight. */
  startedAt: number | null
  isAsked: boolean
}

let load: Load | null = null
process.on('message', (message: LoadPlan | 'stop') => {
  if (message === 'stop') return load?.stop()
  load = new Load(message)
  process.send?.('started')
  void load.run().then((result) => process.send?.(result, () => process.disconnect()))
})
process.on('disconnect', () => process.exit(0))
