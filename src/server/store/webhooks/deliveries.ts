import type {
  ClaimedDelivery,
  Deliveries,
  DeliveryCounts,
  DeliveryInput,
  DeliveryResult,
} from '../../ports/webhooks/webhooks.ts'
import type { Queryable, Sql, Store } from '../base/open.ts'

/** Pairs of receiver and workspace that one statement examines. Decision. */
export const WEBHOOK_PLACES_MAX = 1_000

/** Pages that one claim reads: later pages come with the next claim. Decision. */
const PAGES_MAX = 10

export interface DeliveriesOptions {
  readonly store: Store
  /** Places on a page; tests pass fewer. */
  readonly placesMax?: number
}

/** Rows of the outbox, for a runner. Design §3, §7. */
export function openDeliveries({ store, placesMax }: DeliveriesOptions): Deliveries {
  const bookings = new Bookings(store)
  // The place where the last claim ended: the next claim continues after it, so that no place is skipped for long.
  let after: Place | null = null
  return {
    async claim(input) {
      const claims: ClaimedDelivery[] = []
      let isRound = after === null
      for (let page = 0; page < PAGES_MAX && claims.length < input.countMax; page++) {
        const found = await claimPage(store.sql, after ?? FIRST_PLACE, less(input, claims), placesMax).catch(
          (problem: unknown) => {
            // Deliveries that were claimed before belong to this runner, and would wait until their lease ends.
            if (claims.length === 0) throw problem
            return null
          },
        )
        if (found === null) break
        claims.push(...found.claims)
        after = found.next
        if (after !== null) continue
        if (isRound) break
        isRound = true
      }
      return claims
    },
    book: (claim, result, dueInMs) => bookings.book(claim, result, dueInMs),
    async release(claims, dueInMs) {
      const held = claims.map(({ id, attempt }) => ({ id, attempt }))
      const { sql } = store
      await sql`
        UPDATE webhook_deliveries d SET attempt = d.attempt + 1, lease_until = ${inFuture(sql, dueInMs)}
        FROM jsonb_to_recordset(${sql.json(held)}) AS r (id uuid, attempt int) WHERE d.id = r.id AND d.attempt = r.attempt AND d.state = 'waiting'`
    },
    counts: () => countDeliveries(store.sql),
    prune: () => pruneWebhooks(store.sql),
  }
}

/** The rest of an input after some deliveries are claimed. */
function less(input: DeliveryInput, claims: readonly ClaimedDelivery[]): DeliveryInput {
  const hosts = new Map(input.busy.hosts)
  const workspaces = new Map(input.busy.workspaces)
  for (const { host, workspaceId } of claims) {
    hosts.set(host, (hosts.get(host) ?? 0) + 1)
    workspaces.set(workspaceId, (workspaces.get(workspaceId) ?? 0) + 1)
  }
  return { ...input, countMax: input.countMax - claims.length, busy: { hosts, workspaces } }
}

export async function countDeliveries(sql: Queryable): Promise<DeliveryCounts> {
  const [row] = await sql<DeliveryCounts[]>`
    SELECT (SELECT count(*)::int FROM webhook_deliveries WHERE state = 'waiting') AS waiting,
      (SELECT count(*)::int FROM webhook_deliveries WHERE state = 'dead') AS dead`
  return row ?? { waiting: 0, dead: 0 }
}

function inFuture(sql: Queryable, ms: number) {
  return sql`clock_timestamp() + ${ms} * interval '1 ms'`
}

/** A receiver and a workspace with waiting deliveries for it; claims visit the places in this order, and then start again. */
interface Place {
  readonly host: string
  readonly workspaceId: string
}

/** A place before every other. */
const FIRST_PLACE: Place = { host: '', workspaceId: '00000000-0000-0000-0000-000000000000' }

interface ClaimedPage {
  readonly claims: readonly ClaimedDelivery[]
  /** The place to continue from; null when no place follows. */
  readonly next: Place | null
}

