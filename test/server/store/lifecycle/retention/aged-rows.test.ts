import t, { type Test } from 'tap'
import type { PruneStep } from '../../../../../src/server/ports/operator/retention.ts'
import {
  agedRows,
  DEAD_LETTERS,
  IDEMPOTENCY,
  IDEMPOTENCY_KEPT,
  JOBS,
  WEBHOOKS,
} from '../../../../../src/server/store/lifecycle/retention/aged-rows.ts'
import type { Store } from '../../../../../src/server/store/base/open.ts'
import { openFileStand } from '../../../../support/files/files.ts'
import {
  plantAnswers,
  plantDeliveries,
  plantJobs,
  runOut,
  runStep,
  turnOf,
} from '../../../../support/operator/retention.ts'
import { PRUNED_AT_ONCE } from '../../../../../src/schemas/operator/admin-port-limits.ts'

const WEEK = { count: 7, unit: 'days' } as const
const NONE = { rows: 0, end: 'done' } as const

async function stand(t: Test) {
  const { store, organizationId, workspaceId } = await openFileStand(t)
  return { store, owned: { organizationId, workspaceId } }
}

async function ids(store: Store, table: string): Promise<readonly string[]> {
  return (await store.sql.unsafe<{ id: string }[]>(`SELECT id FROM ${table} ORDER BY id`)).map(({ id }) => id)
}

t.test('answers are deleted after a day and not before, and running calls stay', async (t) => {
  const { store } = await stand(t)
  await plantAnswers(store.sql, { name: 'old', count: 3, fromDays: 3, toDays: 1.01 })
  await plantAnswers(store.sql, { name: 'young', count: 2, fromDays: 0.99, toDays: 0 })
  await store.sql`INSERT INTO idempotency (id, state, lease_until, request_digest) VALUES ('running', 'running', now(), 'd')`
  await store.sql`INSERT INTO idempotency (id, state, lease_until, request_digest) VALUES ('left', 'running', now() - interval '25 hours', 'd')`
  const step = agedRows(store, IDEMPOTENCY, IDEMPOTENCY_KEPT)
  t.equal(await step.due(), 4)
  t.match(await runStep(store, step), { rows: 4, end: 'done' })
  t.same(await ids(store, 'idempotency'), ['running', 'young1', 'young2'])
  t.match(await runStep(store, step), NONE)
})

t.test('the stored answer to the request for a job stays until the job has ended', async (t) => {
  const { store, owned } = await stand(t)
  await plantAnswers(store.sql, { name: 'turn', count: 1, fromDays: 3, toDays: 3 })
  await plantJobs(store.sql, { ...owned, name: 'job', count: 1, fromDays: 3, toDays: 3 })
  await store.sql`UPDATE video_jobs SET turn_id = 'turn1', state = 'running', ended_at = NULL`
  const step = agedRows(store, IDEMPOTENCY, IDEMPOTENCY_KEPT)
  t.match(await runStep(store, step), NONE)
  await store.sql`UPDATE video_jobs SET state = 'failed', ended_at = now()`
  t.match(await runStep(store, step), { rows: 1 })
})

t.test('delivered and dead webhooks each have a retention time, and waiting ones are kept', async (t) => {
  const { store, owned } = await stand(t)
  for (const state of ['delivered', 'dead'] as const) {
    await plantDeliveries(store.sql, {
      ...owned,
      state,
      name: `${state}-old-`,
      count: 2,
      fromDays: 9,
      toDays: 7.01,
    })
    await plantDeliveries(store.sql, {
      ...owned,
      state,
      name: `${state}-young-`,
      count: 2,
      fromDays: 6.99,
      toDays: 0,
    })
  }
  await plantDeliveries(store.sql, {
    ...owned,
    state: 'dead',
    name: 'waiting-',
    count: 1,
    fromDays: 99,
    toDays: 99,
  })
  await store.sql`UPDATE webhook_deliveries SET state = 'waiting', ended_at = NULL WHERE job_id = 'waiting-1'`
  t.match(await runStep(store, agedRows(store, WEBHOOKS, WEEK)), { rows: 2 })
  t.match(await runStep(store, agedRows(store, DEAD_LETTERS, null)), NONE, 'for ever')
  t.match(await runStep(store, agedRows(store, DEAD_LETTERS, { count: 8, unit: 'days' })), { rows: 1 })
  const left = (
    await store.sql<{ job: string }[]>`SELECT job_id AS job FROM webhook_deliveries ORDER BY job`
  ).map(({ job }) => job)
  t.same(left, [
    'dead-old-2',
    'dead-young-1',
    'dead-young-2',
    'delivered-young-1',
    'delivered-young-2',
    'waiting-1',
  ])
})

