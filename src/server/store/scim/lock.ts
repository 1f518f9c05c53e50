import type { Transaction } from '../base/open.ts'

/** First key of the advisory locks of directories, which have two keys. */
const LOCK_CLASS = 7

/**
 * Serializes changes of groups, members, mappings and grants of an organization until the commit: rows that a
 * transaction reads under the lock stay so until it has written. The lock follows that of a workspace, and
 * precedes rows of the directory. Two organizations may share one lock; no transaction takes two.
 */
export async function lockDirectory(tx: Transaction, organizationId: string): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(${LOCK_CLASS}::integer, hashtext(${organizationId}::uuid::text))`
}
