import type { CachedKind, Invalidation } from '../../ports/keys/keys.ts'
import type { Transaction } from './open.ts'

/**
 * Informs caches of a change. To be called as the last statement of the transaction with the change: the lock
 * on the epoch's row is held until the commit, so that numbers are in commit order, and every other change
 * waits for the lock.
 * @returns the invalidation, to be published as a hint once the transaction has committed. Source: design §3.
 */
export async function bump(tx: Transaction, kind: CachedKind, id: string): Promise<Invalidation> {
  const [row] = await tx<{ n: string }[]>`
    WITH next AS (UPDATE epoch SET n = n + 1 RETURNING n)
    INSERT INTO invalidations (n, kind, id) SELECT n, ${kind}, ${id} FROM next RETURNING n`
  if (row === undefined) throw new Error('the epoch has no row')
  return { n: Number(row.n), kind, id }
}
