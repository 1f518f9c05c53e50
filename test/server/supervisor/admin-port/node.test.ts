import { Compile } from 'typebox/compile'
import t from 'tap'
import { LiveView } from '../../../../src/schemas/operator/live-view.ts'
import { firstKeys as firstKeysOf } from '../../../../src/server/cli/operator/doctor/examine.ts'
import { rootKey } from '../../../../src/server/cli/operator/doctor/root-key.ts'
import { Assets } from '../../../../src/server/supervisor/admin-port/assets.ts'
import { noteRootKeyCopies } from '../../../../src/server/vault/root-key-copies.ts'
import { openRootKeys } from '../../../../src/server/vault/root-keys.ts'
import { ask as askPort, type AskMore, type Asked } from '../../../support/operator/admin-port.ts'
import { firstKeys, nodeSettings, startNode, until } from '../../../support/nodes/node.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { rawClient, type RawClient } from '../../../support/wire/raw-http.ts'
import { served } from '../../../support/wire/served.ts'

t.setTimeout(600_000)

/** One node for all of the file; the last test ends it. */
const settings = await nodeSettings(t)
const node = await startNode(t, settings)
const {
  management_key: operatorKey = '',
  inference_key: inferenceKey = '',
  organization_id: organizationId = '',
} = firstKeys(node.dataDir)
const port = Number(settings['SLUICE_ADMIN_PORT'])

function ask(path: string, key: string | null = operatorKey, more: AskMore = {}): Promise<Asked> {
  const headers = { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...more.headers }
  return served(() => askPort(port, path, { ...more, headers }))
}

/** Runs a verb of the command line. @returns its output */
async function verb(...args: readonly string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await runVerb(settings, [...args, '--json'])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Record<string, string>
}

function stream(key: string): RawClient {
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  client.send(
    `GET /api/v1/admin/live HTTP/1.1\r\nhost: localhost:${port}\r\nauthorization: Bearer ${key}\r\n\r\n`,
  )
  return client
}

const { id: foreignId = '' } = await verb('organizations', 'create', '--name', 'foreign')
const [{ key: foreignKey = '' }, { key: otherKey = '', hash: otherHash = '' }] = await Promise.all([
  verb('keys', 'create', '--kind', 'management', '--organization', foreignId, '--name', 'foreign'),
  verb('keys', 'create', '--kind', 'management', '--organization', organizationId, '--name', 'other'),
])

t.test('the dashboard and all of its files are served without a key', async (t) => {
  const { names } = new Assets()
  t.ok(names.includes('index.html'))
  for (const name of ['', ...names]) {
    const { status, headers } = await ask(`/dashboard/${name}`, null)
    t.match(
      { status, policy: headers['content-security-policy'] },
      { status: 200, policy: /frame-ancestors 'none'/ },
    )
  }
})

for (const [who, key, status, error] of [
  ['no key', null, 401, 'credentials_missing'],
  ['an inference key', inferenceKey, 403, 'wrong_key_kind'],
  ['a management key of another organization', foreignKey, 403, 'operator_only'],
  ['an unknown key', `sk-sluice-mgmt-v1-${'a'.repeat(43)}`, 401, 'key_unknown'],
] as const) {
  t.test(`${who} sees nothing of the node`, async (t) => {
    for (const path of [
      '/api/v1/admin/live',
      '/api/v1/admin/live?once',
      '/api/v1/admin/session',
      '/api/v1/keys',
      '/api/v1/models',
    ]) {
      t.match(await ask(path, key), { status, error })
    }
  })
}

