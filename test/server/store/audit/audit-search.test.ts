import t, { type Test } from 'tap'
import { LIST_PAGE_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import type { AuditQuery } from '../../../../src/server/ports/audit/audit.ts'
import { appendAudit } from '../../../../src/server/store/base/append-audit.ts'
import { verifyAudit } from '../../../../src/server/store/audit/audit-log.ts'
import { AUDIT_LOOKED_MAX, findAudit } from '../../../../src/server/store/audit/audit-search.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { auditEvent } from '../../../support/audit/audit.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

async function stand(t: Test): Promise<{ store: Store; organizationId: string }> {
  const store = await openTestStore(t)
  return { store, organizationId: must(await createOrganization(store, { name: 'o' })).organization.id }
}

/**
 * So many rows of one actor, the oldest of which alone is of the object `first`; each is a second later than
 * the one before.
 */
async function fill({ sql }: Store, organizationId: string, count: number): Promise<void> {
  await sql`
    INSERT INTO audit (organization_id, n, at, operation, outcome, object_kind, object_id, actor_id, text, hash)
    SELECT ${organizationId}, k, '2026-01-01T00:00:00Z'::timestamptz + k * interval '1 second', 'test.release', 'released',
      CASE k WHEN 1 THEN 'first' ELSE 'thing' END, 'o' || k, 'ann', '{"n": ' || k || '}', '' FROM generate_series(1, ${count}::int) k`
}

t.test(
  'a search with few hits reads a limited number of rows, and the next one continues where it stopped',
  async (t) => {
    const { store, organizationId } = await stand(t)
    await fill(store, organizationId, AUDIT_LOOKED_MAX + 5)
    const query: AuditQuery = { organizationId, actorId: 'ann', objectKind: 'first', limit: 10 }
    t.same(must(await findAudit(store, query)), { rows: [], nextBefore: 6 })
    t.match(must(await findAudit(store, { ...query, before: 6 })), { rows: [{ n: 1 }], nextBefore: null })
    t.same(
      must(await findAudit(store, { ...query, before: AUDIT_LOOKED_MAX + 1 })).rows.map(({ n }) => n),
      [1],
      'as many as it looks at',
    )
    t.match(
      must(await findAudit(store, { organizationId, objectKind: 'first', limit: 10 })),
      { rows: [{ n: 1 }], nextBefore: null },
      'one wish has an index',
    )
  },
)

t.test('each of two organizations finds only its own events with any filter', async (t) => {
  const { store, organizationId } = await stand(t)
  const foreign = must(await createOrganization(store, { name: 'foreign' })).organization.id
  const more = {
    actor: { kind: 'key', id: 'k' },
    objectKind: 'preset',
    objectId: 'same',
    operation: 'presets.archive',
  } as const
  for (const id of [organizationId, foreign])
    await store.sql.begin((tx) => appendAudit(tx, auditEvent(id, more)))
  const inputs: readonly Partial<AuditQuery>[] = [
    {},
    { actorId: 'k' },
    { objectKind: 'preset' },
    { objectId: 'same' },
    { operation: 'presets.archive' },
    { outcome: 'changed' },
    { before: 9 },
    { since: '2020-01-01T00:00:00Z', until: '2999-01-01T00:00:00Z' },
    { actorId: 'k', objectKind: 'preset', operation: 'presets.archive' },
  ]
  for (const input of inputs) {
    const { rows } = must(await findAudit(store, { organizationId, limit: 9, ...input }))
    t.same([...new Set(rows.map((row) => row.organizationId))], [organizationId], JSON.stringify(input))
  }
})

t.test('a time is converted to the number of the first row that is not before it', async (t) => {
  const { store, organizationId } = await stand(t)
  const from = async (text: string): Promise<unknown> =>
    (await store.sql`SELECT audit_n_from(${organizationId}, ${text}::text::timestamptz)::int AS n`)[0]?.['n']
  t.equal(await from('2026-01-01T00:00:00Z'), 1, 'of an empty log')
  for (const count of [1, 2, 7, 8]) {
    await store.sql`DELETE FROM audit`
    await fill(store, organizationId, count)
    for (let k = 1; k <= count; k++) {
      t.equal(await from(`2026-01-01T00:00:0${k}Z`), k)
      t.equal(await from(`2026-01-01T00:00:0${k}.000001Z`), k + 1)
    }
    t.equal(await from('2020-01-01T00:00:00Z'), 1)
  }
})

t.test('times in the audit log do not go back when the clock does', async (t) => {
  const { store, organizationId } = await stand(t)
  await store.sql.begin((tx) => appendAudit(tx, auditEvent(organizationId)))
  await store.sql`UPDATE audit_heads SET at = '2099-01-01T00:00:00Z'`
  await store.sql.begin((tx) => appendAudit(tx, auditEvent(organizationId), auditEvent(organizationId)))
  const { rows } = must(await findAudit(store, { organizationId, limit: 9, since: '2098-12-31T23:59:59Z' }))
  t.same(
    rows.map(({ text }) => (JSON.parse(text) as { at: string }).at),
    Array(2).fill('2099-01-01T00:00:00.000000Z'),
  )
  t.same(must(await verifyAudit(store, organizationId)), { checked: 3, faults: [] })
})

t.test('a page of large events ends early, with at least one, and the next page continues', async (t) => {
  const { store, organizationId } = await stand(t)
  const large = (share: number): object => ({ text: 'x'.repeat(LIST_PAGE_BYTES_MAX * share) })
  for (const share of [0.1, 2, 0.6, 0.6, 0.6])
    await store.sql.begin((tx) => appendAudit(tx, auditEvent(organizationId, { after: large(share) })))
  const pageOf = async (before?: number): Promise<unknown> => {
    const { rows, nextBefore } = must(
      await findAudit(store, { organizationId, limit: 10, ...(before !== undefined && { before }) }),
    )
    return [rows.map(({ n }) => n), nextBefore]
  }
  t.same(await pageOf(), [[5, 4], 4])
  t.same(await pageOf(4), [[3, 2], 2])
  t.same(await pageOf(3), [[2], 2])
  t.same(await pageOf(2), [[1], null])
})
