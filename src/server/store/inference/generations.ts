import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { generationMsOf } from '../../../schemas/inference/generations.ts'
import { Shares } from '../../../schemas/values/callers.ts'
import { keptPrice, type KeptPrice } from '../../../schemas/money/price-at.ts'
import type {
  Generation,
  GenerationFacts,
  Generations,
  GenerationSought,
} from '../../ports/inference/generations.ts'
import type { Log } from '../../ports/observe.ts'
import { FairQueue } from '../../structures/swap-list.ts'
import { withDays, ensureDays, prunedDays, type DailyTable } from '../base/day-partitions.ts'
import type { Sql, Store } from '../base/open.ts'
import { isAway, reach, violatedUnique } from '../base/translate.ts'
import type { Fragment } from '../base/guarded-row.ts'
import { GENERATIONS_FLUSH_MS } from '../../../schemas/inference/inference-limits.ts'
import type { PruneStep } from '../../ports/operator/retention.ts'

/** Records that one statement writes. Decision. */
export const GENERATIONS_BATCH_ROWS = 500
/** Milliseconds that a batch may take before it counts as failed, and is written again. Decision. */
export const GENERATIONS_WRITE_MS_MAX = 5_000
/** Milliseconds between two attempts while the store is unavailable. Decision. */
export const GENERATIONS_RETRY_MS = 500
/** Records that a front holds while they cannot be written, about 1 KiB each; further ones are lost. Decision. */
export const GENERATIONS_WAITING_MAX = 10_000
/** Of these, records of one organization. Decision. */
export const GENERATIONS_ORGANIZATION_WAITING_MAX = 5_000

export interface GenerationsOptions {
  readonly store: Store
  readonly log: Log
  /** Counts records by outcome. */
  readonly count: (outcome: 'written' | 'lost', rows: number) => void
}

/**
 * Writes records in batches, independently of the calls. While the store is unavailable, records wait, up to
 * the size of the queue; a process that is killed loses the records of its last GENERATIONS_FLUSH_MS. Charges
 * do not depend on these records.
 */
export function openGenerations(options: GenerationsOptions): Generations & { close(): Promise<void> } {
  return new StoredGenerations(options)
}

class StoredGenerations implements Generations {
  readonly #options: GenerationsOptions
  readonly #queue = new GenerationQueue()
  /** Records that were taken from the queue and are not yet written. */
  #batch: readonly Generation[] = []
  /** Records lost for lack of room since the last log line. */
  #lost = 0
  #timer: NodeJS.Timeout | null = null
  #flushing: Promise<void> | null = null
  #isClosing = false

  constructor(options: GenerationsOptions) {
    this.#options = options
  }

  keep(generation: Generation): void {
    if (this.#isClosing || !this.#queue.push(generation)) this.#lose(1)
    else this.#schedule(GENERATIONS_FLUSH_MS)
  }

  find(sought: GenerationSought): Promise<Outcome<Generation>> {
    return reach(() => find(this.#options.store.sql, sought))
  }

  async close(): Promise<void> {
    this.#isClosing = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#flushing
    await this.#flush()
    this.#lose(this.#batch.length + this.#queue.size)
    this.#tellLost()
  }

  #schedule(inMs: number): void {
    if (this.#timer !== null || this.#flushing !== null) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#flushing = this.#flush().then((isWritten) => {
        this.#flushing = null
        this.#tellLost()
        const isEmpty = this.#batch.length === 0 && this.#queue.size === 0
        if (!this.#isClosing && !isEmpty)
          this.#schedule(isWritten ? GENERATIONS_FLUSH_MS : GENERATIONS_RETRY_MS)
      })
    }, inMs)
  }

