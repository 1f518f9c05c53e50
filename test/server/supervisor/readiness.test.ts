import t from 'tap'
import { openHints } from '../../../src/server/redis/hints.ts'
import { openState } from '../../../src/server/redis/open.ts'
import { SILENT } from '../../support/log.ts'
import { nodeSettings, startNode, until, type TestNode } from '../../support/nodes/node.ts'
import { outsideRedis } from '../../support/nodes/outside-stores.ts'
import { runVerb } from '../../support/operator/verbs.ts'
import { openRelay } from '../../support/wire/relay.ts'

// Two whole nodes start here, on a machine that may be busy: one has everything, the other never had a Redis.
t.setTimeout(600_000)

/** Long enough to be seen within on a busy machine, short enough to be outlived. */
const KEY_GRACE = '30s'

interface ReadinessBody {
  readonly status: string
  readonly reasons: readonly string[]
  readonly dependencies: Readonly<Record<string, { state: string; mode: string; effect?: string }>>
}

async function readiness(node: TestNode): Promise<{ http: number; body: ReadinessBody }> {
  const { status, body } = await node.admin('/readyz')
  return { http: status, body: JSON.parse(body) as ReadinessBody }
}

/**
 * Waits until these are the reasons, and no other one: a store that was slow for a moment counts as away for
 * as long.
 */
async function untilReasons(
  node: TestNode,
  ...wanted: readonly string[]
): Promise<Awaited<ReturnType<typeof readiness>>> {
  let seen = await readiness(node)
  await until(`readiness has ${wanted.join()}, and nothing else`, async () => {
    seen = await readiness(node)
    return seen.body.reasons.join() === wanted.join()
  })
  return seen
}

async function untilStatus(node: TestNode, wanted: string): Promise<void> {
  await until(`readiness says ${wanted}`, async () => (await readiness(node)).body.status === wanted)
}

const settings = await nodeSettings(t)
const url = new URL(settings['DATABASE_URL'] ?? '')
/** The Postgres of the node, which a test can take away. */
const relay = await openRelay(t, { host: url.hostname, port: Number(url.port) })
url.port = String(relay.port)
/** Null where none is on the PATH: the node then has its own. */
const redis = await outsideRedis()
t.teardown(() => redis?.close())
const node = await startNode(t, {
  ...settings,
  DATABASE_URL: url.href,
  SLUICE_KEY_GRACE: KEY_GRACE,
  ...(redis !== null && { REDIS_URL: redis.url }),
})

t.test(
  'CLI commands publish their changes without the Redis address in their environment',
  { skip: redis === null && 'redis-server is not on the PATH' },
  async (t) => {
    const state = openState({ url: redis?.url ?? '', log: SILENT })
    const hints = openHints(state)
    t.teardown(() => Promise.all([hints.close(), state.close()]))
    const kinds = new Set<string>()
    hints.subscribe(({ kind }) => void kinds.add(kind))
    // Only a hint that arrives proves the subscription.
    await until('it is subscribed', async () => {
      await hints.publish({ n: 0, kind: 'catalogue', id: 'any' })
      return kinds.has('catalogue')
    })
    await runVerb(settings, ['keys', 'create', '--name', 'k', '--kind', 'inference'])
    await until('a key is hinted', () => kinds.has('key'))
  },
)

for (const how of ['cut', 'freeze'] as const) {
  t.test(
    `a lost Postgres (${how}) makes the node degraded but serving known keys, until Postgres returns`,
    async (t) => {
      await untilStatus(node, 'ready')
      t.ok(await node.answers())
      await relay[how]()
      const { http, body } = await untilReasons(node, 'postgres_down')
      t.match({ http, body }, { http: 200, body: { status: 'degraded' } })
      t.match(body.dependencies['postgres'], { state: 'down', mode: 'external', effect: /known keys/ })
      t.ok(await node.answers())
      t.match((await node.admin('/metrics')).body, /sluice_postgres_up 0/)
      const line = node.lines().findLast(({ event }) => event === 'dependency_down')
      t.match(line, { dependency: 'postgres', cause: { message: /./ } })
      await relay.restore()
      await untilStatus(node, 'ready')
    },
  )
}

t.test('after the grace period a node without Postgres reports that it is not ready', async (t) => {
  await relay.cut()
  t.match(await untilReasons(node, 'postgres_down', 'key_grace_over'), {
    http: 503,
    body: { status: 'unavailable' },
  })
  await relay.restore()
  await untilStatus(node, 'ready')
})

t.test(
  'a lost Redis makes the node degraded until Redis returns',
  { skip: redis === null && 'redis-server is not on the PATH' },
  async (t) => {
    await redis?.kill()
    t.match(await untilReasons(node, 'redis_down'), {
      http: 200,
      body: { status: 'degraded', dependencies: { redis: { mode: 'external' } } },
    })
    t.ok(await node.answers())
    await redis?.start()
    await untilStatus(node, 'ready')
  },
)

t.test('a node without its Redis', async (t) => {
  const node = await startNode(t, {
    ...(await nodeSettings(t)),
    REDIS_URL: 'redis://127.0.0.1:1',
    SLUICE_FRONTS: '2',
  })

  t.test('it starts, and reports itself as degraded', async (t) => {
    t.ok(await node.answers())
    t.equal(node.ready.redis, 'external')
    t.ok(node.ready.degraded.includes('redis'))
    t.match(node.output(), /Redis external \(cannot be reached/)
    await untilStatus(node, 'degraded')
  })

  t.test('the admin port answers /healthz, and does not serve the API', async (t) => {
    t.same(await node.admin('/healthz'), { status: 200, body: '{"status":"alive"}\n' })
    t.equal((await node.admin('/models')).status, 404)
  })

  t.test('metrics are those of all processes of the node', async (t) => {
    // A busy process counts with its last report.
    const untilCounted = (calls: number): Promise<void> =>
      until(`${calls} calls are counted`, async () => (await counted(node)) === calls)
    await untilCounted(1)
    // Connections are spread by the kernel: enough of them reach both fronts.
    for (let call = 0; call < 40; call++) await node.get('/api/v1/models/count')
    await untilCounted(41)
    t.match((await node.admin('/metrics')).body, /sluice_fronts_ready 2/)
  })
})

/** Calls of one operation, as the metrics of the node have it. */
async function counted(node: TestNode): Promise<number> {
  const { body } = await node.admin('/metrics')
  return Number(
    /sluice_requests_total\{operation="models.count",status="200",failure=""\} (\d+)/.exec(body)?.[1] ?? 0,
  )
}
