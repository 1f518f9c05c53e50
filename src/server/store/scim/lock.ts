import type { Transaction } from '../base/open.ts'

/** Names these locks among advisory ones of two numbers. */
const LOCK_CLASS = 7

/**
 * Whoever changes groups, members, mappings or grants of an organization takes turns here until the commit:
 * what one reads of them is so until it has written. It comes behind the lock of a workspace, and before rows
 * of the directory. Two organizations may share one lock; nobody takes two.
 */
export async function lockDirectory(tx: Transaction, organizationId: string): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(${LOCK_CLASS}::integer, hashtext(${organizationId}::uuid::text))`
}
