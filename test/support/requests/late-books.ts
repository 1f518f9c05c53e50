/** A ledger with payments that were not compared with the request log. */
import type { Store } from '../../../src/server/store/base/open.ts'
import { recoverRequests } from '../../../src/server/store/requests/request-rows.ts'
import { findRequests } from '../../../src/server/store/requests/request-search.ts'
import { openBooks, type Books } from '../money/ledger.ts'
import { must } from '../must.ts'
import type { Teardown } from '../teardown.ts'
import type { EndedCall } from './settled-call.ts'
import { NANO_PER_USD } from '../../../src/schemas/money/costs.ts'

export const TODAY = new Date().toISOString().slice(0, 10)
/** When everything here was paid, unless a test says otherwise. */
export const PAID_MS = Date.now() - 1_500

/** The embeddings calls of the log, newest first. */
export const idsOf = async ({ store, organizationId }: Books): Promise<readonly string[]> =>
  must(await findRequests(store, { organizationId, operation: 'embeddings.create', limit: 100 })).rows.map(
    ({ requestId, isRecovered }) => `${requestId}${isRecovered ? ' recovered' : ''}`,
  )

/** A call of the books' key that paid so much at PAID_MS. */
export const ownCall = (
  { organizationId, keyHash }: Books,
  requestId: string,
  costNano: number,
  more: Partial<EndedCall> = {},
): EndedCall => ({
  ...{ organizationId, keyHash, requestId, durationMs: 60_000 },
  notes: { costUsd: costNano / NANO_PER_USD, paidMs: PAID_MS },
  ...more,
})

/** What the recovered rows have cost, in nano-USD, least first. */
export const recoveredCosts = async ({ store, organizationId }: Books): Promise<readonly (number | null)[]> =>
  must(await findRequests(store, { organizationId, limit: 100 }))
    .rows.filter(({ isRecovered }) => isRecovered)
    .map(({ costNano }) => costNano)
    .sort((a, b) => Number(a) - Number(b))

/** Rows that a comparison has taken from the ledger. */
export async function recovered(...asked: Parameters<typeof recoverRequests>): Promise<number> {
  return (await recoverRequests(...asked)).recovered
}

/** Books whose payments since a second before PAID_MS were not compared. */
export async function openLate(t: Teardown): Promise<Books> {
  const books = await openBooks(t, TODAY)
  await markAt(books.store, Date.now() - PAID_MS + 1_000)
  return {
    ...books,
    book: (...rows) => books.book(...rows.map((row) => ({ atMs: PAID_MS, ...row }))),
  }
}

/** The comparison begins this long ago. */
export async function markAt(store: Store, agoMs: number): Promise<void> {
  await store.sql`
    UPDATE request_marks SET through = clock_timestamp() - ${agoMs}::float8 * interval '1 ms' WHERE id = 'ledger'`
}
