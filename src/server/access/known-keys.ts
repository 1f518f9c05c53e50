import { ok, type Outcome } from '../../schemas/failures.ts'
import { KEYS_CACHED_MAX, UNKNOWN_KEYS_CACHED_MAX } from '../../schemas/keys/key-limits.ts'
import { LiveCache, type LiveCacheDeps } from '../caches/live-cache.ts'
import { EVERYTHING } from '../caches/recent-changes.ts'
import type { Change, KeyRecord } from '../ports/keys/keys.ts'

/**
 * Keys of one front that are loading or wait to be loaded: a flood of invented keys must reach the limit of
 * connections before it exhausts the memory. Decision.
 */
export const KEY_LOADS_MAX = 4_096
/** Milliseconds for which an unknown key is remembered as unknown. Decision. */
export const UNKNOWN_KEY_TTL_MS = 5_000

/** A cached record with the outcome of a hit, which is created once. */
export interface KnownKey {
  readonly record: KeyRecord
  readonly outcome: Outcome<KeyRecord>
}

/** The keys that this front caches by their hashes, and the keys that it remembers as unknown. */
export type KnownKeys = LiveCache<KnownKey | null, KnownKey, true>

type KnownKeysDeps = Pick<LiveCacheDeps<unknown, unknown, unknown>, 'feed' | 'graceMs' | 'now'>

export function createKnownKeys(deps: KnownKeysDeps, max = KEYS_CACHED_MAX): KnownKeys {
  return new LiveCache({
    ...deps,
    nameOf,
    entries: { max, of: (known) => known, ownersOf: ({ record }) => ownersOf(record) },
    misses: { max: UNKNOWN_KEYS_CACHED_MAX, of: () => true, ms: UNKNOWN_KEY_TTL_MS },
    loads: { max: KEY_LOADS_MAX },
  })
}

export function knownKey(record: KeyRecord): KnownKey {
  return { record: Object.freeze(record), outcome: ok(record) }
}

function nameOf(change: Change): string | null {
  switch (change.kind) {
    case 'key':
      return change.id
    case 'workspace':
    case 'organization':
      return `${change.kind}/${change.id}`
    case 'everything':
      return EVERYTHING
    case 'catalogue':
    case 'vault':
    case 'private_endpoint':
    case 'preset':
      return null
    default:
      return change satisfies never
  }
}

function ownersOf({ workspaceId, defaultWorkspaceId, organizationId }: KeyRecord): readonly string[] {
  const owners = [`workspace/${defaultWorkspaceId}`, `organization/${organizationId}`]
  return workspaceId === null || workspaceId === defaultWorkspaceId
    ? owners
    : [...owners, `workspace/${workspaceId}`]
}
