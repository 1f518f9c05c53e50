/** Access over a store and a feed in memory, at a time that stands still until a test moves it. */
import type { Outcome } from '../../../src/schemas/failures.ts'
import { createAccess, type Access } from '../../../src/server/access/access.ts'
import type { KeyRecord } from '../../../src/server/ports/keys/keys.ts'
import { testFeed, testKeyStore, type TestFeed, type TestKeyStore } from './key-store.ts'

export interface AccessRig {
  readonly access: Access
  readonly store: TestKeyStore
  readonly feed: TestFeed
  readonly clock: { ms: number }
}

export const GRACE_MS = 300_000

export function rig(...keys: readonly { readonly record: KeyRecord }[]): AccessRig {
  const clock = { ms: 0 }
  const store = testKeyStore()
  const feed = testFeed()
  for (const { record } of keys) store.records.set(record.hash, record)
  return {
    access: createAccess({ keys: store, feed, graceMs: GRACE_MS, now: () => clock.ms }),
    store,
    feed,
    clock,
  }
}

export function nameOf(outcome: Outcome<KeyRecord> | Promise<Outcome<KeyRecord>>): string {
  if (outcome instanceof Promise) return 'a promise'
  return outcome.ok ? 'accepted' : outcome.failure.name
}

export async function ask({ access }: AccessRig, bearer: string): Promise<string> {
  return nameOf(await access.authenticate(bearer))
}
