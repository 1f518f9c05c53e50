import t, { type Test } from 'tap'
import { appendAudit } from '../../../../src/server/store/base/append-audit.ts'
import { auditEvent } from '../../../support/audit/audit.ts'
import { openInstallation } from '../../../support/operator/installation.ts'

t.setTimeout(600_000)

async function stand(t: Test) {
  const installation = await openInstallation(t)
  const { store, organizationId } = installation
  await store.sql.begin(async (tx) => {
    for (let n = 1; n <= 5; n++) await appendAudit(tx, auditEvent(organizationId, { objectId: `o${n}` }))
  })
  return installation
}

t.test('audit list shows the newest events first, and says how to read the next page', async (t) => {
  const { run, json } = await stand(t)
  const { code, stdout } = await run('audit list --limit 2')
  t.equal(code, 0)
  t.match(
    stdout,
    /N +AT +OUTCOME +OPERATION +OBJECT +ACTOR\n5 .*thing\/o5.*\n4 .*thing\/o4.*\nthere are more events: continue with --before 4\n$/,
  )
  t.match(await json('audit list --before 4'), { data: [{ n: 3 }, { n: 2 }, { n: 1 }], has_more: false })
})

t.test('audit list shows the number of refusals that an event represents', async (t) => {
  const { store, organizationId, run } = await stand(t)
  const counted = auditEvent(organizationId, {
    outcome: 'refused',
    count: 1_449,
    since: '2026-01-01T00:00:00.000Z',
  })
  await store.sql.begin((tx) => appendAudit(tx, counted))
  t.match((await run('audit list --limit 1')).stdout, /refused ×1449 +test\.change/)
})

t.test('audit list finds the events of a given object', async (t) => {
  const { json } = await stand(t)
  t.match(await json('audit list --object thing/o2'), {
    data: [{ n: 2, object_id: 'o2', after: { name: 'a' } }],
  })
})

t.test('audit export writes every event as a line, oldest first, with its hash', async (t) => {
  const { run } = await stand(t)
  const { stdout } = await run('audit export')
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { n: number; hash: string })
  t.same(
    events.map(({ n }) => n),
    [1, 2, 3, 4, 5],
  )
  t.ok(events.every(({ hash }) => /^[0-9a-f]{64}$/.test(hash)))
})

t.test('audit verify exits 0 for an intact log, and 1 with the first bad event otherwise', async (t) => {
  const { store, organizationId, run, json } = await stand(t)
  const whole = await run('audit verify')
  t.match(whole, { code: 0, stdout: '5 events checked, 0 chains broken\n' })
  await store.sql`DELETE FROM audit WHERE n = 3`
  const broken = await run('audit verify')
  t.equal(broken.code, 1)
  t.match(broken.stdout, `event 3 of organization ${organizationId} is missing`)
  t.match(await json('audit verify'), {
    faults: [{ organization_id: organizationId, n: 3, problem: 'missing' }],
  })
})
