import { spawnSync } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { connectionsNeeded } from '../../../src/server/supervisor/fleet/shares.ts'
import { HOLD_MS_MAX } from '../../../src/server/supervisor/held-log.ts'
import { openApiOf } from '../../../src/server/http/reference/openapi.ts'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import { openStore } from '../../../src/server/store/base/open.ts'
import {
  firstKeys,
  nodeSettings,
  READY_MS_MAX,
  runToEnd,
  sluice,
  startNode,
  until,
} from '../../support/nodes/node.ts'
import { runVerb } from '../../support/operator/verbs.ts'
import { ROOT } from '../../support/source.ts'
import { lateRows } from '../../support/stores/late-rows.ts'
import { openRelay } from '../../support/wire/relay.ts'
import { served } from '../../support/wire/served.ts'
import { freePort, spawnServer, stopServer, untilPrinted } from '../../support/nodes/spawned.ts'

// Whole nodes start here, on a machine that may be busy.
t.setTimeout(600_000)

/** A node that only runs, for tests that look at it or use its stores. */
const settings = await nodeSettings(t, { hasTables: false })
const begunAt = performance.now()
const MISPLACED = 'sk-sluice-v1-misplaced'
const node = await startNode(t, {
  ...settings,
  SLUICE_FRONTS: '2',
  SLUICE_WORKERS: '3',
  OPENAI_API_KEY: MISPLACED,
  SLUICE_RATE_LIMIT_BURST: '3',
})
const startMs = performance.now() - begunAt

t.test('the first line of stdout is the ready line, with exactly its members', async (t) => {
  const port = settings['SLUICE_PORT']
  const lines = node.lines()
  const before = lines.slice(
    0,
    lines.findIndex(({ event }) => event === 'ready'),
  )
  // Errors of a start, and the steps of a slow one, are logged while it goes on.
  if (startMs < HOLD_MS_MAX && !before.some(({ level }) => level === 'error')) t.same(before, [])
  t.same(
    { ...node.ready, redis: null, degraded: [], version: null },
    {
      event: 'ready',
      url: `http://127.0.0.1:${port}`,
      docs_url: `http://127.0.0.1:${port}/docs`,
      admin_url: `http://127.0.0.1:${settings['SLUICE_ADMIN_PORT']}`,
      fronts: 2,
      workers: 3,
      postgres: 'external',
      redis: null,
      objects: join(node.dataDir, 'files'),
      degraded: [],
      version: null,
    },
  )
  t.match(node.ready, { redis: /^(child|in-memory)$/, version: /^\d+\.\d+\.\d+/ })
  t.ok(node.ready.degraded.length === 0 || /dependency_down/.test(node.output()), node.output())
})

t.test(
  'a start in an empty data directory creates working keys, in a file that only its owner can read',
  async (t) => {
    const file = join(node.dataDir, 'first-keys.json')
    t.equal(statSync(file).mode & 0o777, 0o600)
    t.equal(statSync(node.dataDir).mode & 0o777, 0o700)
    const members = ['base_url', 'inference_key', 'management_key', 'organization_id', 'workspace_id']
    t.same(Object.keys(firstKeys(node.dataDir)).sort(), members)
    t.equal((await node.get('/api/v1/models/count')).status, 200)
  },
)

t.test('without a terminal the output names the file of the first keys and holds no key', async (t) => {
  const { inference_key: inference = '', management_key: management = '' } = firstKeys(node.dataDir)
  t.match(
    node.output(),
    `in ${join(node.dataDir, 'first-keys.json')}; save the keys elsewhere, then delete the file`,
  )
  t.notOk(node.output().includes(inference) || node.output().includes(management))
})

t.test('a Sluice key set as a provider key is logged with its variable, and counts as not set', async (t) => {
  await until(() => node.lines().some(({ event }) => event === 'provider_keys_misplaced'))
  t.match(
    node.lines().find(({ event }) => event === 'provider_keys_misplaced'),
    { level: 'warn', detail: /^OPENAI_API_KEY contains a Sluice key/, fix: /own key/ },
  )
  t.notMatch(node.output(), MISPLACED)
  const { management_key: key = '' } = firstKeys(node.dataDir)
  const answer = await served(() =>
    fetch(`${node.ready.url}/api/v1/admin/start`, { headers: { authorization: `Bearer ${key}` } }),
  )
  const { data } = (await answer.json()) as { data: { providers: { slug: string }[] } }
  t.match(
    data.providers.find(({ slug }) => slug === 'openai'),
    { is_set: false, misplaced: ['OPENAI_API_KEY'] },
  )
})

