import type { Fragment } from '../base/guarded-row.ts'
import type { Queryable } from '../base/open.ts'

/** A row to which a user refers by its id, the beginning of its id, or its name. */
export interface Referred {
  /** A UUID, a key's hash, or the text that identifies a node or a request. */
  readonly id: string
  /** Null for rows without a name. */
  readonly name: string | null
}

/** Least number of digits in the beginning of an id; a shorter text is treated as a name. Decision. */
export const PREFIX_DIGITS_MIN = 6

/** Kinds of rows to which a user may refer. */
export type ReferredKind =
  'key' | 'vault' | 'scim token' | 'delivery' | 'endpoint' | 'intern' | 'node' | 'journal' | 'request'

interface Source {
  rows(sql: Queryable): Fragment
  readonly id: 'hash' | 'uuid' | 'text'
}

/** Queries that return rows as `id` and `name`, without revoked or removed ones. */
const SOURCES: Readonly<Record<ReferredKind, Source>> = {
  key: {
    rows: (sql) => sql`SELECT hash AS id, name FROM api_keys WHERE revoked_at IS NULL`,
    id: 'hash',
  },
  vault: { rows: (sql) => sql`SELECT id, name FROM vaults WHERE kind = 'attachable'`, id: 'uuid' },
  'scim token': {
    rows: (sql) => sql`SELECT id, name FROM scim_tokens WHERE revoked_at IS NULL`,
    id: 'uuid',
  },
  delivery: { rows: (sql) => sql`SELECT id, NULL::text AS name FROM webhook_deliveries`, id: 'uuid' },
  endpoint: {
    rows: (sql) => sql`SELECT id, model_permaslug AS name FROM private_endpoints WHERE deleted_at IS NULL`,
    id: 'uuid',
  },
  intern: {
    rows: (sql) => sql`
      SELECT i.id, i.name FROM interns i JOIN workspaces w ON w.id = i.workspace_id AND w.deleted_at IS NULL`,
    id: 'uuid',
  },
  node: {
    rows: (sql) =>
      sql`SELECT node AS id, NULL::text AS name FROM journals UNION SELECT node, NULL FROM fronts`,
    id: 'text',
  },
  journal: {
    rows: (sql) => sql`
      SELECT DISTINCT journal_id AS id, NULL::text AS name FROM ledger WHERE kind = 'forfeit' AND journal_id IS NOT NULL`,
    id: 'uuid',
  },
  request: {
    rows: (sql) =>
      sql`SELECT DISTINCT request_id AS id, NULL::text AS name FROM ledger WHERE kind = 'forfeit'`,
    id: 'text',
  },
}

const BEGINNINGS = { hash: hashesFrom, uuid: uuidsFrom, text: textsFrom } as const

/**
 * Rows of all organizations whose name is the text, or whose id begins with it. If the text is the name of one
 * row and the beginning of another row's id, both are returned. For ids without a fixed form an exact match is
 * first. Only for the command line.
 */
export async function findReferred(
  sql: Queryable,
  kind: ReferredKind,
  { text, countMax }: { readonly text: string; readonly countMax: number },
): Promise<readonly Referred[]> {
  const { rows, id } = SOURCES[kind]
  const begins = BEGINNINGS[id](sql, text)
  return sql<Referred[]>`
    SELECT r.id::text AS id, r.name FROM (${rows(sql)}) r
    WHERE r.name = ${text} ${begins === null ? sql`` : sql`OR ${begins}`} ORDER BY ${id === 'text' ? sql`r.id <> ${text},` : sql``} r.id LIMIT ${countMax}`
}

/** Names of rows, to be compared with an unknown one. */
export async function referredNames(
  sql: Queryable,
  kind: ReferredKind,
  countMax: number,
): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    SELECT DISTINCT r.name FROM (${SOURCES[kind].rows(sql)}) r WHERE r.name IS NOT NULL ORDER BY r.name LIMIT ${countMax}`
  return rows.map(({ name }) => name)
}

function hashesFrom(sql: Queryable, text: string): Fragment | null {
  const prefix = text.toLowerCase()
  return prefix.length >= PREFIX_DIGITS_MIN && /^[0-9a-f]{1,64}$/.test(prefix)
    ? sql`starts_with(r.id, ${prefix})`
    : null
}

const [LEAST, GREATEST] = ['0', 'f'].map((digit) => [8, 4, 4, 4, 12].map((n) => digit.repeat(n)).join('-'))
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A range condition, for which the index of the ids is used, however many rows there are. */
function uuidsFrom(sql: Queryable, text: string): Fragment | null {
  const prefix = text.toLowerCase()
  const [from, to] = [LEAST, GREATEST].map((bound = '') => prefix + bound.slice(prefix.length))
  if (prefix.length < PREFIX_DIGITS_MIN || from === undefined || to === undefined) return null
  return UUID.test(from) && UUID.test(to) ? sql`r.id BETWEEN ${from}::uuid AND ${to}::uuid` : null
}

/** For ids of any form and length: a text with few characters must be the whole id. */
function textsFrom(sql: Queryable, text: string): Fragment {
  return text.length < PREFIX_DIGITS_MIN ? sql`r.id = ${text}` : sql`starts_with(lower(r.id), lower(${text}))`
}