t.test(
  'an operator calls the public API through the admin port, and makes, uses and removes a budget and a key',
  async (t) => {
    const json = { headers: { 'content-type': 'application/json' } }
    const made = await ask('/api/v1/keys', operatorKey, {
      ...json,
      method: 'POST',
      body: '{"name":"of the dashboard"}',
    })
    t.equal(made.status, 201)
    const {
      key,
      data: { hash },
    } = JSON.parse(made.body.toString()) as { key: string; data: { hash: string } }
    const used = await fetch(`${node.ready.url}/api/v1/models/count`, {
      headers: { authorization: `Bearer ${key}` },
    })
    t.equal(used.status, 200)
    t.equal(
      (
        await ask('/api/v1/workspaces/default/budgets/daily', operatorKey, {
          ...json,
          method: 'PUT',
          body: '{"limit_usd":5}',
        })
      ).status,
      200,
    )
    t.match(
      await ask('/api/v1/workspaces/default/budgets/daily', operatorKey, {
        ...json,
        method: 'PUT',
        body: '{"limit_usd":-1}',
      }),
      { status: 400 },
    )
    t.equal((await ask(`/api/v1/keys/${hash}`, operatorKey, { method: 'DELETE' })).status, 200)
    t.equal((await ask('/api/v1/nothing')).status, 404)
  },
)

t.test('one live view has the form that the dashboard reads, and counts a call', async (t) => {
  const check = Compile(LiveView)
  const page = stream(operatorKey)
  await page.until(/data: \{/)
  await until('a call is seen', async () => {
    await node.get('/api/v1/models/count')
    const { status, body } = await ask('/api/v1/admin/live?once')
    const view: unknown = JSON.parse(body.toString())
    t.equal(status, 200)
    t.ok(check.Check(view), JSON.stringify(check.Errors(view)))
    return body.includes('"operation":"models.count"')
  })
  page.destroy()
})

t.test(
  'a new node shows the findings of doctor: no backup of the root key, and readable first keys',
  async (t) => {
    let found: LiveView['findings'] = []
    /** A machine that is busy has more of them for a moment. */
    const untilFound = (count: number): Promise<void> =>
      until(`there are ${count} findings`, async () => {
        found = (JSON.parse((await ask('/api/v1/admin/live?once')).body.toString()) as LiveView).findings
        return found.length === count
      })
    const sources = { rootKey: null, rootKeyFile: null, dataDir: node.dataDir }
    await untilFound(2)
    const [lone, open] = found
    t.match(rootKey(sources).detail, lone?.text ?? 'none')
    t.same(
      firstKeysOf(sources).map(({ detail, fix }) => [detail, fix]),
      [[open?.text, open?.fix]],
    )
    t.match([lone?.text, lone?.fix, open?.page], [/^no backup of root key/, /confirm-root/, 'keys'])
    noteRootKeyCopies(node.dataDir, openRootKeys({ setting: null, file: null, dataDir: node.dataDir }).ids, {
      at: new Date().toISOString(),
      by: 'shown',
    })
    await untilFound(1)
    t.same(
      found.map(({ text }) => text),
      [open?.text],
    )
  },
)

t.test('the public port does not serve the live view', async (t) => {
  const { status } = await fetch(`${node.ready.url}/api/v1/admin/live`, {
    headers: { authorization: `Bearer ${operatorKey}` },
  })
  t.equal(status, 404)
})

t.test('the metrics for Prometheus are the same with and without a viewer of the live view', async () => {
  const page = stream(operatorKey)
  await page.until(/data: \{/)
  await until('the front has told', async () =>
    /sluice_front_event_loop_utilization\{front="0"\} [0-9.e-]+\n/.test((await node.admin('/metrics')).body),
  )
  page.destroy()
})

t.test('when a key is revoked, its stream ends and it can no longer read the node', async (t) => {
  const page = stream(otherKey)
  await page.until(/data: \{/, 2)
  t.equal((await ask(`/api/v1/keys/${otherHash}`, operatorKey, { method: 'DELETE' })).status, 200)
  t.ok(await page.until(/\r\n0\r\n\r\n$/))
  await until('it is refused', async () => (await ask('/api/v1/keys', otherKey)).status === 401)
})

t.test('a node that drains ends its streams', async (t) => {
  const page = stream(operatorKey)
  await page.until(/data: \{/)
  const stopped = node.stop()
  t.ok(await page.until(/\r\n0\r\n\r\n$/))
  t.equal(await stopped, 0)
})