t.test('a job is deleted after its time, unless it has clips or a waiting or dead delivery', async (t) => {
  const { store, owned } = await stand(t)
  await plantJobs(store.sql, { ...owned, name: 'old', count: 5, fromDays: 9, toDays: 7.01 })
  await plantJobs(store.sql, { ...owned, name: 'young', count: 1, fromDays: 6.99, toDays: 6.99 })
  await store.sql`UPDATE video_jobs SET clips_expire_at = now() WHERE id = 'old1'`
  await plantDeliveries(store.sql, {
    ...owned,
    state: 'dead',
    name: 'old',
    count: 4,
    fromDays: 7,
    toDays: 7,
  })
  await store.sql`UPDATE webhook_deliveries SET state = 'delivered' WHERE job_id = 'old2'`
  await store.sql`UPDATE webhook_deliveries SET state = 'waiting', ended_at = NULL WHERE job_id = 'old3'`
  const step = agedRows(store, JOBS, WEEK)
  t.equal(await step.due(), 2)
  t.match(await runStep(store, step), { rows: 2 })
  t.same(await ids(store, 'video_jobs'), ['old1', 'old3', 'old4', 'young1'])
})

t.test('a run deletes batch by batch, and the next turn continues an interrupted run', async (t) => {
  const { store } = await stand(t)
  await plantAnswers(store.sql, { name: 'a', count: PRUNED_AT_ONCE * 2 + 10, fromDays: 9, toDays: 2 })
  const step = agedRows(store, IDEMPOTENCY, IDEMPOTENCY_KEPT)
  const killed = step.run(await turnOf(store))
  t.same(await killed.next(), { done: false, value: PRUNED_AT_ONCE })
  await store.sql`UPDATE retention SET lease_until = now() - interval '1 s'`
  t.same(await runStep(store, step), { rows: PRUNED_AT_ONCE + 10, batches: 2, end: 'done' })
  t.same(await runOut(killed), { rows: 0, batches: 0, end: 'lost' }, 'who lost the turn removes no more')
})

t.test('kept rows do not hold up the rows after them, even when they fill more than one batch', async (t) => {
  const { store, owned } = await stand(t)
  const kept = PRUNED_AT_ONCE + 50
  await plantJobs(store.sql, { ...owned, name: 'kept', count: kept, fromDays: 20, toDays: 15 })
  await plantDeliveries(store.sql, {
    ...owned,
    state: 'dead',
    name: 'kept',
    count: kept,
    fromDays: 20,
    toDays: 15,
  })
  await plantJobs(store.sql, { ...owned, name: 'free', count: 5, fromDays: 14, toDays: 8 })
  t.same(await runStep(store, agedRows(store, JOBS, WEEK)), { rows: 5, batches: 2, end: 'done' })
})

t.test('a locked row does not hold up others, and the next run deletes it', async (t) => {
  const { store } = await stand(t)
  await plantAnswers(store.sql, { name: 'a', count: 5, fromDays: 9, toDays: 2 })
  const step: PruneStep = agedRows(store, IDEMPOTENCY, IDEMPOTENCY_KEPT)
  await store.sql.begin(async (tx) => {
    await tx`SELECT FROM idempotency WHERE id = 'a3' FOR UPDATE`
    t.match(await runStep(store, step), { rows: 4 })
  })
  t.match(await runStep(store, step), { rows: 1 })
})

t.test('reports the oldest row, due or not', async (t) => {
  const { store, owned } = await stand(t)
  const day = 86_400_000
  t.equal(await agedRows(store, JOBS, WEEK).oldest(), null)
  await plantJobs(store.sql, { ...owned, name: 'a', count: 2, fromDays: 4, toDays: 2 })
  const age = Date.now() - ((await agedRows(store, JOBS, WEEK).oldest())?.getTime() ?? 0)
  t.ok(age > 2.9 * day && age < 3.1 * day, String(age / day))
})
