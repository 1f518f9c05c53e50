import { keptPrice, type KeptPrice } from '../../../schemas/money/price-at.ts'
import type { Generation, GenerationFacts } from '../../ports/inference/generations.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Sql } from '../base/open.ts'

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

/** The facts of a row in one document, as the older table has them. */
export const FACTS_DOCUMENT = `json_build_object(${pairsOf(FACTS)}, 'usage', json_strip_nulls(json_build_object(${pairsOf(USAGE)})))`

/** Records as arrays in the text form of Postgres, one for each of COLUMNS. */
export function columnsOf(batch: readonly Generation[]): readonly string[] {
  return COLUMNS.map(({ of }) => {
    const known = new Map<object, string>()
    const values = batch.map((one) => elementOf(of(one), known))
    // Postgres takes what an array lacks for null.
    return values.every((value) => value === NOTHING) ? '{}' : `{${values.join(',')}}`
  })
}

const NOTHING = 'NULL'

/** @param known JSON of earlier values: many calls have one price */
function elementOf(value: Value, known: Map<object, string>): string {
  if (typeof value === 'string') return quoted(value)
  if (value === null || value === undefined) return NOTHING
  if (typeof value !== 'object') return String(value)
  let json = known.get(value)
  if (json === undefined) {
    // The prices of a call may be its endpoint's, with the conditions.
    json = quoted(JSON.stringify('promptNanoPerMillion' in value ? keptPrice(value as KeptPrice) : value))
    known.set(value, json)
  }
  return json
}

function quoted(text: string): string {
  return `"${MARKS.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
}

const MARKS = /["\\]/

/** @param isAgain some may be there already, and stay as they are */
export function insertRecords(sql: Sql, columns: readonly string[], isAgain: boolean): PromiseLike<unknown> {
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

/** The newest record, also of those that older versions have written; null: there is none. */
export async function findRecord(sql: Sql, condition: Fragment): Promise<Generation | null> {
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
