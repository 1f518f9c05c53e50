import t from 'tap'
import type { Invalidation } from '../../../src/server/ports/keys/keys.ts'
import { openHints, type RunningHints as Hints } from '../../../src/server/redis/hints.ts'
import { openState, type State } from '../../../src/server/redis/open.ts'
import { SILENT } from '../../support/log.ts'
import { openTestRedis, REDIS_KINDS, type RedisKind, type TestRedis } from '../../support/stores/redis.ts'
import { until } from '../../support/wait.ts'

const CHANGE: Invalidation = { n: 7, kind: 'key', id: 'abc' }

for (const kind of REDIS_KINDS) {
  t.test(`${kind}: a hint of one node reaches the listeners of another`, async (t) => {
    const redis = await openTestRedis(t, kind)
    const [one, other] = [await open(t, redis), await open(t, redis)]
    t.same(await hinted(one.hints, other.hints), CHANGE)
  })

  t.test(`${kind}: hints arrive again after Redis was stopped and started`, async (t) => {
    const redis = await openTestRedis(t, kind)
    const [one, other] = [await open(t, redis), await open(t, redis)]
    await hinted(one.hints, other.hints)
    await redis.kill()
    await one.hints.publish(CHANGE)
    await redis.start()
    t.same(await hinted(one.hints, other.hints), CHANGE)
  })

  t.test(`${kind}: hints arrive again after Redis was frozen`, async (t) => {
    const redis = await openTestRedis(t, kind)
    const [one, other] = [await open(t, redis), await open(t, redis)]
    await hinted(one.hints, other.hints)
    redis.freeze()
    await one.hints.publish(CHANGE)
    redis.thaw()
    t.same(await hinted(one.hints, other.hints), CHANGE)
  })
}

t.test('ignores messages that are not invalidations', async (t) => {
  const redis = await openTestRedis(t)
  const { hints, state } = await open(t, redis)
  const got: Invalidation[] = []
  await hinted(hints, hints)
  // One of those that were published until the first arrived may still come.
  hints.subscribe((change) => void (change.n > CHANGE.n && got.push(change)))
  const strange = [
    '',
    '{',
    'null',
    '[]',
    '{"n":8}',
    '{"n":"8","kind":"key","id":"x"}',
    '{"n":8,"kind":"__proto__","id":"x"}',
    '{"n":1e999,"kind":"key","id":"x"}',
  ]
  for (const text of strange) {
    await state.redis.publish('sluice:hints', text)
  }
  await state.redis.publish('sluice:hints', '{"n":9,"kind":"workspace","id":"last"}')
  await until(() => got.length !== 0)
  t.same(got, [{ n: 9, kind: 'workspace', id: 'last' }])
})

t.test('delivers changes of every kind', async (t) => {
  const redis = await openTestRedis(t)
  const { hints } = await open(t, redis)
  const kinds: readonly Invalidation['kind'][] = [
    'key',
    'workspace',
    'organization',
    'catalogue',
    'vault',
    'private_endpoint',
    'preset',
  ]
  const got: string[] = []
  await hinted(hints, hints)
  const done = new Promise<void>((resolve) =>
    hints.subscribe(({ n, kind }) => {
      if (n > CHANGE.n) got.push(kind)
      if (got.length === kinds.length) resolve()
    }),
  )
  for (const kind of kinds) await hints.publish({ n: CHANGE.n + 1, kind, id: 'x' })
  await done
  t.same(got, kinds)
})

t.test('publishing does not fail if Redis was never reachable', async (t) => {
  const state = openState({ url: null, socketPath: '/nonexistent/redis.sock', log: SILENT })
  const hints = openHints(state)
  t.teardown(() => hints.close())
  t.teardown(() => state.close())
  await hints.publish(CHANGE)
  t.pass('resolved')
})

async function open(
  t: Parameters<typeof openTestRedis>[0],
  redis: TestRedis & { kind: RedisKind },
): Promise<{ state: State; hints: Hints }> {
  const state = openState({ url: null, socketPath: redis.socketPath, log: SILENT })
  const hints = openHints(state)
  t.teardown(() => hints.close())
  t.teardown(() => state.close())
  await state.whenReachable(60_000)
  return { state, hints }
}

/** Publishes until it arrives: a subscription is taken up when Redis allows. */
function hinted(from: Hints, to: Hints): Promise<Invalidation> {
  return new Promise((resolve) => {
    const timer = setInterval(() => void from.publish(CHANGE), 10)
    const stop = to.subscribe((change) => {
      clearInterval(timer)
      stop()
      resolve(change)
    })
  })
}
