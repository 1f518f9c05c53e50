import t from 'tap'
import { openState, setHz, type State } from '../../../src/server/redis/open.ts'
import { openScripts, scriptOf } from '../../../src/server/redis/scripts.ts'
import { keptLog, SILENT } from '../../support/log.ts'
import { freePort } from '../../support/nodes/spawned.ts'
import { openScriptedRedis } from '../../support/stores/scripted-redis.ts'
import { openTestRedis, REDIS_KINDS } from '../../support/stores/redis.ts'
import { until } from '../../support/wait.ts'

t.test('the rare pings of an idle process do not make a later outage look longer', async (t) => {
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
t.test('sets the wake-up frequency of a Redis server while it is reachable', { skip }, async (t) => {
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

/** Sends a script; its error is what Redis thinks of it. */
function runOne(state: State): Promise<unknown> {
  const script = scriptOf('return 1')
  return openScripts(state)({ script, keys: ['sluice:k'], args: [], waitMsMax: 10_000 }).catch(
    (problem: unknown) => problem,
  )
}

for (const [refusal, cause] of [
  ["READONLY You can't write against a read only replica.", /READONLY, this Redis is a replica/],
  ["ERR Error running script (call to f_1): @user_script:1: -READONLY You can't write", /READONLY/],
  ["OOM command not allowed when used memory > 'maxmemory'.", /OOM, Redis has reached its maxmemory/],
  ['MISCONF Redis is configured to save RDB snapshots', /MISCONF/],
  ["NOPERM User s has no permissions to run the 'evalsha' command", /NOPERM/],
  ['NOSCRIPT No matching script.', /NOSCRIPT/],
  ['MOVED 3999 127.0.0.1:6381', /MOVED, Redis runs as a cluster/],
] as const) {
  t.test(`a Redis that refuses scripts counts as unavailable: ${refusal.slice(0, 24)}`, async (t) => {
    const redis = await openScriptedRedis(t)
    const log = keptLog()
    const state = openState({ url: redis.url, log })
    t.teardown(() => state.close())
    t.ok(await state.whenReachable(30_000))
    redis.refuse(refusal)
    t.match(await runOne(state), new RegExp(refusal.slice(0, 8)))
    t.equal(state.isReachable, false)
    const connected = redis.connections()
    await until('a new connection, which may lead to another server', () => redis.connections() > connected)
    t.equal(state.isReachable, false, 'though each ping is answered')
    const away = log.events.filter(({ event }) => event === 'redis_away')
    t.match(away, [{ fields: { cause } }])
    t.equal(away.length, 1)
    redis.refuse(null)
    t.ok(await state.whenReachable(30_000))
    t.equal(await runOne(state), 1)
  })
}

t.test('a process that sends no scripts detects by its heartbeat that Redis refuses them', async (t) => {
  const redis = await openScriptedRedis(t)
  const state = openState({ url: redis.url, log: SILENT, isJudging: true })
  t.teardown(() => state.close())
  t.ok(await state.whenReachable(30_000))
  redis.refuse('OOM command not allowed')
  await until(() => !state.isReachable)
  t.ok((state.refusals.get('OOM') ?? 0) > 0)
  redis.refuse(null)
  t.ok(await state.whenReachable(30_000))
})

t.test('Sentinels name the primary, and the new one after a failover', async (t) => {
  const [old, next] = [await openScriptedRedis(t), await openScriptedRedis(t)]
  let primary = old
  const sentinel = await openScriptedRedis(t, { primaryPort: () => Number(new URL(primary.url).port) })
  const url = `redis+sentinel://127.0.0.1:1,${new URL(sentinel.url).host}/main`
  const state = openState({ url, log: SILENT })
  t.teardown(() => state.close())
  t.ok(await state.whenReachable(30_000), 'though the first Sentinel does not answer')
  t.equal(old.connections(), 1)
  primary = next
  // The old primary takes commands until it is demoted, and then refuses to write.
  old.refuse("READONLY You can't write against a read only replica.")
  await runOne(state)
  await until(() => next.connections() > 0)
  t.ok(await state.whenReachable(30_000))
  t.equal(await runOne(state), 1)
})

t.test('a failover message that arrives on a lost connection does not close the new one', async (t) => {
  const [old, next] = [await openScriptedRedis(t), await openScriptedRedis(t)]
  let primary = old
  const sentinel = await openScriptedRedis(t, { primaryPort: () => Number(new URL(primary.url).port) })
  const state = openState({ url: `redis+sentinel://${new URL(sentinel.url).host}/main`, log: SILENT })
  t.teardown(() => state.close())
  t.ok(await state.whenReachable(30_000))
  await until(() => sentinel.subscribers() === 1)
  const place = sentinel.hold()
  old.drop()
  await until('the new connection asks for the primary', () => place.asked() > 0)
  primary = next
  sentinel.publish('+switch-master', `main ${new URL(old.url).host} ${new URL(next.url).host}`)
  await until('nobody listens for the lost connection', () => sentinel.subscribers() === 0)
  place.release()
  await until(() => next.connections() > 0)
  t.ok(await state.whenReachable(30_000))
  t.equal(await runOne(state), 1)
})

t.test('logs one line when a Sentinel becomes unavailable, and one when it is back', async (t) => {
  const primary = await openScriptedRedis(t)
  const primaryPort = (): number => Number(new URL(primary.url).port)
  const sentinel = await openScriptedRedis(t, { primaryPort })
  const port = await freePort()
  const log = keptLog()
  const url = `redis+sentinel://127.0.0.1:${port},${new URL(sentinel.url).host}/main`
  const state = openState({ url, log })
  t.teardown(() => state.close())
  t.ok(await state.whenReachable(30_000))
  const lines = (): readonly string[] =>
    log.events
      .filter(({ event }) => event.startsWith('sentinel_'))
      .map(({ event, fields }) => `${event} ${String(fields?.['sentinel'])}`)
  t.same(lines(), [`sentinel_away 127.0.0.1:${port}`])
  await openScriptedRedis(t, { primaryPort, port })
  // Each new connection listens to all Sentinels.
  state.redis.disconnect(true)
  await until(() => lines().length > 1)
  t.same(lines()[1], `sentinel_reachable 127.0.0.1:${port}`)
})

t.test('logs a line when an outage lasts because the new primary refuses the login', async (t) => {
  const [old, next] = [await openScriptedRedis(t), await openScriptedRedis(t)]
  let primary = old
  const sentinel = await openScriptedRedis(t, { primaryPort: () => Number(new URL(primary.url).port) })
  const log = keptLog()
  const state = openState({ url: `redis+sentinel://user:secret@${new URL(sentinel.url).host}/main`, log })
  t.teardown(() => state.close())
  t.ok(await state.whenReachable(30_000))
  primary = next
  next.refuseLogins('WRONGPASS invalid username-password pair or user is disabled.')
  old.refuse("READONLY You can't write against a read only replica.")
  await runOne(state)
  await until(() => next.connections() > 3)
  const causes = log.events
    .filter(({ event }) => event === 'redis_away')
    .map(({ fields }) => String(fields?.['cause']).slice(0, 31))
  t.same(causes, ['Redis refuses writes: READONLY,', 'WRONGPASS invalid username-pass'])
})

t.test('a node of a cluster is recognized by its INFO', async (t) => {
  for (const isCluster of [true, false]) {
    const { url } = await openScriptedRedis(t, { isCluster })
    const state = openState({ url, log: SILENT })
    t.teardown(() => state.close())
    t.ok(await state.whenReachable(30_000))
    t.equal(await state.isCluster(), isCluster)
  }
})
