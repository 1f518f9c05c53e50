import type { RetentionLease, RetentionLeases } from '../../ports/operator/retention.ts'
import { guardedRows } from './guarded-row.ts'
import type { Store, Transaction } from './open.ts'

/** Milliseconds without a batch after which another process may continue a run of pruning. Decision. */
export const PRUNE_LEASE_MS = 60_000

const leaseRows = guardedRows<'resting' | 'running'>({
  table: 'retention',
  claimable: ['resting', 'running'],
})
/** Id of the only row. */
const ALL = 'all'

/** One process of all nodes prunes at a time: several processes would only wait for each other. */
export function openRetentionLeases({ sql }: Store): RetentionLeases {
  return {
    async begin() {
      const claim = await leaseRows.claim(sql, ALL, PRUNE_LEASE_MS)
      return claim === null ? null : leaseRows.advance(sql, claim, 'running')
    },
    async end(lease, dueInMs) {
      await sql.begin(async (tx) => {
        const resting = await leaseRows.advance(tx, { ...lease, state: 'running' }, 'resting')
        if (resting !== null) await leaseRows.release(tx, resting, dueInMs)
      })
    },
    async hasten() {
      await sql`UPDATE retention SET lease_until = clock_timestamp() - interval '1 ms' WHERE id = ${ALL} AND state = 'resting'`
    },
  }
}

/**
 * To be called first in the transaction of each batch: until its commit no other process can take the lease.
 * @returns false when another process has the lease
 */
export function renewLease(tx: Transaction, lease: RetentionLease): Promise<boolean> {
  return leaseRows.renew(tx, { ...lease, state: 'running' }, PRUNE_LEASE_MS)
}
