import { REQUESTS_FLUSH_MS } from '../../../schemas/requests/request-limits.ts'
import type { RequestBatch } from '../../../schemas/requests/request-record.ts'
import type { CallSettled, Log } from '../../ports/observe.ts'
import type { CountRequests } from '../../ports/requests/request-log.ts'
import { GatheredCalls } from './gathered-calls.ts'
import { Sampling } from './sampling.ts'

/** Reads of the log itself: a page that follows it would fill it. */
const OWN_OPERATION = 'requests.list'

export interface RecorderOptions {
  /** Writes a batch down. @returns false: there is no room. Rejects when the disk refuses it */
  readonly spill: (batch: RequestBatch) => Promise<boolean>
  readonly count: CountRequests
  readonly log: Pick<Log, 'warn'>
  /** Unix milliseconds. */
  readonly now?: () => number
}

/**
 * Keeps the finished calls of a front until they are written down, in batches beside the calls: while one
 * batch is written the next one is gathered. Calls for which there is no room are lost, and counted: the
 * ledger has those that cost money.
 */
export class RequestRecorder {
  readonly #options: RecorderOptions
  readonly #now: () => number
  readonly #sampling = new Sampling()
  #gathered = new GatheredCalls()
  /** Free while no batch is being written. */
  #spare: GatheredCalls | null = new GatheredCalls()
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> | null = null
  #lost = 0

  constructor(options: RecorderOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  settled(call: CallSettled): void {
    if (call.operation === OWN_OPERATION && call.failure === null) return
    const nowMs = this.#now()
    const weight = call.notes.costUsd === undefined ? this.#weightOf(call, nowMs) : 1
    if (weight === 0) return
    if (this.#gathered.isFull && !this.#flush()) return this.#lose(1)
    this.#gathered.add(call, nowMs, weight)
    this.#timer ??= setTimeout(() => this.#timeUp(), REQUESTS_FLUSH_MS)
  }

  /** Writes down what there is. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#writing
    this.#flush()
    await this.#writing
  }

  #weightOf({ organizationId, failure, status }: CallSettled, nowMs: number): number {
    return this.#sampling.weightOf(nowMs, organizationId, failure ?? String(status))
  }

  #timeUp(): void {
    this.#timer = null
    // A batch that is still being written starts the timer again at its end.
    this.#flush()
  }

  /** @returns false while another batch is being written */
  #flush(): boolean {
    const gathered = this.#gathered
    if (this.#spare === null) return false
    if (gathered.count === 0) return true
    this.#gathered = this.#spare
    this.#spare = null
    this.#writing = this.#write(gathered.take()).then(() => {
      this.#spare = gathered
      this.#writing = null
      if (this.#gathered.count > 0) this.#timer ??= setTimeout(() => this.#timeUp(), REQUESTS_FLUSH_MS)
    })
    return true
  }

  async #write(batch: RequestBatch): Promise<void> {
    const { spill, count, log } = this.#options
    const calls = batch.requestIds.length
    try {
      if (await spill(batch)) count('spilled', calls)
      else this.#lose(calls)
    } catch (cause) {
      log.warn('requests.spill_failed', { cause })
      this.#lose(calls)
    }
    if (this.#lost > 0) log.warn('requests.lost', { calls: this.#lost })
    this.#lost = 0
  }

  #lose(calls: number): void {
    this.#lost += calls
    this.#options.count('lost', calls)
  }
}
