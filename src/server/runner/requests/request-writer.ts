import { REQUESTS_LOOK_MS } from '../../../schemas/requests/request-limits.ts'
import type { RequestBatch } from '../../../schemas/requests/request-record.ts'
import type { Log } from '../../ports/observe.ts'
import type { CountRequests, RequestRows, RequestSpill } from '../../ports/requests/request-log.ts'
import { every } from '../../structures/ticks.ts'

/** Milliseconds between two comparisons of the log with the ledger. Decision. */
export const REQUESTS_COMPARE_MS = 30_000

export interface RequestWriterOptions {
  readonly spill: RequestSpill
  readonly rows: RequestRows
  /** False: the log is off, and adds no rows from the ledger. */
  readonly isOn: boolean
  readonly count: CountRequests
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  /** True for an error that means the store is unavailable: it will accept the same batch later. */
  readonly isAway: (problem: unknown) => boolean
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/**
 * Writes the batches of a node's fronts into the log, oldest first, and compares the log with the ledger. A
 * file stays in the spill until its rows are committed, and a batch is written once even if it is read several
 * times.
 */
export class RequestWriter {
  readonly #options: RequestWriterOptions
  #comparedAt: number
  #hasFailed = false
  #isEnding = false

  constructor(options: RequestWriterOptions) {
    this.#options = options
    this.#comparedAt = options.now()
  }

  /** Reads the spill once. Never rejects. */
  async look(): Promise<void> {
    const { rows, isOn, count, log, now } = this.#options
    try {
      await this.#writeAll()
      // After an outage fronts first write what they have kept meanwhile, so the comparison waits one more interval.
      if (this.#hasFailed) this.#comparedAt = now()
      this.#hasFailed = false
      if (now() - this.#comparedAt < REQUESTS_COMPARE_MS) return
      this.#comparedAt = now()
      if (!isOn) return await rows.passOver()
      const { recovered, isBehind } = await rows.recover()
      if (isBehind) this.#comparedAt -= REQUESTS_COMPARE_MS
      if (recovered === 0) return
      count('recovered', recovered)
      log.info('requests.recovered', { calls: recovered })
    } catch (cause) {
      // An outage of the store or the disk is logged once.
      if (!this.#hasFailed) log.warn('requests.away', { cause })
      this.#hasFailed = true
    }
  }

  /** Begins no further batch. */
  end(): void {
    this.#isEnding = true
  }

  async #writeAll(): Promise<void> {
    const { spill, count, log } = this.#options
    for (const name of await spill.list()) {
      if (this.#isEnding) return
      const batches = await spill.read(name)
      if (batches === null) {
        log.error('requests.batch_damaged', { name })
        count('lost', 1)
      }
      for (const batch of batches ?? []) {
        if (this.#isEnding) return
        await this.#write(name, batch)
      }
      await spill.remove(name)
    }
  }

  /** Rejects when the store is unavailable: the file is then kept, and rows that were already written are not written again. */
  async #write(name: string, batch: RequestBatch): Promise<void> {
    const { rows, count, log, isAway } = this.#options
    try {
      count('written', await rows.insert(batch))
    } catch (cause) {
      if (isAway(cause)) throw cause
      // A batch that the store will never accept must not delay the following ones.
      log.error('requests.batch_refused', { name, calls: batch.requestIds.length, cause })
      count('lost', batch.requestIds.length)
    }
  }
}

/** Reads the spill periodically, one read at a time. @returns a function that stops this after the current batch */
export function startRequestWriter(options: RequestWriterOptions): () => Promise<void> {
  const writer = new RequestWriter(options)
  let looking: Promise<void> | null = null
  const looks = every(REQUESTS_LOOK_MS, () => {
    looking ??= writer.look().finally(() => (looking = null))
  })
  return async () => {
    looks.stop()
    writer.end()
    await looking
  }
}
