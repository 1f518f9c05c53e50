import { fail, ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { DirectoryActor } from '../../ports/scim/directory.ts'
import type { IfMatch, ScimPage, ScimQuery, ScimResources } from '../../ports/scim/scim.ts'
import { appendAudit } from '../base/append-audit.ts'
import type { Fragment } from '../base/guarded-row.ts'
import { isId, newId } from '../base/ids.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { conditionOf, type Condition, type FilterAttributes } from './filter.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { change, unprepared } from './scim-change.ts'

/** Facts about a change that the audit log has in addition to the resource itself. */
export type Details = object

/** A kind of resource in its table. */
export interface ResourceTable<R, Row extends object, Input, Change> {
  readonly unknown: FailureName
  readonly auditKind: string
  /** True when reading a single one may take as long as reading a list. */
  readonly isLarge: boolean
  readonly filters: FilterAttributes
  readonly id: Condition
  /** Further attributes by which lists can be sorted, in lower case. */
  readonly orders: ReadonlyMap<string, Condition>
  columns(sql: Queryable, hasMembers: boolean): Fragment
  /** The table, and the condition on its organization. */
  rows(sql: Queryable, organizationId: string): Fragment
  of(row: Row): R
  toAudit(resource: R): object
  /** Number of rows of a page with members. @param page the rows without their members */
  cut?(sql: Queryable, page: Fragment): Promise<Outcome<number>>
  insert(tx: Transaction, id: string, input: Input, by: DirectoryActor): Promise<Outcome<Details>>
  /** @returns the details, which may need the changed resource; null when nothing changes */
  write(
    tx: Transaction,
    before: R,
    change: Change,
    by: DirectoryActor,
  ): Promise<Outcome<((after: R) => Details) | null>>
  remove(tx: Transaction, id: string): Promise<Details>
}

/** The resources of one kind, as identity providers see them. */
export class StoredResources<
  R extends { readonly id: string; readonly version: number },
  Row extends object,
  Input,
  Change,
> implements ScimResources<R, Input, Change> {
  readonly #store: Store
  readonly #table: ResourceTable<R, Row, Input, Change>

  constructor(store: Store, table: ResourceTable<R, Row, Input, Change>) {
    this.#store = store
    this.#table = table
  }

  list(organizationId: string, query: ScimQuery, hasMembers = false): Promise<Outcome<ScimPage<R>>> {
    return this.#alone(organizationId, () => this.#page(organizationId, query, hasMembers))
  }

  get(organizationId: string, id: string, hasMembers = false): Promise<Outcome<R>> {
    const find = async (): Promise<Outcome<R>> => {
      const found = isId(id) ? await this.#find(this.#store.sql, { organizationId, id, hasMembers }) : null
      return found === null ? fail(this.#table.unknown) : ok(found)
    }
    return this.#table.isLarge ? this.#alone(organizationId, find) : reach(find)
  }

  create(input: Input, by: DirectoryActor): Promise<Outcome<R>> {
    return change(this.#store, by, async (tx) => {
      const id = newId()
      const details = await this.#table.insert(tx, id, input, by)
      if (!details.ok) return details
      const after = await this.#changed(tx, id, by)
      await appendAudit(tx, this.#event(by, { before: null, after, details: details.value }))
      return ok(after)
    })
  }

  update(id: string, wanted: Change, ifMatch: IfMatch, by: DirectoryActor): Promise<Outcome<R>> {
    return change(this.#store, by, async (tx) => {
      const before = await this.#hold(tx, id, { ifMatch, by })
      if (!before.ok) return before
      const written = await this.#table.write(tx, before.value, wanted, by)
      if (!written.ok) return written
      if (written.value === null) return before
      const after = await this.#changed(tx, id, by)
      const details = written.value(after)
      await appendAudit(tx, this.#event(by, { before: before.value, after, details }))
      return ok(after)
    })
  }

  remove(id: string, ifMatch: IfMatch, by: DirectoryActor): Promise<Outcome<null>> {
    return change(this.#store, by, async (tx) => {
      const before = await this.#hold(tx, id, { ifMatch, by })
      if (!before.ok) return before
      const details = await this.#table.remove(tx, id)
      await appendAudit(tx, this.#event(by, { before: before.value, after: null, details }))
      return ok(null)
    })
  }

  #alone<T>(organizationId: string, work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    return oneAtATime(this.#store, { organizationId, kind: 'read' }, () => reach(work))
  }

  async #page(organizationId: string, query: ScimQuery, hasMembers: boolean): Promise<Outcome<ScimPage<R>>> {
    const [{ sql }, table] = [this.#store, this.#table]
    const condition = conditionOf(query.filter, table.filters)
    if (!condition.ok) return condition
    const order = this.#orderOf(query)
    if (!order.ok) return order
    const rows = (): Fragment => sql`${table.rows(sql, organizationId)} AND ${condition.value(sql)}`
    const [total] = await unprepared(sql<{ count: number }[]>`SELECT count(*)::int AS count FROM ${rows()}`)
    const totalResults = total?.count ?? 0
    if (query.count === 0) return ok({ resources: [], totalResults })
    const page = (isWhole: boolean, count: number): Fragment => sql`
      SELECT ${table.columns(sql, isWhole)} FROM ${rows()}
      ORDER BY ${order.value(sql)} LIMIT ${count} OFFSET ${query.startIndex - 1}`
    const count =
      hasMembers && table.cut !== undefined ? await table.cut(sql, page(false, query.count)) : ok(query.count)
    if (!count.ok) return count
    const found = await unprepared(page(hasMembers, count.value))
    return ok({ resources: found.map((row) => table.of(row as Row)), totalResults })
  }

  /**
   * The order of a list: resources without the attribute come last, or first in descending order; without
   * `sortBy` the oldest come first. RFC 7644 §3.4.2.3.
   */
  #orderOf({ sortBy, isDescending }: ScimQuery): Outcome<Condition> {
    const { id, orders, filters } = this.#table
    if (sortBy === null) return ok(id)
    const name = sortBy.toLowerCase().replace(`${filters.schema.toLowerCase()}:`, '')
    const key = name === 'id' ? id : orders.get(name)
    if (key === undefined)
      return fail('scim_value_invalid', { detail: 'Lists cannot be sorted by the attribute in `sortBy`.' })
    return ok((sql) =>
      isDescending
        ? sql`${key(sql)} DESC NULLS FIRST, ${id(sql)}`
        : sql`${key(sql)} ASC NULLS LAST, ${id(sql)}`,
    )
  }

  async #find(
    sql: Queryable,
    { organizationId, id, hasMembers }: { organizationId: string; id: string; hasMembers: boolean },
  ): Promise<R | null> {
    const { columns, rows, id: column, of } = this.#table
    const [row] = await sql<Row[]>`
      SELECT ${columns(sql, hasMembers)} FROM ${rows(sql, organizationId)} AND ${column(sql)} = ${id}`
    return row === undefined ? null : of(row)
  }

  /** Locks the resource for a change. */
  async #hold(
    tx: Transaction,
    id: string,
    { ifMatch, by: { organizationId } }: { readonly ifMatch: IfMatch; readonly by: DirectoryActor },
  ): Promise<Outcome<R>> {
    const { unknown, rows, id: column } = this.#table
    if (!isId(id)) return fail(unknown)
    await tx`SELECT 1 FROM ${rows(tx, organizationId)} AND ${column(tx)} = ${id} FOR UPDATE`
    const found = await this.#find(tx, { organizationId, id, hasMembers: false })
    if (found === null) return fail(unknown)
    return ifMatch === null || ifMatch.includes(found.version) ? ok(found) : fail('scim_version_differs')
  }

  async #changed(tx: Transaction, id: string, { organizationId }: DirectoryActor): Promise<R> {
    const after = await this.#find(tx, { organizationId, id, hasMembers: false })
    if (after === null) throw new Error(`a ${this.#table.auditKind} that was written no longer exists`)
    return after
  }

  #event({ actor, requestId, operation, organizationId }: DirectoryActor, changed: Audited<R>): AuditEvent {
    const { before, after, details } = changed
    const { toAudit, auditKind } = this.#table
    const resource = after ?? before
    if (resource === null) throw new Error('audit event without a resource')
    return {
      actor,
      requestId,
      operation,
      organizationId,
      workspaceId: null,
      outcome: 'changed',
      objectKind: auditKind,
      objectId: resource.id,
      before: before === null ? null : { ...toAudit(before), ...(after === null && details) },
      after: after === null ? null : { ...toAudit(after), ...details },
    }
  }
}

interface Audited<R> {
  readonly before: R | null
  readonly after: R | null
  readonly details: Details
}
