import type {
  ClaimedDelivery,
  Deliveries,
  DeliveryCounts,
  DeliveryInput,
} from '../../ports/webhooks/webhooks.ts'
import type { Queryable, Store } from '../base/open.ts'
import { Bookings } from './bookings.ts'
import { claimPage, FIRST_PLACE, type Place } from './claims.ts'
import { pruneWebhooks } from './prune.ts'

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
  // The place where the last claim ended: the next claim continues after it, so that no place is left out for
  // long.
  let after: Place | null = null
  return {
    async claim(input) {
      const claims: ClaimedDelivery[] = []
      let isRound = after === null
      for (let page = 0; page < PAGES_MAX && claims.length < input.countMax; page++) {
        const found = await claimPage(store.sql, after ?? FIRST_PLACE, less(input, claims), placesMax).catch(
          (problem: unknown) => {
            // Deliveries that were claimed before belong to this runner, and would wait until their lease is
            // over.
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

/** Numbers of waiting deliveries and of dead letters. */
export async function countDeliveries(sql: Queryable): Promise<DeliveryCounts> {
  const [row] = await sql<DeliveryCounts[]>`
    SELECT (SELECT count(*)::int FROM webhook_deliveries WHERE state = 'waiting') AS waiting,
      (SELECT count(*)::int FROM webhook_deliveries WHERE state = 'dead') AS dead`
  return row ?? { waiting: 0, dead: 0 }
}

function inFuture(sql: Queryable, ms: number) {
  return sql`clock_timestamp() + ${ms} * interval '1 ms'`
}
