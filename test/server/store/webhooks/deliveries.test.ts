import t, { type Test } from 'tap'
import type { ClaimedDelivery, DeliveryResult } from '../../../../src/server/ports/webhooks/webhooks.ts'
import { WEBHOOK_PLACES_MAX, openDeliveries } from '../../../../src/server/store/webhooks/deliveries.ts'
import { openFileStand } from '../../../support/files/files.ts'
import { present } from '../../../support/must.ts'
import { delivery, outboxed, input } from '../../../support/webhooks/webhooks.ts'

const FAILED: DeliveryResult = { kind: 'failed', status: 500, reason: 'status', retryAfterMs: null }

async function stand(t: Test, placesMax = WEBHOOK_PLACES_MAX) {
  const opened = await openFileStand(t)
  const put = (count: number, url: string, workspaceId = opened.workspaceId): Promise<void> =>
    outboxed(
      opened.store,
      Array.from({ length: count }, () => delivery(workspaceId, { url })),
    )
  return { ...opened, put, deliveries: openDeliveries({ store: opened.store, placesMax }) }
}

function tally(
  claims: readonly ClaimedDelivery[],
  of: (claim: ClaimedDelivery) => string,
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const claim of claims) counts[of(claim)] = (counts[of(claim)] ?? 0) + 1
  return counts
}

t.test('a claimed delivery has the values written, and no other claimer gets it', async (t) => {
  const { store, workspaceId, deliveries } = await stand(t)
  const written = delivery(workspaceId, { url: 'https://Hooks.Example.:8443/a?b=c' })
  await outboxed(store, [written])
  const [claim] = await deliveries.claim(input())
  t.match(claim, { ...written, host: 'hooks.example', attempt: 1, tries: 0, isDisabled: false })
  t.same(await openDeliveries({ store }).claim(input()), [])
})

t.test('ten thousand due deliveries of one receiver do not hold up others', async (t) => {
  const { store, workspaceId, otherWorkspaceId, put, deliveries } = await stand(t)
  for (let batch = 0; batch < 5; batch++) await put(2_000, 'https://dead.example/')
  await put(1, 'https://live.example/')
  await put(1, 'https://other.example/', otherWorkspaceId)
  await store.sql`ANALYZE webhook_deliveries`
  const claims = await deliveries.claim(input())
  t.same(
    tally(claims, ({ host }) => host),
    { 'dead.example': 4, 'live.example': 1, 'other.example': 1 },
  )
  t.same(
    tally(claims, ({ workspaceId: id }) => id),
    { [workspaceId]: 5, [otherWorkspaceId]: 1 },
  )
})

t.test('at one receiver the workspaces take turns', async (t) => {
  const { workspaceId, otherWorkspaceId, put, deliveries } = await stand(t)
  await put(50, 'https://hub.example/')
  await put(2, 'https://hub.example/', otherWorkspaceId)
  t.same(
    tally(await deliveries.claim(input()), ({ workspaceId: id }) => id),
    { [workspaceId]: 2, [otherWorkspaceId]: 2 },
  )
})

t.test(
  'returns deliveries claimed before the store became unavailable, instead of letting their leases expire',
  async (t) => {
    const { store, put } = await stand(t)
    for (const host of ['a', 'b', 'c']) await put(1, `https://${host}.example/`)
    let pages = 0
    const apply = (sql: typeof store.sql, self: unknown, args: [readonly string[]]): unknown => {
      const isPage = args[0][0]?.includes('WITH RECURSIVE place') === true
      return isPage && ++pages === 2 ? Promise.reject(new Error('away')) : Reflect.apply(sql, self, args)
    }
    const breaking = Object.create(store, { sql: { value: new Proxy(store.sql, { apply }) } }) as typeof store
    const deliveries = openDeliveries({ store: breaking, placesMax: 1 })
    t.same(
      tally(await deliveries.claim(input()), ({ host }) => host),
      { 'a.example': 1 },
    )
    t.same(
      tally(await deliveries.claim(input()), ({ host }) => host),
      { 'b.example': 1, 'c.example': 1 },
    )
  },
)

