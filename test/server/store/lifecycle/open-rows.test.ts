import t from 'tap'
import { openRowsLook, type OpenKind } from '../../../../src/server/store/lifecycle/open-rows.ts'
import { openVideoStand } from '../../../support/videos/video-rows.ts'

const KINDS: readonly OpenKind[] = ['videos', 'webhooks', 'syncs']

t.test('reports a kind of rows only while a row of it is open, due or not', async (t) => {
  const { store, accept, owners } = await openVideoStand(t)
  const look = openRowsLook(store)
  const seen = async () => {
    const found = await Promise.all(KINDS.map(look))
    return KINDS.filter((_kind, at) => found[at] === true)
  }
  t.same(await seen(), [])
  await accept({ dueMs: -3_600_000 })
  t.same(await seen(), ['videos'])
  await store.sql`UPDATE video_jobs SET state = 'cancelled', ended_at = clock_timestamp()`
  t.same(await seen(), [])
  const { organizationId } = owners
  await store.sql`INSERT INTO scim_sync_jobs (id, organization_id) VALUES (gen_random_uuid(), ${organizationId})`
  t.same(await seen(), ['syncs'])
  await store.sql`UPDATE scim_sync_jobs SET state = 'running'`
  t.same(await seen(), ['syncs'])
  await store.sql`DELETE FROM scim_sync_jobs`
  t.same(await seen(), [])
})

t.test('looks of one turn are one statement, and a later look sees newer rows', async (t) => {
  const { store, accept } = await openVideoStand(t)
  let statements = 0
  const counting = {
    sql: new Proxy(store.sql, {
      apply(target, self, input: unknown[]) {
        statements++
        return Reflect.apply(target, self, input) as unknown
      },
    }),
  }
  const look = openRowsLook(counting)
  t.same(await Promise.all(KINDS.map(look)), [false, false, false])
  t.equal(statements, 1)
  await accept()
  t.equal(await look('videos'), true)
})
