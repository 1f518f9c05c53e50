import { REQUESTS_FLUSH_MS, REQUESTS_GATHERED_SHARE } from '../../../schemas/requests/request-limits.ts'
import type { RequestBatch } from '../../../schemas/requests/request-record.ts'
import type { CallSettled, Log } from '../../ports/observe.ts'
import type { CountRequests } from '../../ports/requests/request-log.ts'
import { GatheredCalls } from './gathered-calls.ts'
import { AskedModels, Sampling } from './sampling.ts'

/** Reads of the log itself: a page that follows it would fill it. */
const OWN_OPERATION = 'requests.list'

export interface RecorderOptions {
  /** Writes a batch down. @returns calls of it for which there was room. Rejects when the disk refuses it */
  readonly spill: (batch: RequestBatch) => Promise<number>
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
  readonly #askedModels = new AskedModels()
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
    const { costUsd = 0 } = call.notes
    const weight = costUsd > 0 ? 1 : this.#sampling.weightOf(nowMs, call)
    if (weight === 0) return
    if (this.#gathered.isFull && !this.#flush()) return this.#lose(1)
    if (this.#spare === null && this.#isOverShare(call.organizationId)) return this.#lose(1)
    this.#gathered.add(call, nowMs, weight, call.notes.model ?? this.#askedModels.of(nowMs, call))
    this.#timer ??= setTimeout(() => this.#timeUp(), REQUESTS_FLUSH_MS)
  }

  /** Writes down what there is. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#writing
    this.#flush()
    await this.#writing
  }

  /** While a batch is being written, one organization does not take all of the room for the next one. */
  #isOverShare(organizationId: string | null): boolean {
    const gathered = this.#gathered
    if (!gathered.isHalfFull) return false
    return gathered.callsOf(organizationId) * REQUESTS_GATHERED_SHARE >= gathered.count
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
      const kept = await spill(batch)
      if (kept > 0) count('spilled', kept)
      if (kept < calls) this.#lose(calls - kept)
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