t.test('deliveries under way count for their receiver and their workspace', async (t) => {
  const { workspaceId, put, deliveries } = await stand(t)
  for (const host of ['a', 'b', 'c']) await put(4, `https://${host}.example/`)
  const busy = {
    hosts: new Map([
      ['a.example', 3],
      ['b.example', 9],
    ]),
    workspaces: new Map([[workspaceId, 46]]),
  }
  const claims = await deliveries.claim(input({ busy }))
  t.equal(claims.length, 4)
  t.same(
    claims.filter(({ host }) => host === 'b.example'),
    [],
  )
  t.ok((tally(claims, ({ host }) => host)['a.example'] ?? 0) <= 1)
})

t.test('claims at most the requested number, and one for each receiver before a second', async (t) => {
  const { put, deliveries } = await stand(t)
  for (const host of ['a', 'b', 'c']) await put(3, `https://${host}.example/`)
  const claims = await deliveries.claim(input({ countMax: 4 }))
  t.equal(claims.length, 4)
  t.equal(new Set(claims.map(({ host }) => host)).size, 3)
})

t.test('claims take turns between all receivers, however many deliveries wait', async (t) => {
  const { put, deliveries } = await stand(t, 2)
  for (let nth = 0; nth < 7; nth++) await put(2, `https://r${nth}.example/`)
  const hosts = new Set<string>()
  for (let round = 0; round < 7; round++)
    for (const { host } of await deliveries.claim(input({ countMax: 2 }))) hosts.add(host)
  t.equal(hosts.size, 7)
})

t.test('concurrent claimers share the due deliveries, and no delivery is claimed twice', async (t) => {
  const { store, put } = await stand(t)
  for (let nth = 0; nth < 20; nth++) await put(3, `https://r${nth}.example/`)
  const runners = Array.from({ length: 6 }, () => openDeliveries({ store }))
  const ids = (await Promise.all(runners.map((runner) => runner.claim(input({ countMax: 15 })))))
    .flat()
    .map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length)
  const rest = await openDeliveries({ store }).claim(input({ countMax: 100, perWorkspaceMax: 100 }))
  t.equal(new Set([...ids, ...rest.map(({ id }) => id)]).size, 60)
})

t.test('a failed attempt is due again at its retry time, and the last one makes a dead letter', async (t) => {
  const { put, deliveries } = await stand(t)
  await put(1, 'https://a.example/')
  const first = present((await deliveries.claim(input()))[0])
  t.ok(await deliveries.book(first, FAILED, 60_000))
  t.same(await deliveries.claim(input()), [])
  t.same(await deliveries.counts(), { waiting: 1, dead: 0 })
})

t.test('a dead letter has the number of its attempts and the result of the last one', async (t) => {
  const { store, put, deliveries } = await stand(t)
  await put(1, 'https://a.example/')
  t.ok(await deliveries.book(present((await deliveries.claim(input()))[0]), FAILED, -1))
  const again = present((await deliveries.claim(input()))[0])
  t.equal(again.tries, 1)
  t.ok(await deliveries.book(again, FAILED, null))
  t.match(await store.sql`SELECT state, tries, last_status, last_reason FROM webhook_deliveries`, [
    { state: 'dead', tries: 2, last_status: 500, last_reason: 'status' },
  ])
  t.same(await deliveries.counts(), { waiting: 0, dead: 1 })
})

t.test('a claimer whose lease was taken over books nothing, and an attempt is booked once', async (t) => {
  const { store, put, deliveries } = await stand(t)
  await put(1, 'https://a.example/')
  const slow = present((await deliveries.claim(input({ leaseMs: -1 })))[0])
  const quick = present((await deliveries.claim(input()))[0])
  t.notOk(await deliveries.book(slow, { kind: 'delivered', status: 200 }, null))
  t.ok(await deliveries.book(quick, FAILED, -1))
  t.notOk(await deliveries.book(quick, FAILED, -1))
  t.match(await store.sql`SELECT state, tries FROM webhook_deliveries`, [{ state: 'waiting', tries: 1 }])
})

