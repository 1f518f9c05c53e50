import { VIDEO_END_MS_MAX, VIDEO_ENDS_AT_ONCE } from '../../../schemas/videos/video-limits.ts'
import { withPartitions } from '../money/lending/partitions.ts'
import type { Store } from '../base/open.ts'
import { isAway } from '../base/translate.ts'
import { endJobs, type EndContext, type EndedRow, type EndInput } from './ends.ts'

interface Waiting {
  readonly input: EndInput
  readonly resolve: (row: EndedRow | null) => void
  readonly reject: (problem: unknown) => void
}

/**
 * Ends of jobs in shared transactions: those that come while one runs go together into the next one. All of
 * an organization lock its account, so that one transaction for each would make a queue of them.
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
   * @returns null when the job is another's, or has ended. Rejects when the store cannot be reached: then it
   * may have ended.
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

  /** The oldest, each job once: a second end of it comes behind. */
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
      // One that cannot be booked must not keep the others from it.
      if (batch.length > 1 && !isAway(problem)) for (const one of batch) await this.#book([one])
      else for (const { reject } of batch) reject(problem)
    }
  }
}

/** One transaction. */
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
