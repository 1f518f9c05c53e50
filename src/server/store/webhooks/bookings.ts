import type { ClaimedDelivery, DeliveryResult } from '../../ports/webhooks/webhooks.ts'
import type { Store } from '../base/open.ts'

/** An attempt, and the next state of its delivery. */
interface Booking {
  readonly id: string
  readonly attempt: number
  readonly state: 'delivered' | 'waiting' | 'dead'
  readonly sent: number
  readonly status: number | null
  readonly reason: string | null
  readonly dueInMs: number
  readonly isGone: boolean
}

interface Waiting {
  readonly booking: Booking
  readonly settle: (isOurs: boolean) => void
  readonly fail: (cause: unknown) => void
}

/** Attempts that one statement books. Decision. */
const BATCH_MAX = 500

/**
 * Books attempts; attempts that come while a statement runs share the next one. However many responses arrive
 * at once, each is on disk after two commits at most, so that a crash repeats few.
 */
export class Bookings {
  readonly #store: Store
  #waiting: Waiting[] = []
  #isRunning = false

  constructor(store: Store) {
    this.#store = store
  }

  /** Does what `Deliveries.book` says. */
  book(claim: ClaimedDelivery, result: DeliveryResult, dueInMs: number | null): Promise<boolean> {
    return new Promise((settle, fail) => {
      this.#waiting.push({ booking: bookingOf(claim, result, dueInMs), settle, fail })
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_MAX)
      try {
        const ours = await write(
          this.#store,
          batch.map(({ booking }) => booking),
        )
        for (const { booking, settle } of batch) settle(ours.has(booking.id))
      } catch (cause) {
        for (const { fail } of batch) fail(cause)
      }
    }
    this.#isRunning = false
  }
}

function bookingOf(
  { id, attempt }: ClaimedDelivery,
  result: DeliveryResult,
  dueInMs: number | null,
): Booking {
  const isGone = result.kind === 'gone'
  const isFailed = result.kind === 'failed'
  return {
    id,
    attempt,
    isGone,
    state: result.kind === 'delivered' ? 'delivered' : isFailed && dueInMs !== null ? 'waiting' : 'dead',
    sent: Number(!isFailed || result.reason !== 'url_disabled'),
    status: result.status,
    reason: isFailed ? result.reason : isGone ? 'gone' : null,
    dueInMs: dueInMs ?? 0,
  }
}

/**
 * Writes a batch. The attempt grows, so that a booking that is repeated because its answer was lost is
 * written once. @returns ids of deliveries that this runner still had
 */
async function write({ sql }: Store, bookings: readonly Booking[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    WITH told AS (
      SELECT * FROM jsonb_to_recordset(${sql.json(bookings as never)}) AS r
        (id uuid, attempt int, state text, sent int, status int, reason text, "dueInMs" float8, "isGone" boolean)),
    booked AS (
      UPDATE webhook_deliveries d SET state = r.state, attempt = d.attempt + 1, tries = d.tries + r.sent,
        last_status = r.status, last_reason = r.reason, lease_until = clock_timestamp() + r."dueInMs" * interval '1 ms',
        ended_at = CASE WHEN r.state <> 'waiting' THEN clock_timestamp() END
      FROM told r WHERE d.id = r.id AND d.attempt = r.attempt AND d.state = 'waiting'
      RETURNING d.id, d.workspace_id, d.url, r."isGone" AS is_gone),
    disabled AS (
      INSERT INTO webhook_disabled (workspace_id, url) SELECT DISTINCT workspace_id, url FROM booked WHERE is_gone ON CONFLICT DO NOTHING)
    SELECT id FROM booked`
  return new Set(rows.map(({ id }) => id))
}