/**
 * Claims due deliveries of up to `placesMax` places after `after`. The index finds the oldest ones of each place, so
 * that a backlog of ten thousand deliveries for one receiver costs no more than the deliveries that are claimed.
 * Deliveries alternate first between workspaces at a receiver, then between the receivers of a workspace.
 */
async function claimPage(
  sql: Sql,
  after: Place,
  input: DeliveryInput,
  placesMax = WEBHOOK_PLACES_MAX,
): Promise<ClaimedPage> {
  const { countMax, perHostMax, perWorkspaceMax, busy, leaseMs } = input
  // The clock of the statement's start: with a clock that advances, the index could not be used.
  const rows = await sql<PageRow[]>`
    WITH RECURSIVE place AS (
      (SELECT host, workspace_id, 1 AS n FROM webhook_deliveries
        WHERE state = 'waiting' AND (host, workspace_id) > (${after.host}, ${after.workspaceId}::uuid) ORDER BY host, workspace_id LIMIT 1)
      UNION ALL
      SELECT next.host, next.workspace_id, p.n + 1 FROM place p CROSS JOIN LATERAL (
        SELECT host, workspace_id FROM webhook_deliveries
        WHERE state = 'waiting' AND (host, workspace_id) > (p.host, p.workspace_id) ORDER BY host, workspace_id LIMIT 1) next
      WHERE p.n < ${placesMax}),
    due AS (
      SELECT d.id, p.host, p.workspace_id, d.lease_until, row_number() OVER (PARTITION BY p.host, p.workspace_id ORDER BY d.lease_until) AS turn
      FROM place p JOIN workspaces w ON w.id = p.workspace_id AND w.deleted_at IS NULL
      CROSS JOIN LATERAL (
        SELECT id, lease_until FROM webhook_deliveries
        WHERE state = 'waiting' AND host = p.host AND workspace_id = p.workspace_id AND lease_until < statement_timestamp()
        ORDER BY lease_until LIMIT ${perHostMax}) d),
    at_host AS (
      SELECT *, row_number() OVER (PARTITION BY host ORDER BY turn, lease_until) + ${counted(sql, busy.hosts)} AS host_turn FROM due),
    in_workspace AS (
      SELECT *, row_number() OVER (PARTITION BY workspace_id ORDER BY host_turn, lease_until)
        + ${counted(sql, busy.workspaces, 'workspace_id')} AS workspace_turn
      FROM at_host WHERE host_turn <= ${perHostMax}),
    chosen AS MATERIALIZED (
      SELECT id FROM webhook_deliveries
      WHERE id IN (SELECT id FROM in_workspace WHERE workspace_turn <= ${perWorkspaceMax} ORDER BY workspace_turn, lease_until LIMIT ${countMax})
        AND state = 'waiting' AND lease_until < statement_timestamp()
      FOR NO KEY UPDATE SKIP LOCKED),
    claimed AS (
      UPDATE webhook_deliveries d SET attempt = attempt + 1, lease_until = clock_timestamp() + ${leaseMs} * interval '1 ms'
      FROM chosen WHERE d.id = chosen.id
      RETURNING d.id, d.workspace_id, d.job_id, d.attempt, d.tries, d.url, d.host, d.idempotency_key, d.body,
        EXISTS (SELECT 1 FROM webhook_disabled x WHERE x.workspace_id = d.workspace_id AND x.url = d.url) AS is_disabled)
    SELECT claimed.*, last.host AS last_host, last.workspace_id AS last_workspace_id, last.n AS places
    FROM (SELECT host, workspace_id, n FROM place ORDER BY n DESC LIMIT 1) last LEFT JOIN claimed ON true`
  const [first] = rows
  return {
    claims: rows.filter((row) => row.id !== null).map(claimOf),
    next:
      first === undefined || first.places < placesMax
        ? null
        : { host: first.last_host, workspaceId: first.last_workspace_id },
  }
}