  /** @returns false when the store is unavailable */
  async #flush(): Promise<boolean> {
    for (;;) {
      if (this.#batch.length === 0) this.#batch = this.#queue.take(GENERATIONS_BATCH_ROWS)
      if (this.#batch.length === 0) return true
      if (!(await this.#write(this.#batch))) return false
      this.#batch = []
    }
  }

  /** @returns false when the store is unavailable */
  async #write(batch: readonly Generation[]): Promise<boolean> {
    const { store, log, count } = this.#options
    try {
      await insertGenerations(store, batch)
      count('written', batch.length)
      return true
    } catch (cause) {
      if (isAway(cause)) return false
      // A record that the store will never accept must not delay the others; a record that is written twice is one row.
      if (batch.length > 1) {
        for (const one of batch) if (!(await this.#write([one]))) return false
        return true
      }
      log.error('generations.refused', { cause })
      count('lost', 1)
      return true
    }
  }

  #lose(rows: number): void {
    if (rows === 0) return
    this.#lost += rows
    this.#options.count('lost', rows)
  }

  #tellLost(): void {
    if (this.#lost > 0) this.#options.log.warn('generations.lost', { rows: this.#lost })
    this.#lost = 0
  }
}

/** Existing records are not changed; checking first whether each one exists takes Postgres longer. */
export async function insertGenerations(store: Store, batch: readonly Generation[]): Promise<void> {
  const columns = columnsOf(batch)
  const write = (isAgain: boolean): Promise<unknown> =>
    store.within(GENERATIONS_WRITE_MS_MAX, (sql) => insertRecords(sql, columns, isAgain))
  await withDays(
    store,
    { daily: GENERATION_TABLE, instants: () => batch.map(({ createdMs }) => createdMs) },
    () =>
      write(false).catch((problem: unknown) => {
        if (violatedUnique(problem) === null) throw problem
        return write(true)
      }),
  )
}

/** A provider may itself be Sluice and have ids of the same form, so the call's own id is looked up first. */
async function find(
  sql: Sql,
  { organizationId, workspaceId, id }: GenerationSought,
): Promise<Outcome<Generation>> {
  const ofOwner = sql`organization_id = ${organizationId} ${
    workspaceId === null ? sql`` : sql`AND workspace_id = ${workspaceId}`
  }`
  const createdMs = generationMsOf(id)
  const own =
    createdMs === null
      ? null
      : await findRecord(
          sql,
          sql`id = ${id} AND created_at = to_timestamp(${createdMs}::float8 / 1000) AND ${ofOwner}`,
        )
  const found = own ?? (await findRecord(sql, sql`upstream_id = ${id} AND ${ofOwner}`))
  return found === null ? fail('generation_unknown') : ok(found)
}

/**
 * Records that wait to be written. Workspaces take turns, and an organization has at most half of the places:
 * otherwise the records of others would be lost or late because of one organization with very many calls.
 */
export class GenerationQueue {
  readonly #waiting = new FairQueue<Generation>()
  readonly #shares = new Shares(GENERATIONS_ORGANIZATION_WAITING_MAX)

  get size(): number {
    return this.#waiting.size
  }

  /** @returns false when there is no room */
  push(generation: Generation): boolean {
    const { organizationId } = generation
    if (this.#waiting.size >= GENERATIONS_WAITING_MAX || !this.#shares.fits(1, organizationId)) return false
    this.#waiting.push(generation)
    this.#shares.add(1, organizationId)
    return true
  }

  /** The next records to be written, at most `most`. */
  take(most: number): readonly Generation[] {
    const taken: Generation[] = []
    while (taken.length < most) {
      const next = this.#waiting.shift()
      if (next === null) break
      this.#shares.add(-1, next.organizationId)
      taken.push(next)
    }
    return taken
  }
}

type ColumnType = 'text' | 'boolean' | 'int' | 'bigint' | 'json'
type Members<T> = Readonly<Record<keyof T, ColumnType>>

/** A column for each member, with its name in snake case. */
const FACTS: Members<Required<Omit<GenerationFacts, 'usage'>>> = {
  requestId: 'text',
  sessionId: 'text',
  model: 'text',
  provider: 'text',
  isStreamed: 'boolean',
  isCancelled: 'boolean',
  finishReason: 'text',
  isEstimated: 'boolean',
  chargedNano: 'bigint',
  isByok: 'boolean',
  latencyMs: 'int',
  upstreamMs: 'int',
  firstOutputMs: 'int',
  stalledMs: 'int',
  attempts: 'int',
  dropped: 'json',
  images: 'int',
  sounds: 'int',
  serviceTier: 'text',
  price: 'json',
  unpricedTier: 'text',
}
const USAGE: Members<Required<GenerationFacts['usage']>> = {
  input: 'bigint',
  cacheRead: 'bigint',
  cacheWrite: 'bigint',
  cacheWriteHour: 'bigint',
  output: 'bigint',
  reasoning: 'bigint',
  searches: 'int',
  media: 'json',
}

type Value = string | number | boolean | object | null | undefined

interface Column {
  readonly name: string
  readonly type: string
  readonly of: (one: Generation) => Value
}

const COLUMNS: readonly Column[] = [
  { name: 'id', type: 'text', of: ({ id }) => id },
  { name: 'created_at', type: 'float8', of: ({ createdMs }) => createdMs / 1_000 },
  { name: 'organization_id', type: 'uuid', of: ({ organizationId }) => organizationId },
  { name: 'workspace_id', type: 'uuid', of: ({ workspaceId }) => workspaceId },
  { name: 'upstream_id', type: 'text', of: ({ upstreamId }) => upstreamId },
  ...entriesOf(FACTS).map(([member, type]): Column => ({
    name: snake(member),
    type,
    of: ({ facts }) => facts[member],
  })),
  ...entriesOf(USAGE).map(([member, type]): Column => ({
    name: snake(member),
    type,
    of: ({ facts }) => facts.usage[member],
  })),
]
const NAMES = COLUMNS.map(({ name }) => name).join(', ')
const VALUES = NAMES.replace('created_at', 'to_timestamp(created_at)')

/** The facts of a row in one document, as in the older table. */
export const FACTS_DOCUMENT = `json_build_object(${pairsOf(FACTS)}, 'usage', json_strip_nulls(json_build_object(${pairsOf(USAGE)})))`

/** Records as arrays in the text form of Postgres, one for each of COLUMNS. */
function columnsOf(batch: readonly Generation[]): readonly string[] {
  return COLUMNS.map(({ of }) => {
    const known = new Map<object, string>()
    const values = batch.map((one) => elementOf(of(one), known))
    // Postgres reads missing elements of an array as null.
    return values.every((value) => value === NOTHING) ? '{}' : `{${values.join(',')}}`
  })
}

const NOTHING = 'NULL'

/** @param known JSON of earlier values: many calls have the same price */
function elementOf(value: Value, known: Map<object, string>): string {
  if (typeof value === 'string') return quoted(value)
  if (value === null || value === undefined) return NOTHING
  if (typeof value !== 'object') return String(value)
  let json = known.get(value)
  if (json === undefined) {
    // The prices of a call may be the object of its endpoint, which also contains conditions.
    json = quoted(JSON.stringify('promptNanoPerMillion' in value ? keptPrice(value as KeptPrice) : value))
    known.set(value, json)
  }
  return json
}

function quoted(text: string): string {
  return `"${MARKS.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
}

const MARKS = /["\\]/

/** @param isAgain some records may already exist; these are not changed */
function insertRecords(sql: Sql, columns: readonly string[], isAgain: boolean): PromiseLike<unknown> {
  const arrays = columns.map(
    (column, at) => sql`${at === 0 ? sql`` : sql`,`} ${column}::${sql.unsafe(`${COLUMNS[at]?.type}[]`)}`,
  )
  return sql`
    INSERT INTO generation_records (${sql.unsafe(NAMES)})
    SELECT ${sql.unsafe(VALUES)} FROM unnest(${arrays}) AS r (${sql.unsafe(NAMES)})
    ${isAgain ? sql`ON CONFLICT DO NOTHING` : sql``}`
}

interface Row {
  readonly id: string
  readonly created_ms: number
  readonly organization_id: string
  readonly workspace_id: string
  readonly upstream_id: string | null
  readonly facts: GenerationFacts
}

/** The newest matching record, including those written by older versions; null: no record. */
async function findRecord(sql: Sql, condition: Fragment): Promise<Generation | null> {
  const newestOf = (table: string, facts: string) => sql`(
    SELECT id, created_at, organization_id, workspace_id, upstream_id, ${sql.unsafe(facts)} AS facts FROM ${sql(table)}
    WHERE ${condition} ORDER BY created_at DESC LIMIT 1)`
  const [row] = await sql<Row[]>`
    SELECT id, extract(epoch FROM created_at)::float8 * 1000 AS created_ms, organization_id, workspace_id, upstream_id, facts
    FROM (${newestOf('generation_records', FACTS_DOCUMENT)} UNION ALL ${newestOf('generations', 'facts::json')}) AS found
    ORDER BY created_at DESC LIMIT 1`
  if (row === undefined) return null
  return {
    id: row.id,
    createdMs: Math.round(row.created_ms),
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    upstreamId: row.upstream_id,
    facts: row.facts,
  }
}

function snake(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function entriesOf<K extends string>(members: Readonly<Record<K, ColumnType>>): readonly [K, ColumnType][] {
  return Object.entries(members) as [K, ColumnType][]
}

function pairsOf(members: Readonly<Record<string, ColumnType>>): string {
  return Object.keys(members)
    .map((member) => `'${member}', ${snake(member)}`)
    .join(', ')
}

const GENERATION_TABLE: DailyTable = { table: 'generation_records', keyColumn: 'created_at' }
/** Rows of older versions: migration 33. */
const OLDER_TABLE: DailyTable = { table: 'generations', keyColumn: 'created_at' }

/** Creates missing partitions for today and the next days. @returns number of new ones */
export function ensureGenerationDays(store: Store): Promise<{ readonly partitions: number }> {
  return ensureDays(store, GENERATION_TABLE)
}

/** Drops whole days of the records of calls. @param keptDays 0 = records are kept forever */
export function generationDays(store: Store, keptDays: number): PruneStep {
  return prunedDays(store, { kind: 'generations', tables: [GENERATION_TABLE, OLDER_TABLE] }, keptDays)
}
