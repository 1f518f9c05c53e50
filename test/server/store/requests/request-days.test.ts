import t from 'tap'
import { REQUEST_DAYS_DEFAULT } from '../../../../src/schemas/requests/request-limits.ts'
import { readFrom } from '../../../../src/server/config.ts'
import { openRetentionLeases } from '../../../../src/server/store/base/retention-lease.ts'
import { ensureRequestDays, requestDays } from '../../../../src/server/store/requests/request-days.ts'
import { insertRequests } from '../../../../src/server/store/requests/request-rows.ts'
import { turnTo } from '../../../support/money/accounts.ts'
import { present } from '../../../support/must.ts'
import { batchOfCalls } from '../../../support/requests/settled-call.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { KEPT_DAYS_MAX } from '../../../../src/schemas/operator/settings.ts'

t.test('whole days older than the setting are deleted, with the rows of every organization', async (t) => {
  const store = await openTestStore(t)
  await turnTo(store, '2024-03-31')
  const days = ['2024-03-23', '2024-03-24', '2024-03-31'].map((day) => Date.parse(`${day}T12:00:00Z`))
  await insertRequests(store, batchOfCalls(...days.map((endedMs) => ({ endedMs }))))
  const step = requestDays(store, 7)
  t.same([step.kind, step.keptFor, await step.due()], ['requests', { count: 7, unit: 'days' }, 1])
  const leases = openRetentionLeases(store)
  await leases.hasten()
  const lease = present(await leases.begin())
  let dropped = 0
  for await (const rows of step.run(lease)) dropped += rows
  t.equal(dropped, 1)
  t.same(await step.oldest(), new Date('2024-03-24T00:00:00Z'))
  t.same(await requestDays(store, 0).due(), 0, '0 keeps them for ever')
})

t.test('today and the next days have partitions before they are needed', async (t) => {
  const store = await openTestStore(t)
  await turnTo(store, '2030-12-30')
  t.same(await ensureRequestDays(store), { partitions: 3 })
  t.same(await ensureRequestDays(store), { partitions: 0 })
})

t.test('SLUICE_KEEP_REQUESTS is a number of days, 0 for ever, or off', async (t) => {
  const read = (text?: string) => readFrom(text === undefined ? {} : { SLUICE_KEEP_REQUESTS: text })
  const kept = (requestDays: number | null) => ({ generation: { config: { kept: { requestDays } } } })
  t.match(read(), kept(REQUEST_DAYS_DEFAULT))
  for (const days of [0, 1, KEPT_DAYS_MAX]) t.match(read(String(days)), kept(days))
  t.match(read('off'), kept(null))
  for (const text of ['-1', '0.5', 'on', String(KEPT_DAYS_MAX + 1)])
    t.match(read(text), { problems: [{ name: 'SLUICE_KEEP_REQUESTS' }] })
})
