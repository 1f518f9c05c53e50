import t, { type Test } from 'tap'
import { appendAudit } from '../../../../src/server/store/base/append-audit.ts'
import type { AuditRow } from '../../../../src/server/ports/audit/audit.ts'
import { readAudit, verifyAudit, type AuditFault } from '../../../../src/server/store/audit/audit-log.ts'
import { findAudit } from '../../../../src/server/store/audit/audit-search.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { auditEvent } from '../../../support/audit/audit.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

async function organization(store: Store, name = 'o'): Promise<string> {
  return must(await createOrganization(store, { name })).organization.id
}

/** A chain of ten events, each of an object named by its number. */
async function chainOfTen(t: Test): Promise<{ store: Store; organizationId: string }> {
  const store = await openTestStore(t)
  const organizationId = await organization(store)
  await store.sql.begin(async (tx) => {
    for (let n = 1; n <= 10; n++) await appendAudit(tx, auditEvent(organizationId, { objectId: `o${n}` }))
  })
  return { store, organizationId }
}

async function faultsOf(store: Store, organizationId: string): Promise<readonly AuditFault[]> {
  return must(await verifyAudit(store, organizationId)).faults
}

t.test('an unmodified chain is valid, and returns every event as it was appended', async (t) => {
  const { store, organizationId } = await chainOfTen(t)
  t.same(must(await verifyAudit(store, null)), { checked: 10, faults: [] })
  const rows: AuditRow[] = []
  must(await readAudit(store, organizationId, (row) => rows.push(row)))
  t.same(
    rows.map(({ n }) => n),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  )
  t.match(JSON.parse(rows[2]?.text ?? ''), {
    n: 3,
    object_id: 'o3',
    actor: { kind: 'system', id: null },
    after: { name: 'a' },
    before: null,
  })
})

const TAMPERINGS: readonly (readonly [string, string, number, AuditFault['problem']])[] = [
  ['the text', `UPDATE audit SET text = replace(text, 'o4', 'o5') WHERE n = 4`, 4, 'edited'],
  ['a byte of white space', `UPDATE audit SET text = text || ' ' WHERE n = 4`, 4, 'edited'],
  ['the hash', `UPDATE audit SET hash = sha256('x') WHERE n = 4`, 4, 'edited'],
  [
    'an event together with its own hash',
    `
    UPDATE audit a SET text = replace(a.text, 'o4', 'o9'), object_id = 'o9', hash = sha256(p.hash || convert_to(replace(a.text, 'o4', 'o9'), 'UTF8'))
    FROM audit p WHERE a.n = 4 AND p.n = 3`,
    5,
    'edited',
  ],
  ['the time', `UPDATE audit SET at = at + interval '1 microsecond' WHERE n = 4`, 4, 'edited'],
  ['the operation column', `UPDATE audit SET operation = 'x' WHERE n = 4`, 4, 'edited'],
  ['the outcome column', `UPDATE audit SET outcome = 'x' WHERE n = 4`, 4, 'edited'],
  ['the object column', `UPDATE audit SET object_id = 'x' WHERE n = 4`, 4, 'edited'],
  ['the kind column', `UPDATE audit SET object_kind = 'x' WHERE n = 4`, 4, 'edited'],
  ['the actor column', `UPDATE audit SET actor_id = 'x' WHERE n = 4`, 4, 'edited'],
  ['the workspace column', `UPDATE audit SET workspace_id = gen_random_uuid() WHERE n = 4`, 4, 'edited'],
  ['the text to what is no JSON', `UPDATE audit SET text = 'x' WHERE n = 4`, 4, 'edited'],
]
for (const [what, statement, n, problem] of TAMPERINGS) {
  t.test(`detects an edit of ${what} in SQL`, async (t) => {
    const { store, organizationId } = await chainOfTen(t)
    await store.sql.unsafe(statement)
    t.same(await faultsOf(store, organizationId), [{ organizationId, n, problem }])
  })
}

for (const [what, where, n] of [
  ['first', 'n = 1', 1],
  ['middle', 'n = 5', 5],
  ['last', 'n = 10', 10],
  ['last three', 'n > 7', 8],
] as const) {
  t.test(`detects that the ${what} of the events was dropped`, async (t) => {
    const { store, organizationId } = await chainOfTen(t)
    await store.sql.unsafe(`DELETE FROM audit WHERE ${where}`)
    t.same(await faultsOf(store, organizationId), [{ organizationId, n, problem: 'missing' }])
  })
}

