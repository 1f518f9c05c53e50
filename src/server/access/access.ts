import { hashOfKey, isKeyShaped, type KeyKind } from '../../schemas/keys/api-keys.ts'
import { fail, type Failure, ok, type Outcome } from '../../schemas/failures.ts'
import { hasScope, scopesText } from '../../schemas/keys/permissions.ts'
import type { Operation, AnyOperation } from '../operations/define.ts'
import type { EpochFeed, KeyRecord, KeyStore } from '../ports/keys/keys.ts'
import type { Meters } from '../ports/observe.ts'
import { createKnownKeys, type KnownKey, knownKey, type KnownKeys } from './known-keys.ts'

/** Concurrent queries of one front that load keys; each query loads all waiting keys. Decision. */
export const KEY_QUERIES_MAX = 4
/** Keys that a new front loads at its start: the keys that another front of the node used last. Decision. */
export const KEYS_HANDED_MAX = 10_000
/** Keys that a new front loads at once at its start. Decision. */
export const KEYS_HANDED_QUERY_MAX = 1_000

export interface AccessOptions {
  readonly keys: KeyStore
  readonly feed: EpochFeed
  /** Milliseconds after the last good poll during which known keys are served without asking the store. Design §3. */
  readonly graceMs: number
  /** Milliseconds of the wall clock, as `Date.now`. */
  readonly now: () => number
  readonly meters?: Pick<Meters, 'keyLookup'>
  /** The most keys that are cached; KEYS_CACHED_MAX when absent. */
  readonly cachedMax?: number
}

/** Identifies the caller, only from the request's headers. */
export interface Access {
  /**
   * Synchronous for a key that this front knows, which is nearly always.
   * Failures: credentials_missing, key_unknown, key_expired, key_disabled, busy, store_unavailable.
   */
  authenticate(authorization: string): Outcome<KeyRecord> | Promise<Outcome<KeyRecord>>
  /** `wrong_key_kind` or `scope_missing` with the kind or scope that the operation needs, or null. C3, C4, */
  checkKey(operation: Operation, key: KeyRecord): Failure | null
  /** Hashes of the cached keys, the most recently used first; at most KEYS_HANDED_MAX. */
  knownKeys(): readonly string[]
  /**
   * Loads up to KEYS_HANDED_MAX of these keys while `mayGoOn` returns true. The other keys are loaded at
   * their first use. @returns the number of these keys that are then cached
   */
  beginWith(hashes: readonly string[], mayGoOn: () => boolean): Promise<number>
  close(): void
}

const CREDENTIALS_MISSING = fail('credentials_missing', { fields: { header: 'Authorization: Bearer <key>' } })
const KEY_UNKNOWN = fail('key_unknown')
const KEY_EXPIRED = fail('key_expired')
const KEY_DISABLED = fail('key_disabled')

export function createAccess({ keys, feed, graceMs, now, meters, cachedMax }: AccessOptions): Access {
  const known = createKnownKeys({ feed, graceMs, now }, cachedMax)
  const loads = new KeyLoads(keys, known)

  const usable = ({ record, outcome }: KnownKey): Outcome<KeyRecord> => {
    // A key that is both expired and disabled is reported as expired.
    if (record.expiresAtMs !== null && now() >= record.expiresAtMs) return KEY_EXPIRED
    return record.isDisabled ? KEY_DISABLED : outcome
  }
  const load = async (hash: string): Promise<Outcome<KeyRecord>> => {
    const loaded = await loads.load(hash)
    if (!loaded.ok) return loaded
    return loaded.value === null ? KEY_UNKNOWN : usable(loaded.value)
  }

  return {
    authenticate(authorization) {
      const hash = hashOfBearer(authorization)
      if (hash === MISSING) return CREDENTIALS_MISSING
      if (hash === FOREIGN) return KEY_UNKNOWN
      const found = known.find(hash)
      if (found !== undefined) {
        meters?.keyLookup('cache')
        return usable(found)
      }
      if (known.findMiss(hash) === true) {
        meters?.keyLookup('unknown_cache')
        return KEY_UNKNOWN
      }
      meters?.keyLookup('store')
      return load(hash)
    },
    checkKey(operation, key) {
      const { keys: kinds, keyScopes = [] } = operation.access
      if (!kinds.includes(key.kind))
        return {
          name: 'wrong_key_kind',
          fields: { kind: kinds.map((kind) => KIND_TEXTS[kind]).join(' or ') },
        }
      return hasScope(key.scopes, keyScopes)
        ? null
        : { name: 'scope_missing', fields: { scope: scopesText(keyScopes) } }
    },
    knownKeys: () => known.list(KEYS_HANDED_MAX),
    async beginWith(hashes, mayGoOn) {
      let count = 0
      const begin = async (hash: string): Promise<void> => {
        const loaded = await loads.load(hash)
        if (loaded.ok && loaded.value !== null) count++
      }
      for (
        let at = 0;
        at < Math.min(hashes.length, KEYS_HANDED_MAX) && mayGoOn();
        at += KEYS_HANDED_QUERY_MAX
      ) {
        // The keys of one query arrive together. A key that changed in the meantime is loaded again, without a wait here.
        await Promise.race(hashes.slice(at, at + KEYS_HANDED_QUERY_MAX).map(begin))
      }
      await new Promise((resolve) => setImmediate(resolve))
      return count
    },
    close: () => known.close(),
  }
}

