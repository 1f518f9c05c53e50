import { VIDEO_ENDS_AT_ONCE } from '../../../schemas/videos/video-limits.ts'
import { withPartitions } from '../money/lending/partitions.ts'
import type { Store } from '../base/open.ts'
import { isAway } from '../base/translate.ts'
import { endJobs, type EndContext, type EndedRow, type EndInput } from './ends.ts'

/** Milliseconds of the booking of ended jobs. Decision. */
export const VIDEO_END_MS_MAX = 15_000

interface Waiting {
  readonly input: EndInput
  readonly resolve: (row: EndedRow | null) => void
  readonly reject: (problem: unknown) => void
}

/**
 * Ends jobs in shared transactions: ends that arrive while a transaction runs share the next one. All ends of
 * an organization lock its account, so that single transactions would wait for each other.
 */
export class EndBatches {
  readonly #store: Store
  readonly #context: EndContext
  #waiting: Waiting[] = []
  #isRunning = false

  constructor(store: Store, context: EndContext) {
    this.#store = store
    this.#context = context
  }

  /**
   * @returns null when another process holds the job, or the job has ended. Rejects when the store cannot be
   * reached: the job may then have ended.
   */
  end(input: EndInput): Promise<EndedRow | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject })
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) await this.#book(this.#next())
    this.#isRunning = false
  }

  /** The oldest inputs, each job once: a second end of the same job is left for a later batch. */
  #next(): readonly Waiting[] {
    const batch = new Map<string, Waiting>()
    const later: Waiting[] = []
    for (const one of this.#waiting) {
      if (batch.size < VIDEO_ENDS_AT_ONCE && !batch.has(one.input.id)) batch.set(one.input.id, one)
      else later.push(one)
    }
    this.#waiting = later
    return [...batch.values()]
  }

  async #book(batch: readonly Waiting[]): Promise<void> {
    try {
      const rows = new Map(
        (
          await book(
            this.#store,
            batch.map(({ input }) => input),
            this.#context,
          )
        ).map((row) => [row.id, row]),
      )
      for (const { input, resolve } of batch) resolve(rows.get(input.id) ?? null)
    } catch (problem) {
      // An end that cannot be written must not keep the others from being written.
      if (batch.length > 1 && !isAway(problem)) for (const one of batch) await this.#book([one])
      else for (const { reject } of batch) reject(problem)
    }
  }
}

export function book(
  store: Store,
  inputs: readonly EndInput[],
  context: EndContext,
): Promise<readonly EndedRow[]> {
  return withPartitions(
    store,
    () => daysOf(store, inputs),
    () => store.within(VIDEO_END_MS_MAX, (sql) => sql.begin((tx) => endJobs(tx, inputs, context))),
  )
}

async function daysOf({ sql }: Store, inputs: readonly EndInput[]): Promise<readonly string[]> {
  const rows = await sql<{ day: string }[]>`
    SELECT DISTINCT hold_day::text AS day FROM video_jobs WHERE id IN ${sql(inputs.map(({ id }) => id))}`
  return rows.map(({ day }) => day)
}
