import t, { type Test } from 'tap'
import { nodeSettings, startNode, until, type Settings, type TestNode } from '../../support/node.ts'
import { isOnPath, outsideRedis } from '../../support/outside-stores.ts'
import { openRelay, type Relay } from '../../support/relay.ts'

// Whole nodes start here, on a machine that may be busy.
t.setTimeout(300_000)

interface ReadinessBody {
  readonly status: string
  readonly reasons: readonly string[]
  readonly dependencies: Readonly<Record<string, { state: string; mode: string; effect?: string }>>
}

async function readiness(node: TestNode): Promise<{ http: number; body: ReadinessBody }> {
  const { status, body } = await node.admin('/readyz')
  return { http: status, body: JSON.parse(body) as ReadinessBody }
}

async function untilStatus(node: TestNode, wanted: string): Promise<void> {
  await until(`readiness says ${wanted}`, async () => (await readiness(node)).body.status === wanted)
}

/** A node whose Postgres the test can take away. */
async function behindRelay(t: Test): Promise<{ settings: Settings; relay: Relay }> {
  const settings = await nodeSettings(t)
  const url = new URL(settings['DATABASE_URL'] ?? '')
  const relay = await openRelay(t, { host: url.hostname, port: Number(url.port) })
  url.port = String(relay.port)
  return { settings: { ...settings, DATABASE_URL: url.href }, relay }
}

for (const how of ['cut', 'freeze'] as const) {
  t.test(`a Postgres that is gone (${how}) makes the node degraded, serving known keys, until it is back`, async (t) => {
    const { settings, relay } = await behindRelay(t)
    const node = await startNode(t, settings)
    t.ok(await node.answers())
    await relay[how]()
    await untilStatus(node, 'degraded')
    const { http, body } = await readiness(node)
    t.equal(http, 200)
    t.same(body.reasons, ['postgres_down'])
    t.match(body.dependencies['postgres'], { state: 'down', mode: 'external', effect: /known keys/ })
    t.ok(await node.answers())
    t.match((await node.admin('/metrics')).body, /sluice_postgres_up 0/)
    await relay.restore()
    await untilStatus(node, 'ready')
  })
}

t.test('beyond the grace a node without Postgres wants no traffic', async (t) => {
  const { settings, relay } = await behindRelay(t)
  const node = await startNode(t, { ...settings, SLUICE_KEY_GRACE: '2s' })
  await relay.cut()
  await untilStatus(node, 'unavailable')
  const { http, body } = await readiness(node)
  t.equal(http, 503)
  t.same(body.reasons, ['postgres_down', 'key_grace_over'])
})

const skip = !(await isOnPath('redis-server')) && 'redis-server is not on the PATH'

t.test('a Redis that is gone makes the node degraded until it is back', { skip }, async (t) => {
  const redis = await outsideRedis()
  if (redis === null) throw new Error('redis-server does not start')
  t.teardown(() => redis.close())
  const node = await startNode(t, { ...(await nodeSettings(t)), REDIS_URL: redis.url })
  await redis.kill()
  await untilStatus(node, 'degraded')
  t.match((await readiness(node)).body, { reasons: ['redis_down'], dependencies: { redis: { mode: 'external' } } })
  t.ok(await node.answers())
  await redis.start()
  await untilStatus(node, 'ready')
})

t.test('a node starts without its Redis, and says so', async (t) => {
  const node = await startNode(t, { ...(await nodeSettings(t)), REDIS_URL: 'redis://127.0.0.1:1' })
  t.ok(await node.answers())
  await untilStatus(node, 'degraded')
})

t.test('the admin port tells that the node is alive, and nothing else than it serves', async (t) => {
  const node = await startNode(t, await nodeSettings(t))
  t.same(await node.admin('/healthz'), { status: 200, body: '{"status":"alive"}\n' })
  t.equal((await node.admin('/models')).status, 404)
})

t.test('metrics are those of all processes of the node', async (t) => {
  const node = await startNode(t, { ...(await nodeSettings(t)), SLUICE_FRONTS: '2' })
  // Connections are spread by the kernel: enough of them reach both fronts.
  for (let call = 0; call < 40; call++) await node.get('/api/v1/models/count')
  const { body } = await node.admin('/metrics')
  t.match(body, /sluice_requests_total\{operation="models.count",status="200",failure=""\} 40/)
  t.match(body, /sluice_fronts_ready 2/)
})