const KIND_TEXTS: Readonly<Record<KeyKind, string>> = {
  inference: 'an inference key',
  management: 'a management key',
  intern: 'an intern key',
  scim: 'a SCIM token',
}

/** The header contains no bearer token. */
export const MISSING = 'missing'
/** The token cannot be a key of this installation. */
export const FOREIGN = 'foreign'

/** Characters of a header that is read: the scheme, some spaces and the longest key. */
const HEADER_CHARS_MAX = 256

/**
 * Reads `Authorization: Bearer <key>`. The scheme may be in any case, as RFC 9110 allows. §5 rule 1.
 * @returns the key's hash, MISSING or FOREIGN
 */
export function hashOfBearer(authorization: string): string {
  if (authorization.charCodeAt(6) !== 0x20 || !isBearer(authorization.slice(0, 6))) return MISSING
  if (authorization.length > HEADER_CHARS_MAX) return FOREIGN
  const key = authorization.slice(7).trim()
  if (key === '') return MISSING
  // The store is asked only about tokens with the shape of a key: garbage causes no load.
  return isKeyShaped(key) ? hashOfKey(key) : FOREIGN
}

function isBearer(scheme: string): boolean {
  return scheme === 'Bearer' || scheme.toLowerCase() === 'bearer'
}

/** Checks whether a request was sent to a hostname that promises a region. */
export interface RegionalHosts {
  /** @param host the request's `Host` as the client sent it */
  has(host: string): boolean
}

/** @param names lower case, without a trailing dot */
export function regionalHosts(names: readonly string[]): RegionalHosts {
  const known = new Set(names)
  return { has: (host) => known.size > 0 && known.has(nameOf(host)) }
}

/** The name in a `Host` header: without port and without the dot that ends an absolute name, in lower case. */
function nameOf(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
}

const PROGRAMME_CLOSED = fail('programme_closed').failure
const REGIONAL_REFUSED = fail('regional_refused').failure
const WRITES_DISABLED = fail('vault_writes_disabled').failure

/**
 * The refusal due to the workspace or the hostname, in the contract's order: a caller outside the programme
 * learns of no other reasons for refusal. Null: the check of the operation's scope follows. §4.4, §5,
 */
export function placeRefusal(
  { access }: AnyOperation,
  key: KeyRecord,
  call: { readonly isRegional: boolean },
): Failure | null {
  if (access.isOfProgramme === true && !key.isInProgramme) return PROGRAMME_CLOSED
  return access.refusesRegional === true && call.isRegional ? REGIONAL_REFUSED : null
}

/** Checked after the scope, so that a key without access to the vault cannot learn that writes are disabled. */
export function writesRefusal({ access }: AnyOperation, key: KeyRecord): Failure | null {
  return access.writesVault === true && !key.mayWriteVault ? WRITES_DISABLED : null
}

type Loaded = Outcome<KnownKey | null>

export class KeyLoads {
  readonly #known: KnownKeys
  readonly #queries: KeyQueries

  constructor(store: KeyStore, known: KnownKeys) {
    this.#known = known
    this.#queries = new KeyQueries(store)
  }

  /**
   * Waits for at most two answers of the store, that of the query in flight and its own, and for one more
   * after each change of the key. A null value: no such key exists. Failures: busy (too many loads, or
   * changes without a pause), store_unavailable.
   */
  load(hash: string): Promise<Loaded> {
    return this.#known.load({ id: hash, read: (sending) => this.#queries.read(hash, sending) })
  }
}

interface MissedKey {
  readonly hash: string
  readonly sending: () => void
  readonly settle: (loaded: Loaded) => void
}

/**
 * Loads all keys missed in one turn of the loop with one query. While all queries are in flight, missed keys
 * wait until one ends and are then loaded together. So a client that invents keys makes queries longer but
 * not more numerous, and blocks no other key.
 */
class KeyQueries {
  readonly #store: KeyStore
  #waiting: MissedKey[] = []
  #queries = 0
  #turn: NodeJS.Immediate | null = null

  constructor(store: KeyStore) {
    this.#store = store
  }

  read(hash: string, sending: () => void): Promise<Loaded> {
    return new Promise((settle) => {
      this.#waiting.push({ hash, sending, settle })
      this.#turn ??= setImmediate(() => {
        this.#turn = null
        this.#sendWaiting()
      })
    })
  }

  #sendWaiting(): void {
    if (this.#waiting.length === 0 || this.#queries >= KEY_QUERIES_MAX) return
    const waiting = this.#waiting
    this.#waiting = []
    this.#queries++
    void this.#send(waiting).finally(() => {
      this.#queries--
      this.#sendWaiting()
    })
  }

  async #send(missed: readonly MissedKey[]): Promise<void> {
    for (const { sending } of missed) sending()
    // A bug in the store must not leave callers without an answer.
    const answer = await this.#store
      .load(missed.map(({ hash }) => hash))
      .catch((cause: unknown) => fail('internal', { cause }))
    if (!answer.ok) return missed.forEach(({ settle }) => settle(answer))
    const records = new Map(answer.value.map((record) => [record.hash, knownKey(record)]))
    for (const { hash, settle } of missed) settle(ok(records.get(hash) ?? null))
  }
}
