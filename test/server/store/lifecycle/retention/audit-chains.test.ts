import t, { type Test } from 'tap'
import { appendAudit } from '../../../../../src/server/store/base/append-audit.ts'
import { AUDIT_PRUNE, readAudit, verifyAudit } from '../../../../../src/server/store/audit/audit-log.ts'
import { findAudit } from '../../../../../src/server/store/audit/audit-search.ts'
import type { Store } from '../../../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../../../src/server/store/workspaces/organizations.ts'
import { auditChains } from '../../../../../src/server/store/lifecycle/retention/audit-chains.ts'
import { auditEvent } from '../../../../support/audit/audit.ts'
import { keptLog, SILENT } from '../../../../support/log.ts'
import { must } from '../../../../support/must.ts'
import { openTestStore } from '../../../../support/stores/postgres.ts'
import { plantEvents, runOut, runStep, turnOf } from '../../../../support/operator/retention.ts'
import { PRUNED_AT_ONCE } from '../../../../../src/schemas/operator/admin-port-limits.ts'

t.setTimeout(600_000)

/** A chain whose events begin 400 days ago, all but the last of them older than the months that are kept. */
async function chain(store: Store, count: number): Promise<string> {
  const organizationId = must(await createOrganization(store, { name: 'o' })).organization.id
  await plantEvents(store.sql, { organizationId, name: 'e', count, fromDays: 400, toDays: 100 })
  await store.sql.begin((tx) => appendAudit(tx, auditEvent(organizationId, { objectId: 'new' })))
  return organizationId
}

async function stand(t: Test, count: number) {
  const store = await openTestStore(t)
  return {
    store,
    organizationId: await chain(store, count),
    step: auditChains({ store, keptMonths: 1, log: SILENT }),
  }
}

async function eventsOf(
  store: Store,
  organizationId: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const events: Readonly<Record<string, unknown>>[] = []
  must(
    await readAudit(store, organizationId, ({ text }) =>
      events.push(JSON.parse(text) as Readonly<Record<string, unknown>>),
    ),
  )
  return events
}

t.test('old months are deleted, the chain records that, and verification starts after them', async (t) => {
  const { store, organizationId, step } = await stand(t, 20)
  const [last] = await store.sql<
    { hash: string }[]
  >`SELECT encode(hash, 'hex') AS hash FROM audit WHERE n = 20`
  t.equal(await step.due(), 20)
  t.match(await runStep(store, step), { rows: 20, end: 'done' })
  t.match(await eventsOf(store, organizationId), [
    { n: 21, object_id: 'new' },
    { n: 22, operation: AUDIT_PRUNE, actor: { kind: 'system' }, after: { through_n: 20, hash: last?.hash } },
  ])
  t.same(must(await verifyAudit(store, null)), { checked: 2, faults: [] })
  t.match(must(await findAudit(store, { organizationId, limit: 9, since: '2020-01-01T00:00:00Z' })), {
    nextBefore: null,
    rows: [{ n: 22 }, { n: 21 }],
  })
  t.match(await runStep(store, step), { rows: 0 }, 'and nothing goes twice')
})

t.test('0 months keep the log for ever', async (t) => {
  const { store } = await stand(t, 3)
  const step = auditChains({ store, keptMonths: 0, log: SILENT })
  t.match(await runStep(store, step), { rows: 0, end: 'done' })
  t.equal(await step.due(), 0)
  t.ok(Date.now() - ((await step.oldest())?.getTime() ?? 0) > 300 * 86_400_000)
})

t.test('counts calendar months: the first event of the oldest kept month stays', async (t) => {
  const store = await openTestStore(t)
  const {
    organization: { id: organizationId },
  } = must(await createOrganization(store, { name: 'o' }))
  await plantEvents(store.sql, { organizationId, name: 'e', count: 90, fromDays: 90, toDays: 0 })
  const [due] = await store.sql<{ rows: number }[]>`
    SELECT count(*)::int AS rows FROM audit WHERE at AT TIME ZONE 'UTC' < date_trunc('month', now() AT TIME ZONE 'UTC') - interval '1 month'`
  t.match(await runStep(store, auditChains({ store, keptMonths: 1, log: SILENT })), { rows: due?.rows })
  t.same(must(await verifyAudit(store, null)).faults, [])
})

t.test(
  'each chain is pruned batch by batch, and a second process continues where the first was killed',
  async (t) => {
    const { store, organizationId, step } = await stand(t, PRUNED_AT_ONCE + 50)
    const others = [await chain(store, 5), await chain(store, 7)]
    const killed = step.run(await turnOf(store))
    await killed.next()
    await store.sql`UPDATE retention SET lease_until = now() - interval '1 s'`
    t.same(must(await verifyAudit(store, null)).faults, [], 'verified in the middle of it')
    await runStep(store, step)
    t.match(await runOut(killed), { rows: 0, end: 'lost' })
    t.same(must(await verifyAudit(store, null)).faults, [])
    for (const id of [organizationId, ...others])
      t.match((await eventsOf(store, id))[0], { object_id: 'new' })
  },
)

const TAMPERINGS: readonly (readonly [string, string, number, string])[] = [
  [
    'removing the first that is kept',
    `DELETE FROM audit WHERE n = 21; UPDATE audit_pruned SET n = 21`,
    22,
    'edited',
  ],
  [
    'removing more, with the mark and its hash moved',
    `
    UPDATE audit_pruned SET n = 21, hash = (SELECT hash FROM audit WHERE n = 21); DELETE FROM audit WHERE n = 21`,
    21,
    'missing',
  ],
  [
    'removing the event of the pruning',
    `
    DELETE FROM audit WHERE n = 22; UPDATE audit_heads SET n = 21, hash = (SELECT hash FROM audit WHERE n = 21)`,
    1,
    'missing',
  ],
  ['removing the mark', 'DELETE FROM audit_pruned', 1, 'missing'],
  ['another hash in the mark', `UPDATE audit_pruned SET hash = sha256('x')`, 21, 'edited'],
]
for (const [what, statements, n, problem] of TAMPERINGS) {
  t.test(`after pruning, verification finds ${what}`, async (t) => {
    const { store, organizationId, step } = await stand(t, 20)
    await runStep(store, step)
    await store.sql.unsafe(statements)
    t.same(must(await verifyAudit(store, organizationId)).faults, [{ organizationId, n, problem }])
  })
}

t.test(
  'a forged event of pruning without a number is found, and does not end the verification',
  async (t) => {
    const { store, organizationId } = await stand(t, 2)
    await store.sql.begin((tx) =>
      appendAudit(tx, auditEvent(organizationId, { operation: AUDIT_PRUNE, after: null })),
    )
    t.same(must(await verifyAudit(store, organizationId)), {
      checked: 4,
      faults: [{ organizationId, n: 4, problem: 'edited' }],
    })
  },
)

t.test('a chain that was tampered with is logged and not pruned, and others are pruned', async (t) => {
  const { store, organizationId } = await stand(t, 20)
  const other = await chain(store, 5)
  await store.sql`UPDATE audit SET text = replace(text, 'e7', 'e8') WHERE n = 7 AND organization_id = ${organizationId}`
  const log = keptLog()
  t.match(await runStep(store, auditChains({ store, keptMonths: 1, log })), { rows: 5, end: 'done' })
  t.match(log.events, [{ event: 'retention.audit_broken', fields: { organizationId, n: 7 } }])
  t.same(must(await verifyAudit(store, null)).faults, [{ organizationId, n: 7, problem: 'edited' }])
  t.match((await eventsOf(store, other))[0], { object_id: 'new' })
})