/** Number of attempts under way for a row's host or workspace. */
function counted(sql: Sql, busy: ReadonlyMap<string, number>, column = 'host') {
  return sql`coalesce((${sql.json(Object.fromEntries(busy))}::jsonb ->> ${sql(column)}::text)::int, 0)`
}

interface PageRow {
  readonly id: string
  readonly workspace_id: string
  readonly job_id: string
  readonly attempt: number
  readonly tries: number
  readonly url: string
  readonly host: string
  readonly idempotency_key: string
  readonly body: string
  readonly is_disabled: boolean
  readonly last_host: string
  readonly last_workspace_id: string
  readonly places: number
}

function claimOf(row: PageRow): ClaimedDelivery {
  const { id, attempt, tries, url, host, body } = row
  return {
    id,
    attempt,
    tries,
    url,
    host,
    body,
    workspaceId: row.workspace_id,
    jobId: row.job_id,
    idempotencyKey: row.idempotency_key,
    isDisabled: row.is_disabled,
  }
}

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
const BOOKED_AT_ONCE_MAX = 500

/**
 * Books attempts; attempts that come while a statement runs share the next one. However many responses arrive
 * at once, each is on disk after two commits at most, so that a crash repeats few.
 */
class Bookings {
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
      const batch = this.#waiting.splice(0, BOOKED_AT_ONCE_MAX)
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
 * Writes a batch. The number of the attempt grows, so that a booking that is repeated after a lost answer is written
 * only once.
 * @returns ids of deliveries that this runner still had
 */
async function write({ sql }: Store, bookings: readonly Booking[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    WITH reported AS (
      SELECT * FROM jsonb_to_recordset(${sql.json(bookings as never)}) AS r
        (id uuid, attempt int, state text, sent int, status int, reason text, "dueInMs" float8, "isGone" boolean)),
    booked AS (
      UPDATE webhook_deliveries d SET state = r.state, attempt = d.attempt + 1, tries = d.tries + r.sent,
        last_status = r.status, last_reason = r.reason, lease_until = clock_timestamp() + r."dueInMs" * interval '1 ms',
        ended_at = CASE WHEN r.state <> 'waiting' THEN clock_timestamp() END
      FROM reported r WHERE d.id = r.id AND d.attempt = r.attempt AND d.state = 'waiting'
      RETURNING d.id, d.workspace_id, d.url, r."isGone" AS is_gone),
    disabled AS (
      INSERT INTO webhook_disabled (workspace_id, url) SELECT DISTINCT workspace_id, url FROM booked WHERE is_gone ON CONFLICT DO NOTHING)
    SELECT id FROM booked`
  return new Set(rows.map(({ id }) => id))
}

/** Rows that one statement removes, so that it never holds many locks for long. */
const REMOVED_AT_ONCE_MAX = 5_000
/** Tables whose rows belong to a workspace and end with it. */
const OWNED = ['webhook_deliveries', 'webhook_secrets', 'webhook_disabled']

/** Removes rows of deleted workspaces, and expired secrets. @returns number of rows */
async function pruneWebhooks(sql: Queryable): Promise<number> {
  let removed = 0
  for (const table of OWNED) removed += await pruneOfDeleted(sql, table)
  const { count } = await sql`DELETE FROM webhook_secrets WHERE signs_until < clock_timestamp()`
  return removed + count
}

function pruneOfDeleted(sql: Queryable, table: string): Promise<number> {
  return inBatches(
    () => sql`
    DELETE FROM ${sql(table)} WHERE ctid = ANY(ARRAY(
      SELECT x.ctid FROM workspaces w JOIN ${sql(table)} x ON x.workspace_id = w.id WHERE w.deleted_at IS NOT NULL LIMIT ${REMOVED_AT_ONCE_MAX}))`,
  )
}

async function inBatches(remove: () => PromiseLike<{ readonly count: number }>): Promise<number> {
  for (let removed = 0; ;) {
    const { count } = await remove()
    removed += count
    if (count < REMOVED_AT_ONCE_MAX) return removed
  }
}
