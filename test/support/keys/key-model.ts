/** A front's keys over a store and a feed that do one step at a time, in whatever order a test says. */
import { ok, type Outcome } from '../../../src/schemas/failures.ts'
import { KeyLoads } from '../../../src/server/access/access.ts'
import { createKnownKeys } from '../../../src/server/access/known-keys.ts'
import type { Change, Invalidation, KeyRecord, KeyStore } from '../../../src/server/ports/keys/keys.ts'
import { testKey } from './key-store.ts'

const OWNERS = ['a', 'b'] as const
/** Fewer than there are keys, so that some are evicted. */
const KNOWN_MAX = 3

/** A query of the store: sent, then read, then answered. */
interface Query {
  readonly hashes: readonly string[]
  rows: readonly KeyRecord[] | null
  readonly settle: (answer: Outcome<readonly KeyRecord[]>) => void
}

interface Poll {
  readonly epoch: number
  readonly changes: readonly Invalidation[]
}

export class KeyModel {
  readonly hashes: readonly string[]
  /** What went wrong, in words. */
  readonly wrong: string[] = []
  /** The truth; of a record `rateLimitRpm` is the number of the last change that touched it. */
  readonly #rows = new Map<string, KeyRecord>()
  /** By hash: the numbers of the changes that made or removed it. */
  readonly #lives: Readonly<Record<string, { readonly n: number; readonly isThere: boolean }[]>>
  readonly #log: Invalidation[] = []
  readonly #hints: Invalidation[] = []
  readonly #queries: Query[] = []
  #poll: Poll | null = null
  /** By name: the highest number of a change that this front was sent. */
  readonly #reported = new Map<string, number>()
  readonly #listeners = new Set<(change: Change) => void>()
  readonly #clock = { ms: 0 }
  readonly #feed = {
    epoch: 0,
    lastGoodPollAtMs: 0,
    subscribe: (listener: (change: Change) => void) => (
      this.#listeners.add(listener),
      () => void this.#listeners.delete(listener)
    ),
  }
  readonly #known = createKnownKeys(
    { feed: this.#feed, graceMs: Infinity, now: () => this.#clock.ms },
    KNOWN_MAX,
  )
  readonly #loads: KeyLoads
  #calls = 0

  constructor(keys: number) {
    const made = Array.from({ length: keys }, (_, at) => recordOf(at))
    this.hashes = made.map(({ hash }) => hash)
    for (const record of made) this.#rows.set(record.hash, record)
    this.#lives = Object.fromEntries(made.map(({ hash }) => [hash, [{ n: 0, isThere: true }]]))
    const load: KeyStore['load'] = (hashes) =>
      new Promise((settle) => this.#queries.push({ hashes, rows: null, settle }))
    this.#loads = new KeyLoads({ load }, this.#known)
  }

  /** Calls and queries that have no answer yet. */
  get open(): number {
    return this.#calls + this.#queries.length
  }

  /** As access does it; checks the front's knowledge against the changes that it was sent. */
  call(at: number): void {
    const hash = this.#hash(at)
    this.#look(hash)
    if (this.#known.find(hash) !== undefined || this.#isUnknown(hash)) return
    // A call that comes now must not get a state older than this.
    const reportedBefore = new Map(this.#reported)
    this.#calls++
    void this.#loads.load(hash).then((loaded) => {
      this.#calls--
      if (!loaded.ok) this.wrong.push(`a load ended with ${loaded.failure.name}`)
      else if (loaded.value === null) this.#checkAbsent(hash, reportedBefore)
      else this.#checkRecord(loaded.value.record, reportedBefore)
    })
  }

  /** A key is removed, made again, moved or changed, or one of its owners is. */
  commit(at: number, what: number): void {
    const hash = this.#hash(at)
    const row = this.#rows.get(hash)
    const n = this.#log.length + 1
    if (row === undefined) {
      this.#log.push({ n, kind: 'key', id: hash })
      this.#rows.set(hash, { ...recordOf(at), hash, rateLimitRpm: n })
      this.#lives[hash]?.push({ n, isThere: true })
    } else if (what % 5 === 0) {
      this.#log.push({ n, kind: 'key', id: hash })
      this.#rows.delete(hash)
      this.#lives[hash]?.push({ n, isThere: false })
    } else if (what % 5 === 1) {
      this.#log.push({ n, kind: 'key', id: hash })
      this.#rows.set(hash, { ...row, workspaceId: ownerOf(what), rateLimitRpm: n })
    } else {
      const kind = what % 5 === 2 ? 'organization' : 'workspace'
      const id =
        kind === 'organization'
          ? row.organizationId
          : what % 5 === 3
            ? (row.workspaceId ?? '')
            : row.defaultWorkspaceId
      this.#log.push({ n, kind, id })
      for (const other of this.#rows.values())
        if (touching(other).includes(`${kind}/${id}`))
          this.#rows.set(other.hash, { ...other, rateLimitRpm: n })
    }
    this.#hints.push(...this.#log.slice(-1))
  }

  /** Hints come in any order, twice, or never. */
  hint(at: number, what: number): void {
    const change = this.#hints[at % Math.max(1, this.#hints.length)]
    if (change === undefined) return
    if (what % 3 > 0) this.#hints.splice(this.#hints.indexOf(change), 1)
    if (what % 3 < 2) this.#tell(change)
  }

  /**
   * In turn: the poll reads the epoch and what changed, and its answer is obeyed. @param isWhole false: it
   * missed some
   */
  poll(isWhole: boolean): void {
    if (this.#poll === null) {
      this.#poll = { epoch: this.#log.length, changes: this.#log.slice(this.#feed.epoch) }
      return
    }
    const { epoch, changes } = this.#poll
    this.#poll = null
    if (isWhole) for (const change of changes) this.#tell(change)
    else {
      for (const change of this.#log.slice(0, epoch)) this.#hear(change)
      for (const listener of this.#listeners) listener({ kind: 'everything' })
    }
    this.#feed.epoch = epoch
    this.lookAtAll()
  }

  /** The store goes on with one of its queries. */
  answer(at: number): void {
    const query = this.#queries[at % Math.max(1, this.#queries.length)]
    if (query === undefined) return
    if (query.rows === null) {
      query.rows = query.hashes.flatMap((hash) => this.#rows.get(hash) ?? [])
      return
    }
    this.#queries.splice(this.#queries.indexOf(query), 1)
    query.settle(ok(query.rows))
  }

  wait(ms: number): void {
    this.#clock.ms += ms
  }

  lookAtAll(): void {
    for (const hash of this.hashes) this.#look(hash)
  }

  #isUnknown(hash: string): boolean {
    return this.#known.findMiss(hash) === true
  }

  #look(hash: string): void {
    const found = this.#known.find(hash)
    if (found !== undefined) this.#checkRecord(found.record, this.#reported)
    if (this.#isUnknown(hash)) this.#checkAbsent(hash, this.#reported)
    if (found !== undefined && this.#isUnknown(hash)) this.wrong.push('a key is known and unknown')
  }

  #tell(change: Invalidation): void {
    this.#hear(change)
    for (const listener of this.#listeners) listener(change)
    this.lookAtAll()
  }

  #hear({ n, kind, id }: Invalidation): void {
    const name = `${kind}/${id}`
    this.#reported.set(name, Math.max(n, this.#reported.get(name) ?? 0))
  }

  #checkRecord(record: KeyRecord, reported: ReadonlyMap<string, number>): void {
    const newest = Math.max(...touching(record).map((name) => reported.get(name) ?? 0))
    if ((record.rateLimitRpm ?? 0) < newest)
      this.wrong.push(`a record of change ${record.rateLimitRpm ?? 0} where ${newest} was told`)
  }

  /** At some time since the newest change that was sent, the key did not exist. */
  #checkAbsent(hash: string, reported: ReadonlyMap<string, number>): void {
    const newest = reported.get(`key/${hash}`) ?? 0
    const lives = this.#lives[hash] ?? []
    const wasAbsent = lives.some(({ isThere }, at) => !isThere && (lives[at + 1]?.n ?? Infinity) > newest)
    if (!wasAbsent) this.wrong.push(`a key that is there counts as unknown since before change ${newest}`)
  }

  #hash(at: number): string {
    return this.hashes[at % this.hashes.length] ?? ''
  }
}

/** The changes that touch a record, spelled out apart from the code that is tested. */
function touching({ hash, workspaceId, defaultWorkspaceId, organizationId }: KeyRecord): readonly string[] {
  return [
    `key/${hash}`,
    `workspace/${workspaceId ?? ''}`,
    `workspace/${defaultWorkspaceId}`,
    `organization/${organizationId}`,
  ]
}

function recordOf(at: number): KeyRecord {
  const { record } = testKey({
    organizationId: ownerOf(at),
    workspaceId: ownerOf(at >> 1),
    defaultWorkspaceId: ownerOf(at >> 2),
    rateLimitRpm: 0,
  })
  return record
}

function ownerOf(at: number): string {
  return OWNERS[at % OWNERS.length] ?? 'a'
}
