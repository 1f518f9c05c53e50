import t from 'tap'
import { insertDeliveries } from '../../../../src/server/store/webhooks/outbox.ts'
import { openFileStand } from '../../../support/files/files.ts'
import { delivery, outboxed } from '../../../support/webhooks/webhooks.ts'

t.test('a delivery is written once, however often its job ends', async (t) => {
  const { store, workspaceId } = await openFileStand(t)
  const first = delivery(workspaceId)
  await outboxed(store, [first, delivery(workspaceId)])
  await outboxed(store, [{ ...first, body: '{"another":1}' }])
  const rows =
    await store.sql`SELECT body, host, state, tries FROM webhook_deliveries WHERE idempotency_key = ${first.idempotencyKey}`
  t.same(
    rows.map((row) => ({ ...row })),
    [{ body: first.body, host: 'hooks.example', state: 'waiting', tries: 0 }],
  )
  t.equal((await store.sql`SELECT 1 FROM webhook_deliveries`).count, 2)
})

t.test('a delivery is rolled back with its transaction', async (t) => {
  const { store, workspaceId } = await openFileStand(t)
  await t.rejects(
    store.sql.begin(async (tx) => {
      await insertDeliveries(tx, [delivery(workspaceId)])
      throw new Error('taken back')
    }),
    /taken back/,
  )
  t.equal((await store.sql`SELECT 1 FROM webhook_deliveries`).count, 0)
})

t.test('an empty batch and an invalid URL do not fail the transaction', async (t) => {
  const { store, workspaceId } = await openFileStand(t)
  await outboxed(store, [])
  await outboxed(store, [delivery(workspaceId, { url: 'nowhere' })])
  t.same(
    (await store.sql`SELECT host FROM webhook_deliveries`).map(({ host }) => host as string),
    [''],
  )
})
