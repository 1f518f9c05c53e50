import { newApiKey, type KeyKind } from '../../../src/schemas/keys/api-keys.ts'
import { fail, ok, type Outcome } from '../../../src/schemas/failures.ts'
import type { Change, EpochFeed, KeyRecord, KeyStore } from '../../../src/server/ports/keys/keys.ts'
import { gate, type Gate } from '../gate.ts'
import { NO_LIMITS } from '../money/key-money.ts'

/** A feed that publishes the changes of the test. */
export interface TestFeed extends EpochFeed {
  epoch: number
  lastGoodPollAtMs: number
  tell(change: Change): void
}

export function testFeed(): TestFeed {
  const listeners = new Set<(change: Change) => void>()
  return {
    epoch: 0,
    lastGoodPollAtMs: 0,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    tell: (change) => listeners.forEach((listener) => listener(change)),
  }
}

/**
 * The truth of keys, which the test may change, hold up and take away between the question and the answer.
 */
export interface TestKeyStore extends KeyStore {
  readonly records: Map<string, KeyRecord>
  readonly asked: string[]
  /** How many keys each query was for. */
  readonly queries: number[]
  isAway: boolean
  /** The next query is read at once, but answered only when the gate opens. */
  hold(): HeldQuery
}

export interface HeldQuery extends Gate {
  /** Resolves when the query has been read. */
  readonly read: Promise<void>
}

export function testKeyStore(): TestKeyStore {
  let held: { readonly answer: Gate; readonly read: Gate } | null = null
  const store: TestKeyStore = {
    records: new Map(),
    asked: [],
    queries: [],
    isAway: false,
    hold() {
      const [answer, read] = [gate(), gate()]
      held = { answer, read }
      return { ...answer, read: read.opened }
    },
    async load(hashes): Promise<Outcome<readonly KeyRecord[]>> {
      store.asked.push(...hashes)
      store.queries.push(hashes.length)
      const read = store.isAway
        ? fail('store_unavailable')
        : ok(hashes.flatMap((hash) => store.records.get(hash) ?? []))
      const waits = held
      held = null
      waits?.read.open()
      await waits?.answer.opened
      return read
    },
  }
  return store
}

/** A key of the workspace `w` of the organization `o`. */
export function testKey(more: Partial<KeyRecord> = {}): {
  readonly bearer: string
  readonly record: KeyRecord
} {
  const kind: KeyKind = more.kind ?? 'inference'
  const { key, hash } = newApiKey(kind)
  const record: KeyRecord = {
    hash,
    kind,
    name: 'test',
    organizationId: 'o',
    workspaceId: kind === 'management' ? null : 'w',
    defaultWorkspaceId: 'd',
    internId: null,
    rateLimitRpm: null,
    rateLimitBurst: null,
    isDisabled: false,
    isInProgramme: true,
    mayWriteVault: true,
    expiresAtMs: null,
    allowedModels: null,
    scopes: null,
    money: NO_LIMITS,
    ...more,
  }
  return { bearer: `Bearer ${key}`, record }
}
