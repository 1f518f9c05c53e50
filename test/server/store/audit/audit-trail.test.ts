import t from 'tap'
import {
  AUDIT_BATCH_EVENTS,
  AUDIT_FLUSH_MS,
  AUDIT_RETRY_MS,
  AUDIT_WAITING_MAX,
  openAuditTrail,
} from '../../../../src/server/store/audit/audit-trail.ts'
import { verifyAudit } from '../../../../src/server/store/audit/audit-log.ts'
import { findAudit } from '../../../../src/server/store/audit/audit-search.ts'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { auditEvent } from '../../../support/audit/audit.ts'
import { keptLog } from '../../../support/log.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { until } from '../../../support/wait.ts'

async function organization(t: Parameters<typeof openTestStore>[0]) {
  const store = await openTestStore(t)
  return { store, organizationId: must(await createOrganization(store, { name: 'o' })).organization.id }
}

t.test('events are appended in the order in which they were noted, in any number of batches', async (t) => {
  const { store, organizationId } = await organization(t)
  const trail = openAuditTrail(store, keptLog())
  const count = 2 * AUDIT_BATCH_EVENTS + 7
  for (let n = 1; n <= count; n++) t.ok(trail.note(auditEvent(organizationId, { objectId: String(n) })))
  await trail.close()
  t.same(must(await verifyAudit(store, null)), { checked: count, faults: [] })
  const { rows } = must(await findAudit(store, { organizationId, limit: 2 }))
  t.same(
    rows.map(({ text }) => (JSON.parse(text) as { object_id: string }).object_id),
    [String(count), String(count - 1)],
  )
})

t.test(`an event on its own is appended AUDIT_FLUSH_MS (${AUDIT_FLUSH_MS}) after it was noted`, async (t) => {
  const { store, organizationId } = await organization(t)
  const trail = openAuditTrail(store, keptLog())
  trail.note(auditEvent(organizationId))
  await until(async () => must(await verifyAudit(store, null)).checked !== 0)
  await trail.close()
})

t.test('an event that the store always refuses is logged, and does not hold up later ones', async (t) => {
  const { store, organizationId } = await organization(t)
  const log = keptLog()
  const trail = openAuditTrail(store, log)
  trail.note(auditEvent(organizationId, { objectId: '1' }))
  trail.note(auditEvent('00000000-0000-7000-8000-000000000000'))
  trail.note(auditEvent(organizationId, { objectId: '3' }))
  await trail.close()
  t.same(must(await verifyAudit(store, organizationId)), { checked: 2, faults: [] })
  t.match(log.events, [{ event: 'audit.lost', fields: { events: 1, operation: 'test.change' } }])
})

const WAIT = `while the store is unavailable, AUDIT_WAITING_MAX (${AUDIT_WAITING_MAX}) events wait`
t.test(`${WAIT}, are retried every AUDIT_RETRY_MS (${AUDIT_RETRY_MS}); others are refused`, async (t) => {
  const store = openStore({
    url: 'postgres://nobody@127.0.0.1:1/none',
    poolMax: 1,
    applicationName: 'sluice-test',
  })
  t.teardown(() => store.close())
  const log = keptLog()
  const trail = openAuditTrail(store, log)
  const event = auditEvent('00000000-0000-7000-8000-000000000000')
  for (let n = 0; n < AUDIT_WAITING_MAX; n++) if (!trail.note(event)) t.fail('refused too early')
  t.notOk(trail.note(event))
  await trail.close()
  t.match(log.events, [{ event: 'audit.lost', fields: { events: AUDIT_WAITING_MAX } }])
  t.notOk(trail.note(event), 'a closed one takes nothing')
})