t.test('attempts that end together are booked together, each with its own result', async (t) => {
  const { store, put, deliveries } = await stand(t)
  for (let nth = 0; nth < 4; nth++) await put(1, `https://a${nth}.example/`)
  const claims = [...(await deliveries.claim(input()))].sort((a, b) => a.host.localeCompare(b.host))
  const stale = { ...present(claims[3]), attempt: 7 }
  const results: DeliveryResult[] = [
    { kind: 'delivered', status: 200 },
    FAILED,
    { kind: 'gone', status: 410 },
    FAILED,
  ]
  const booked = await Promise.all(
    [...claims.slice(0, 3), stale].map((claim, nth) =>
      deliveries.book(claim, present(results[nth]), nth === 1 ? 1_000 : null),
    ),
  )
  t.same(booked, [true, true, true, false])
  const rows =
    await store.sql`SELECT state, tries, last_status AS status, ended_at IS NULL AS is_open FROM webhook_deliveries ORDER BY host`
  t.match(rows, [
    { state: 'delivered', tries: 1, status: 200, is_open: false },
    { state: 'waiting', tries: 1, status: 500, is_open: true },
    { state: 'dead', tries: 1, status: 410, is_open: false },
    { state: 'waiting', tries: 0, status: null, is_open: true },
  ])
})

t.test('a failed booking is reported as failed, and the next one succeeds', async (t) => {
  const { store, put, deliveries } = await stand(t)
  await put(1, 'https://a.example/')
  const claim = present((await deliveries.claim(input()))[0])
  await t.rejects(deliveries.book({ ...claim, id: 'none' }, FAILED, null))
  t.ok(await deliveries.book(claim, FAILED, null))
  t.equal((await store.sql`SELECT 1 FROM webhook_deliveries WHERE state = 'dead'`).count, 1)
})

t.test('a released delivery is due again, and its claim counts as no attempt', async (t) => {
  const { put, deliveries } = await stand(t)
  await put(2, 'https://a.example/')
  const claims = await deliveries.claim(input())
  await deliveries.release(claims, -1)
  const again = await deliveries.claim(input())
  t.match(again, [{ tries: 0 }, { tries: 0 }])
  await deliveries.release(claims, -1)
  t.same(await deliveries.claim(input()), [])
})

t.test('410 ends the delivery and disables its URL for its workspace alone', async (t) => {
  const { otherWorkspaceId, put, deliveries } = await stand(t)
  await put(1, 'https://a.example/gone')
  t.ok(
    await deliveries.book(present((await deliveries.claim(input()))[0]), { kind: 'gone', status: 410 }, null),
  )
  await put(1, 'https://a.example/gone')
  await put(1, 'https://a.example/here')
  await put(1, 'https://a.example/gone', otherWorkspaceId)
  const claims = await deliveries.claim(input())
  t.same(
    claims
      .filter(({ isDisabled }) => isDisabled)
      .map(({ url, workspaceId }) => [url, workspaceId === otherWorkspaceId]),
    [['https://a.example/gone', false]],
  )
  t.equal(claims.length, 3)
})

t.test('deliveries of a deleted workspace stop, and are pruned', async (t) => {
  const { store, workspaceId, otherWorkspaceId, put, deliveries } = await stand(t)
  await put(3, 'https://a.example/')
  await put(1, 'https://a.example/', otherWorkspaceId)
  await store.sql`INSERT INTO webhook_disabled (workspace_id, url) VALUES (${workspaceId}, 'https://a.example/x')`
  await store.sql`UPDATE workspaces SET deleted_at = now() WHERE id = ${workspaceId}`
  t.match(await deliveries.claim(input()), [{ workspaceId: otherWorkspaceId }])
  t.equal(await deliveries.prune(), 4)
  t.equal((await store.sql`SELECT 1 FROM webhook_deliveries`).count, 1)
})
