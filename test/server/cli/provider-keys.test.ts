import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { Secret } from '../../../src/schemas/secret.ts'
import { parseProviderKey } from '../../../src/server/cli/provider-keys.ts'
import { openDataKeys } from '../../../src/server/store/data-keys.ts'
import { openProviderKeyRows } from '../../../src/server/store/provider-keys.ts'
import { openKeyRing } from '../../../src/server/vault/key-ring.ts'
import { openProviderKeys } from '../../../src/server/vault/provider-keys.ts'
import { openRootKeys } from '../../../src/server/vault/root-keys.ts'
import { openFileStand } from '../../support/files.ts'
import { plainEnvironment } from '../../support/load.ts'
import { must } from '../../support/must.ts'
import { ROOT } from '../../support/source.ts'
import { openFolder } from '../../support/storage.ts'

const ROOT_KEY = randomBytes(32).toString('base64')

async function stand(t: Parameters<typeof openFileStand>[0]) {
  const { store, workspaceId } = await openFileStand(t)
  const dataDir = join(await openFolder(t), 'data')
  const run = (args: readonly string[], input = '') => {
    const ran = spawnSync(process.execPath, [`${ROOT}bin/sluice`, 'workspaces', ...args], {
      encoding: 'utf8', input, env: { ...plainEnvironment(), DATABASE_URL: store.options.url, SLUICE_DATA: dataDir, SLUICE_ROOT_KEY: ROOT_KEY },
    })
    return { status: ran.status, text: ran.stdout + ran.stderr }
  }
  const set = (args: readonly string[], input = '') => run(['set', ...args], input)
  const rootKeys = openRootKeys({ setting: new Secret(ROOT_KEY), file: null, dataDir })
  const keys = openProviderKeys({ ring: openKeyRing({ rootKeys, rows: openDataKeys(store) }), rows: openProviderKeyRows(store) })
  return { run, set, read: async (provider: 'openai' | 'anthropic') => must(await keys.get(workspaceId, provider))?.reveal() ?? null }
}

t.test('workspaces set stores, replaces and removes provider keys, and prints none', async (t) => {
  const { set, read } = await stand(t)
  const first = set(['default', '--provider-key', 'openai=sk-a=b', '--provider-key', 'anthropic=sk-ant', '--json'])
  t.match(JSON.parse(first.text), { provider_keys: [{ provider: 'openai', is: 'set' }, { provider: 'anthropic', is: 'set' }] })
  t.notMatch(first.text, /sk-a/)
  t.same([await read('openai'), await read('anthropic')], ['sk-a=b', 'sk-ant'])
  t.equal(set(['default', '--provider-key', 'openai=-'], 'sk-piped\n').text, 'openai: set\n')
  t.equal(await read('openai'), 'sk-piped')
  t.equal(set(['default', '--provider-key', 'openai=']).text, 'openai: removed\n')
  t.equal(await read('openai'), null)
})

t.test('workspaces set refuses what it cannot do, without showing a key', async (t) => {
  const { set } = await stand(t)
  const { status, text } = set(['default', '--provider-key', 'google=sk-canary'])
  t.equal(status, 2)
  t.match(text, /providers are openai, anthropic/)
  t.notMatch(text, /canary/)
  t.match(set(['nowhere', '--provider-key', 'openai=sk']), { status: 1, text: /no such workspace/ })
})

t.test('workspaces set switches programme and vault writes, list shows them, and a set of nothing is refused', async (t) => {
  const { set, run } = await stand(t)
  t.equal(set(['default', '--programme', 'off', '--vault-writes', 'off']).text, 'programme: off\nvault writes: off\n')
  const listed = JSON.parse(run(['list', '--json']).text) as { data: object[] }
  t.match(listed.data, [{ slug: 'default', programme: false, vault_writes: false }, { slug: 'other', programme: true, vault_writes: true }])
  t.match(JSON.parse(set(['default', '--programme', 'on', '--json']).text), { programme: true, vault_writes: false, provider_keys: [] })
  t.match(set(['default', '--programme', 'maybe']), { status: 2, text: /on, off/ })
  t.match(set(['default']), { status: 2, text: /--programme, --vault-writes or --provider-key/ })
})

t.test('what is no provider key is refused without its text', async (t) => {
  for (const wrong of ['sk-canary', 'google=sk-canary', '=sk-canary', 'openai=sk canary', 'openai=sk\ncanary', 'openai=canary\u00e9']) {
    const refusal = parseProviderKey(wrong)
    t.type(refusal, 'string', JSON.stringify(wrong))
    t.notMatch(refusal, /canary/)
  }
  t.match(parseProviderKey('openai='), { provider: 'openai', key: null })
})
