import t from 'tap'
import { openState, setHz } from '../../../src/server/redis/open.ts'
import { SILENT } from '../../support/log.ts'
import { openTestRedis, REDIS_KINDS } from '../../support/stores/redis.ts'
import { until } from '../../support/wait.ts'

t.test('rare pings of a process at rest make no later outage look longer', async (t) => {
  const redis = await openTestRedis(t)
  const clock = { now: 0 }
  const state = openState({
    url: null,
    socketPath: redis.socketPath,
    log: SILENT,
    now: () => clock.now,
  })
  t.teardown(() => state.close())
  t.ok(await state.whenReachable(10_000))
  clock.now = 10_000
  await until(() => state.lastAnswerAt === 10_000)
  clock.now = 10_900
  await redis.kill()
  await until(() => !state.isReachable)
  t.ok(state.lastAnswerAt >= 10_650, `${state.lastAnswerAt}: what is allowed without Redis grows from here`)
  await redis.start()
  t.ok(await state.whenReachable(10_000), 'and Redis is found again')
})

const skip = REDIS_KINDS.includes('child') ? false : 'no redis-server on the PATH'
t.test('how often a server wakes by itself can be set while it is there', { skip }, async (t) => {
  const redis = await openTestRedis(t, 'child')
  const state = openState({ url: null, socketPath: redis.socketPath, log: SILENT })
  t.teardown(() => state.close())
  t.ok(await state.whenReachable(10_000))
  t.equal(await setHz(state, 1), true)
  t.same(await state.redis.config('GET', 'hz'), ['hz', '1'])
  await redis.kill()
  await until(() => !state.isReachable)
  t.equal(await setHz(state, 10), false)
})