t.test("keys without a burst use the operator's, and the rate limit policy header states it", async (t) => {
  const policyOf = async (...options: readonly string[]): Promise<string | null> => {
    const create = ['keys', 'create', '--name', 'paced', '--kind', 'inference', '--json', ...options]
    const { stdout, stderr } = await runVerb(settings, create)
    t.equal(stderr, '')
    const { key } = JSON.parse(stdout) as { readonly key: string }
    const answer = await served(() =>
      fetch(`${node.ready.url}/api/v1/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{"model":"sluice/lexical-1","input":"x"}',
      }),
    )
    t.equal(answer.status, 200)
    return answer.headers.get('ratelimit-policy')
  }
  t.equal(await policyOf('--rpm', '60'), '"requests";q=60;w=60;burst=3')
  t.equal(await policyOf('--rpm', '60', '--burst', '7'), '"requests";q=60;w=60;burst=7')
  t.equal(await policyOf('--rpm', '2'), '"requests";q=2;w=60;burst=2')
})

t.test('a front serves the OpenAPI document of its operations', async (t) => {
  const { status, body } = await node.get('/openapi.json')
  t.equal(status, 200)
  t.equal(body, JSON.stringify(openApiOf(OPERATIONS)))
})

t.test('a start that waits names the Postgres that it waits for, without its password', async (t) => {
  const [settings, port] = await Promise.all([nodeSettings(t, { isEmbedded: true }), freePort()])
  const place = `127.0.0.1:${port}`
  const [command = '', ...args] = sluice('serve')
  for (const [hosts, line] of [
    [place, / at 127\.0\.0\.1:\d+ \(ECONNREFUSED\);/],
    [
      `${place},${place}`,
      /: no Postgres host can be used: (127\.0\.0\.1:\d+ refuses connections \(ECONNREFUSED\); ){2}/,
    ],
  ] as const) {
    const env = { ...settings, DATABASE_URL: `postgres://me:hunter2hunter2@${hosts}/db` }
    const node = spawnServer(command, args, { env, cwd: ROOT })
    t.teardown(() => stopServer(node.child))
    await untilPrinted(node, line, READY_MS_MAX)
    await stopServer(node.child)
    t.notMatch(node.output(), /hunter2/)
  }
})

t.test('a second node on the same data directory is refused, and the first goes on', async (t) => {
  const other = await nodeSettings(t)
  const refused = await runToEnd({ ...other, SLUICE_DATA: node.dataDir })
  t.equal(refused.code, 1)
  t.match(refused.stderr, new RegExp(`a node is running on .* already \\(pid ${node.pid}\\)`))
  t.equal((await node.get('/api/v1/models/count')).status, 200)
})

t.test('a port in use makes the start fail and names the setting', async (t) => {
  const settings = await nodeSettings(t)
  for (const setting of ['SLUICE_PORT', 'SLUICE_ADMIN_PORT']) {
    const server = createServer().listen(Number(settings[setting]), '127.0.0.1')
    await once(server, 'listening')
    const refused = await runToEnd(settings)
    server.close()
    await once(server, 'close')
    t.equal(refused.code, 1, setting)
    t.match(refused.stderr, new RegExp(`another program uses the port; set ${setting}`))
  }
})

t.test('a start that loses its first connection, and whose rows in the store are late', async (t) => {
  const settings = await nodeSettings(t)
  const url = new URL(settings['DATABASE_URL'] ?? '')
  const store = openStore({ url: url.href, poolMax: 1, applicationName: 'sluice-test' })
  t.teardown(() => store.close())
  await lateRows(store, 'fronts', 1.5)
  await lateRows(store, 'journals', 1.2)
  const relay = await openRelay(t, { host: url.hostname, port: Number(url.port) })
  url.port = String(relay.port)
  // Each connection sends its name to Postgres.
  relay.loseAnswer('sluice-supervisor')
  const node = await startNode(t, { ...settings, DATABASE_URL: url.href })
  const [front] = await store.sql`SELECT connections FROM fronts`
  const [journal] = await store.sql`SELECT 1 FROM journals`

  t.test('survives the loss', async (t) => {
    t.equal((await node.get('/api/v1/models/count')).status, 200)
  })

  t.test('is known in the store before it serves, so that revocations wait for it', async (t) => {
    // A front that cannot enrol in time serves all the same, and logs that.
    if (front !== undefined || !node.output().includes('heartbeat.failed'))
      t.match(front, { connections: connectionsNeeded({ fronts: 1, runners: 1 }) })
  })

  t.test('has the accounting day before it serves, which each call needs', async (t) => {
    // A store that does not return it at the first try counts as away.
    t.ok(journal !== undefined || node.output().includes('money.away'))
  })
})

t.test('a node that gets SIGTERM while it waits for Postgres ends with 0', async (t) => {
  let tries = 0
  const notYet = createServer((socket) => {
    tries += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(notYet, 'listening')
  t.teardown(() => void notYet.close())
  const { port } = notYet.address() as AddressInfo
  const env = {
    ...(await nodeSettings(t, { isEmbedded: true })),
    DATABASE_URL: `postgres://u@127.0.0.1:${port}/d`,
  }
  const { child, output } = spawnServer(process.execPath, sluice('serve').slice(1), { env })
  t.teardown(() => stopServer(child))
  await until('it tried again', () => tries > 1)
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null], output())
})

t.test('a folder that cannot keep files refuses the start before any store is touched', async (t) => {
  const absent = 'postgres://nobody@127.0.0.1:1/none'
  const { code, stderr } = await runToEnd({
    ...(await nodeSettings(t)),
    SLUICE_OBJECTS: '/dev/null/x',
    DATABASE_URL: absent,
  })
  t.equal(code, 1)
  t.match(stderr, /SLUICE_OBJECTS: files cannot be stored in \/dev\/null\/x/)
  t.notMatch(stderr, /waiting for Postgres/)
})

t.test('the port of a running node is refused too, though fronts share theirs', async (t) => {
  const other = await nodeSettings(t)
  const refused = await runToEnd({ ...other, SLUICE_PORT: settings['SLUICE_PORT'] ?? '' })
  t.match(refused, { code: 1, stderr: /set SLUICE_PORT/ })
})

t.test('a bad configuration ends the start with 2, reports every problem and leaves no files', async (t) => {
  const settings = await nodeSettings(t)
  const { code, stdout, stderr } = await runToEnd({
    ...settings,
    SLUICE_FRONTS: '0',
    SLUICE_LOG_LEVEL: 'loud',
    REDIS_URL: 'http://:hunter2@cache.example',
  })
  t.equal(code, 2)
  t.equal(stdout, '')
  for (const name of ['SLUICE_FRONTS', 'SLUICE_LOG_LEVEL', 'REDIS_URL']) {
    t.match(stderr, new RegExp(`^${name}: expected`, 'm'))
  }
  t.notMatch(stderr, /hunter2/)
  t.throws(() => statSync(settings['SLUICE_DATA'] ?? ''))
})

t.test('a catalogue with mistakes ends the start with 2', async (t) => {
  const file = join(t.testdir({ 'catalog.json': '{"models":[{"id":7}]}' }), 'catalog.json')
  const { code, stderr } = await runToEnd({ ...(await nodeSettings(t)), SLUICE_CATALOG: file })
  t.equal(code, 2)
  t.match(stderr, /SLUICE_CATALOG/)
})

const NO_CURL = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed'

t.test('the commands of the banner work when they are pasted', { skip: NO_CURL }, async (t) => {
  const [embed, chat] = [...node.output().matchAll(/^ *(curl -sN? .*)$/gm)].map(([, line = '']) => line)
  const pasted = (command = '') =>
    served(async () => {
      const { stdout } = await runToEnd({}, ['sh', '-c', command])
      return { status: stdout.includes('"code":503') ? 503 : 200, stdout }
    })
  const vectors = await pasted(embed)
  t.match(JSON.parse(vectors.stdout), {
    object: 'list',
    model: 'sluice/lexical-1',
    data: [{ embedding: Array }],
  })
  const streamed = await pasted(chat)
  t.match(streamed.stdout, /"content":"Hello"[^]*"content":" there"[^]*data: \[DONE\]\n\n$/)
})
