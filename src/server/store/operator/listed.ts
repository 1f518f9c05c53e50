import { ok, type Outcome } from '../../../schemas/failures.ts'
import type { Page, PageInput } from '../../ports/workspaces/workspaces.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { workspaceIdOf } from '../base/find-workspace.ts'
import { ADMIN_LISTED_MAX } from '../../../schemas/operator/admin-port-limits.ts'

export interface Listing {
  readonly table: 'video_jobs' | 'webhook_deliveries'
  /**
   * Conditions of which each is one range of an index; within a range the index has the order of the list:
   * together they select the rows of the first filter.
   */
  readonly arms: readonly Fragment[]
  /** The other filters, each with its column. */
  readonly rest: readonly { readonly column: string; readonly is: Fragment }[]
  /**
   * The columns that follow the range in the index. For a range of an organization this is the time of
   * creation: with the order of ids the planner would read the whole table.
   */
  readonly order: 'born' | 'id'
}

interface ListedPage {
  /** Number of matching rows, at most ADMIN_LISTED_MAX. */
  readonly count: number
  /** Newest first. */
  readonly ids: readonly string[]
}

/** Finds the rows of a list and reads its page in one snapshot. */
export function readPage<T>(
  store: Store,
  read: (tx: Transaction) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  return store.sql.begin<Outcome<T>>('ISOLATION LEVEL REPEATABLE READ READ ONLY', read)
}

export interface ListInput extends PageInput {
  readonly organizationId: string
  readonly workspace?: string
}

export interface ListForm<Row> {
  /** @param workspaceId null = all workspaces */
  readonly listing: (tx: Transaction, workspaceId: string | null) => Listing
  /** In any order. */
  readonly rows: (tx: Transaction, ids: readonly string[]) => Promise<readonly Row[]>
}

/** A page of an operator's list, newest first. Failures: workspace_unknown, store_unavailable. */
export function readList<Row extends { readonly id: string }>(
  store: Store,
  input: ListInput,
  { listing, rows }: ListForm<Row>,
): Promise<Outcome<Page<Row>>> {
  return reach(() =>
    readPage<Page<Row>>(store, async (tx) => {
      const place =
        input.workspace === undefined ? null : await workspaceIdOf(tx, input.organizationId, input.workspace)
      if (place?.ok === false) return place
      const page = await listed(tx, listing(tx, place?.value ?? null), input)
      const found = page.ids.length === 0 ? [] : await rows(tx, page.ids)
      return ok({ rows: inOrder(found, page), totalCount: page.count })
    }),
  )
}

/** Ids of a page. The cost of a list depends only on the rows that it reads, not on the size of the table: see `ADMIN_LISTED_MAX`. */
async function listed(tx: Transaction, listing: Listing, { limit, offset }: PageInput): Promise<ListedPage> {
  // With outdated statistics the planner would fetch and sort all rows that match a filter, even millions.
  await tx`SET LOCAL enable_sort = off`
  const [row] = await tx<{ count: number; ids: string | null }[]>`
    SELECT count(*)::int AS count, array_to_string((array_agg(id))[${offset + 1}::int:${offset + limit}::int], ',') AS ids FROM (${reached(tx, listing)}) found`
  await tx`SET LOCAL enable_sort = on`
  const { count = 0, ids = null } = row ?? {}
  return { count, ids: ids === null || ids === '' ? [] : ids.split(',') }
}

/** All ids that a list reads, newest first. */
export function reached(sql: Queryable, { table, arms, rest, order }: Listing): Fragment {
  const columns = sql([
    'id',
    ...(order === 'born' ? ['created_at'] : []),
    ...rest.map(({ column }) => column),
  ])
  const newest = order === 'born' ? sql`created_at DESC, id DESC` : sql`id DESC`
  // Each range has its own ORDER BY, since otherwise the planner would not merge them. Only as much of a range
  // is read as needed.
  const [first, ...others] = arms.map(
    (arm) =>
      sql`(SELECT ${columns} FROM ${sql(table)} WHERE ${arm} ORDER BY ${newest} LIMIT ${ADMIN_LISTED_MAX})`,
  )
  if (first === undefined) throw new Error('no query was given for the list')
  const all = others.reduce<Fragment>((some, arm) => sql`${some} UNION ALL ${arm}`, first)
  const is = rest.reduce<Fragment>((some, one) => sql`${some} AND ${one.is}`, sql`true`)
  return sql`
    SELECT id FROM (SELECT * FROM (${all}) every_one ORDER BY ${newest} LIMIT ${ADMIN_LISTED_MAX}) looked WHERE ${is} ORDER BY ${newest}`
}

/** Sorts rows here in the order of the list: sorting in the statement would make the planner read a whole table in order. */
function inOrder<T extends { readonly id: string }>(rows: readonly T[], { ids }: ListedPage): readonly T[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
