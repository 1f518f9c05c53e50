import t, { type Test } from 'tap'
import { readFrom } from '../../../../src/server/config.ts'
import { openRetentionLeases } from '../../../../src/server/store/base/retention-lease.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import {
  openGenerations,
  ensureGenerationDays,
  generationDays,
} from '../../../../src/server/store/inference/generations.ts'
import { generationAt } from '../../../support/inference/generations.ts'
import { SILENT } from '../../../support/log.ts'
import { turnTo } from '../../../support/money/accounts.ts'
import { present } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { KEPT_DAYS_MAX } from '../../../../src/schemas/operator/settings.ts'
import { GENERATION_DAYS_DEFAULT } from '../../../../src/schemas/inference/inference-limits.ts'

const TODAY = '2024-03-31'

async function planted(t: Test): Promise<Store> {
  const store = await openTestStore(t)
  await turnTo(store, TODAY)
  const generations = openGenerations({ store, log: SILENT, count: () => undefined })
  for (const day of ['2024-02-28', '2024-02-29', '2024-02-29', '2024-03-01', TODAY])
    generations.keep(generationAt(`${day}T12:00:00Z`))
  await generations.close()
  return store
}

async function pruned(store: Store, keptDays: number): Promise<readonly number[]> {
  const leases = openRetentionLeases(store)
  await leases.hasten()
  const lease = present(await leases.begin())
  const rows: number[] = []
  for await (const some of generationDays(store, keptDays).run(lease)) rows.push(some)
  await leases.end(lease, 0)
  return rows
}

const left = async (store: Store): Promise<number> => (await store.sql`SELECT FROM generation_records`).length

t.test('deletes whole days older than the setting, oldest first, and none when it is 0', async (t) => {
  const store = await planted(t)
  t.same([await generationDays(store, 0).due(), await pruned(store, 0), await left(store)], [0, [], 5])
  t.same(generationDays(store, 0).keptFor, null)
  const step = generationDays(store, 30)
  t.same(step.keptFor, { count: 30, unit: 'days' })
  t.equal(await step.due(), 3, 'the first of March is 30 days ago')
  t.same(await step.oldest(), new Date('2024-02-28T00:00:00Z'))
  t.same(await pruned(store, 30), [1, 2])
  t.equal(await left(store), 2)
  t.same(await step.oldest(), new Date('2024-03-01T00:00:00Z'))
  t.same(await pruned(store, 30), [])
})

t.test('deletes days in the table of older versions too', async (t) => {
  const store = await planted(t)
  await store.sql`SELECT generations_partition('2024-02-27')`
  await store.sql`
    INSERT INTO generations (id, created_at, organization_id, workspace_id, facts)
    VALUES ('gen_0', '2024-02-27T12:00:00Z', gen_random_uuid(), gen_random_uuid(), '{}')`
  const step = generationDays(store, 30)
  t.equal(await step.due(), 4)
  t.same(await step.oldest(), new Date('2024-02-27T00:00:00Z'))
  t.same(await pruned(store, 30), [1, 2, 1])
  t.same(await store.sql`SELECT FROM generations`, [])
})

t.test('SLUICE_KEEP_GENERATIONS sets the number of days, up to KEPT_DAYS_MAX', async (t) => {
  const read = (days?: number) =>
    readFrom(days === undefined ? {} : { SLUICE_KEEP_GENERATIONS: String(days) })
  const kept = (generationDays: number) => ({ generation: { config: { kept: { generationDays } } } })
  t.match(read(), kept(GENERATION_DAYS_DEFAULT))
  for (const days of [0, 1, KEPT_DAYS_MAX]) t.match(read(days), kept(days))
  for (const days of [-1, 0.5, KEPT_DAYS_MAX + 1])
    t.match(read(days), { problems: [{ name: 'SLUICE_KEEP_GENERATIONS' }] })
})

t.test('a process that lost its lease drops nothing', async (t) => {
  const store = await planted(t)
  const leases = openRetentionLeases(store)
  const lease = present(await leases.begin())
  await leases.end(lease, 0)
  await leases.begin()
  const batches = generationDays(store, 30).run(lease)
  t.same(await batches.next(), { done: true, value: 'lost' })
  t.equal(await left(store), 5)
})

t.test(
  'today and the next days have partitions in advance, even when several processes create them at once',
  async (t) => {
    const store = await openTestStore(t)
    await turnTo(store, '2030-12-30')
    const made = await Promise.all([1, 2, 3].map(() => ensureGenerationDays(store)))
    t.ok(made.some(({ partitions }) => partitions === 3))
    t.same(await ensureGenerationDays(store), { partitions: 0 })
    const days = await store.sql`
    SELECT c.relname::text AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'generation_records'::regclass AND c.relname > 'generation_records_2030' ORDER BY 1`
    t.same(
      days.map(({ name }) => name as string),
      ['generation_records_2030_12_30', 'generation_records_2030_12_31', 'generation_records_2031_01_01'],
    )
  },
)
