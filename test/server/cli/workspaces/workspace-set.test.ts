import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import { findWorkspace } from '../../../../src/server/store/base/find-workspace.ts'
import { openSecretRows } from '../../../../src/server/store/vault/secrets.ts'
import { openReleases } from '../../../../src/server/vault/releases.ts'
import { openRootKeys } from '../../../../src/server/vault/root-keys.ts'
import { VaultKeys } from '../../../../src/server/vault/vault-keys.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { openFileStand } from '../../../support/files/files.ts'
import { threads } from '../../../support/front.ts'
import { SILENT } from '../../../support/log.ts'
import { must } from '../../../support/must.ts'
import { openFolder } from '../../../support/files/storage.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { parseProviderKey } from '../../../../src/server/cli/workspaces/workspaces.ts'

const ROOT_KEY = randomBytes(32).toString('base64')

async function stand(t: Parameters<typeof openFileStand>[0]) {
  const { store, workspaceId } = await openFileStand(t)
  const dataDir = join(await openFolder(t), 'data')
  const settings = { DATABASE_URL: store.options.url, SLUICE_DATA: dataDir, SLUICE_ROOT_KEY: ROOT_KEY }
  const run = async (args: readonly string[], input = '') => {
    const { code, stdout, stderr } = await runVerb(settings, ['workspaces', ...args], input)
    return { status: code, text: stdout + stderr }
  }
  const set = (args: readonly string[], input = '') => run(['set', ...args], input)
  const rootKeys = openRootKeys({ setting: new Secret(ROOT_KEY), file: null, dataDir })
  const rows = openSecretRows(store)
  const releases = openReleases({
    rows,
    keys: new VaultKeys({ rootKeys, rows }),
    jobs: threads(),
    audit: { note: () => true },
    log: SILENT,
  })
  const { organizationId } = must(await findWorkspace(store.sql, workspaceId, null))
  const by = { actor: { kind: 'system', id: null }, requestId: null } as const
  const read = async (name: string, host: string): Promise<string | null> => {
    const released = await releases.release({
      scope: { organizationId, workspaceId, internId: null },
      name,
      host,
      operation: 'test',
      by,
    })
    return released.ok ? released.value.reveal() : null
  }
  return { run, set, read, store, openai: () => read('openai_api_key', 'api.openai.com') }
}

t.test(
  'workspaces set stores each provider key in the vault for the host of its provider only, and prints no key',
  async (t) => {
    const { set, read, openai } = await stand(t)
    const first = await set([
      'default',
      '--provider-key',
      'openai=sk-a=b',
      '--provider-key',
      'anthropic=sk-ant',
      '--provider-key',
      'google=g',
      '--json',
    ])
    t.match(JSON.parse(first.text), {
      provider_keys: [
        { provider: 'openai', is: 'set' },
        { provider: 'anthropic', is: 'set' },
        { provider: 'google', is: 'set' },
      ],
    })
    t.notMatch(first.text, /sk-a/)
    t.same([await openai(), await read('anthropic_api_key', 'api.anthropic.com')], ['sk-a=b', 'sk-ant'])
    t.equal(await read('google_api_key', 'generativelanguage.googleapis.com'), 'g')
    for (const host of ['openai.com', 'eu.api.openai.com', 'api.anthropic.com'])
      t.equal(await read('openai_api_key', host), null, host)
    t.equal((await set(['default', '--provider-key', 'openai=-'], 'sk-piped\n')).text, 'openai: set\n')
    t.equal(await openai(), 'sk-piped')
    t.equal((await set(['default', '--provider-key', 'openai='])).text, 'openai: removed\n')
    t.equal((await set(['default', '--provider-key', 'openai='])).text, 'openai: absent\n')
    t.equal(await openai(), null)
  },
)

t.test(
  'workspaces set audits provider keys and notifies the fronts, but not for programme and vault writes',
  async (t) => {
    const { set, store, openai } = await stand(t)
    await set(['default', '--programme', 'off', '--vault-writes', 'off'])
    await set(['default', '--provider-key', 'openai=sk-canary'])
    t.equal(await openai(), 'sk-canary')
    await set(['default', '--provider-key', 'openai='])
    const events = (await auditOf(store)).slice(1)
    t.match(events, [
      {
        operation: 'cli.workspaces-set',
        actor: { kind: 'cli' },
        object_kind: 'secret',
        before: null,
        after: { name: 'openai_api_key', hosts: ['api.openai.com'] },
      },
      {
        operation: 'cli.workspaces-set',
        object_kind: 'secret',
        before: { name: 'openai_api_key' },
        after: null,
      },
    ])
    t.notMatch(JSON.stringify(events), /canary/)
    const [workspace] = await store.sql<{ id: string }[]>`SELECT id FROM workspaces WHERE slug = 'default'`
    const reported = await store.sql`SELECT id FROM invalidations WHERE kind = 'vault'`
    t.same(
      reported.map(({ id }) => id as string),
      [workspace?.id, workspace?.id],
    )
  },
)

t.test('workspaces set refuses wrong providers and workspaces without showing a key', async (t) => {
  const { set } = await stand(t)
  const { status, text } = await set(['default', '--provider-key', 'local=sk-canary'])
  t.equal(status, 2)
  t.match(text, /providers: openai, anthropic, cohere/)
  t.notMatch(text, /canary/)
  t.match(await set(['nowhere', '--provider-key', 'openai=sk']), { status: 1, text: /no such workspace/ })
})

t.test(
  'workspaces set switches programme and vault writes, list shows them, and a set without changes is refused',
  async (t) => {
    const { set, run } = await stand(t)
    t.equal(
      (await set(['default', '--programme', 'off', '--vault-writes', 'off'])).text,
      'programme: off\nvault writes: off\n',
    )
    const listed = JSON.parse((await run(['list', '--json'])).text) as { data: object[] }
    t.match(listed.data, [
      { slug: 'default', programme: false, vault_writes: false },
      { slug: 'other', programme: true, vault_writes: true },
    ])
    t.match(JSON.parse((await set(['default', '--programme', 'on', '--json'])).text), {
      programme: true,
      vault_writes: false,
      provider_keys: [],
    })
    t.match(await set(['default', '--programme', 'maybe']), { status: 2, text: /on, off/ })
    t.match(await set(['default']), { status: 2, text: /--programme, --vault-writes or --provider-key/ })
  },
)

const HOSTS = new Map([['openai', 'api.openai.com']])

t.test('refuses an invalid provider key without showing it', async (t) => {
  for (const wrong of [
    'sk-canary',
    'local=sk-canary',
    '=sk-canary',
    'openai=sk canary',
    'openai=sk\ncanary',
    'openai=canary\u00e9',
  ]) {
    const refusal = parseProviderKey(wrong, HOSTS)
    t.type(refusal, 'string', JSON.stringify(wrong))
    t.notMatch(refusal, /canary/)
  }
  t.match(parseProviderKey('openai=', HOSTS), { provider: 'openai', host: 'api.openai.com', key: null })
})