t.test('detects that all events were dropped', async (t) => {
  const { store, organizationId } = await chainOfTen(t)
  await store.sql`DELETE FROM audit`
  t.same(await faultsOf(store, organizationId), [{ organizationId, n: 1, problem: 'missing' }])
})

t.test('detects a dropped head record, at the first event of its chain', async (t) => {
  const { store, organizationId } = await chainOfTen(t)
  await store.sql`DELETE FROM audit_heads`
  t.same(await faultsOf(store, organizationId), [{ organizationId, n: 1, problem: 'edited' }])
})

t.test('detects that the events after a dropped one were renumbered', async (t) => {
  const { store, organizationId } = await chainOfTen(t)
  await store.sql`DELETE FROM audit WHERE n = 5`
  for (let n = 6; n <= 10; n++) await store.sql`UPDATE audit SET n = ${n - 1} WHERE n = ${n}`
  await store.sql`UPDATE audit_heads SET n = 9`
  t.same(await faultsOf(store, organizationId), [{ organizationId, n: 5, problem: 'edited' }])
})

t.test('detects two exchanged events at the first one', async (t) => {
  const { store, organizationId } = await chainOfTen(t)
  await store.sql`UPDATE audit SET n = 1000 WHERE n = 3`
  await store.sql`UPDATE audit SET n = 3 WHERE n = 6`
  await store.sql`UPDATE audit SET n = 6 WHERE n = 1000`
  t.same(await faultsOf(store, organizationId), [{ organizationId, n: 3, problem: 'edited' }])
})

t.test('detects an event that was moved to another organization, in both chains', async (t) => {
  const { store, organizationId } = await chainOfTen(t)
  const other = await organization(store, 'p')
  await store.sql.begin((tx) => appendAudit(tx, auditEvent(other)))
  await store.sql`UPDATE audit SET organization_id = ${other}, n = 2 WHERE n = 10`
  const { faults } = must(await verifyAudit(store, null))
  t.same(
    faults.map((fault) => [fault.organizationId, fault.n]).sort(),
    [
      [organizationId, 10],
      [other, 2],
    ].sort(),
  )
})

t.test('detects an event that was added in SQL after the newest one', async (t) => {
  const { store, organizationId } = await chainOfTen(t)
  await store.sql`
    INSERT INTO audit SELECT organization_id, 11, at, workspace_id, operation, outcome, object_kind, object_id, actor_id, text, hash FROM audit WHERE n = 10`
  t.same(await faultsOf(store, organizationId), [{ organizationId, n: 11, problem: 'edited' }])
})

t.test('an event of a change that is rolled back is not in the audit log, and leaves no gap', async (t) => {
  const { store, organizationId } = await chainOfTen(t)
  const undone = store.sql.begin(async (tx) => {
    await appendAudit(tx, auditEvent(organizationId))
    throw new Error('undone')
  })
  await t.rejects(undone)
  await store.sql.begin((tx) => appendAudit(tx, auditEvent(organizationId)))
  t.same(must(await verifyAudit(store, organizationId)), { checked: 11, faults: [] })
})

t.test('many concurrent appends make one chain without gaps', async (t) => {
  const { store, organizationId } = await chainOfTen(t)
  const other = await organization(store, 'p')
  const both = [auditEvent(organizationId), auditEvent(other)]
  await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      store.sql.begin((tx) => appendAudit(tx, ...(n % 2 === 0 ? both : [...both].reverse()))),
    ),
  )
  t.same(must(await verifyAudit(store, null)), { checked: 210, faults: [] })
})

t.test('returns the audit log in pages, newest first, filtered by properties of events', async (t) => {
  const { store, organizationId } = await chainOfTen(t)
  const first = must(await findAudit(store, { organizationId, limit: 6 }))
  t.match(first, { nextBefore: 5, rows: [{ n: 10 }, { n: 9 }] })
  const before = first.rows.at(-1)?.n ?? 0
  t.match(must(await findAudit(store, { organizationId, limit: 6, before })), {
    nextBefore: null,
    rows: [{ n: 4 }, {}, {}, { n: 1 }],
  })
  t.match(
    must(await findAudit(store, { organizationId, limit: 6, objectKind: 'thing', objectId: 'o7' })).rows,
    [{ n: 7 }],
  )
  t.same(must(await findAudit(store, { organizationId, limit: 6, operation: 'other' })).rows, [])
})
