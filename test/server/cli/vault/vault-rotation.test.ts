import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { openReleases } from '../../../../src/server/vault/releases.ts'
import { openOrMakeRootKeys, openRootKeys } from '../../../../src/server/vault/root-keys.ts'
import { VaultKeys } from '../../../../src/server/vault/vault-keys.ts'
import { openVaults } from '../../../../src/server/vault/vaults.ts'
import { SILENT } from '../../../support/log.ts'
import { must } from '../../../support/must.ts'
import type { Settings } from '../../../support/nodes/node.ts'
import { openFolder } from '../../../support/files/storage.ts'
import { BY, HOST, openVaultStand } from '../../../support/vault/vault-front.ts'
import { runVerb } from '../../../support/operator/verbs.ts'

t.setTimeout(600_000)

/** A vault with two secrets under a root key that the node made. */
async function stand(t: Parameters<typeof openVaultStand>[0]) {
  const made = await openVaultStand(t)
  const { store, rows, jobs, workspace: scope } = made
  const dataDir = await openFolder(t)
  const file = join(dataDir, 'root-key')
  const first = openOrMakeRootKeys({ setting: null, file: null, dataDir })
  const settings: Settings = { DATABASE_URL: store.options.url, SLUICE_DATA: dataDir }
  const run = (args: readonly string[], more: Settings = {}) =>
    runVerb({ ...settings, ...more }, ['vault', ...args])
  const json = async (...args: readonly string[]) =>
    JSON.parse((await run([...args, '--json'])).stdout) as Record<string, unknown>
  const vaults = openVaults({ rows, jobs, keys: new VaultKeys({ rootKeys: first, rows }) })
  for (const name of ['a', 'b'])
    must(await vaults.put(scope, { name, hosts: [HOST], value: new Secret(`value of ${name}`) }, BY))
  /** As a process that starts now reads the file. */
  const release = async (name: string) => {
    const rootKeys = openRootKeys({ setting: null, file: null, dataDir })
    const keys = new VaultKeys({ rootKeys, rows })
    const releases = openReleases({ rows, keys, jobs, audit: { note: () => true }, log: SILENT })
    const value = await releases.release({ scope, name, host: HOST, operation: 'test', by: BY })
    return value.ok ? value.value.reveal() : value.failure.name
  }
  return { ...made, run, json, release, file, dataDir, oldId: first.currentId }
}

t.test(
  'rotate-root --new creates a key and rewraps everything with it; status shows that the old key can be destroyed',
  async (t) => {
    const { run, json, release, file, oldId } = await stand(t)
    t.match(await json('status'), {
      ok: true,
      root_keys: [{ id: oldId, is: 'current', vault_keys: 2, data_keys: 0, can_be_destroyed: false }],
    })
    const { code, stdout, stderr } = await run(['rotate-root', '--new', '--json'])
    t.equal(code, 0, stderr)
    const rotated = JSON.parse(stdout) as { root_key_id: string }
    t.match(rotated, { rewrapped: 2, broken: [], unfinished: false })
    t.match(JSON.parse(stderr.split('\n')[0] ?? ''), { made: rotated.root_key_id, file })
    t.match(await json('status'), {
      ok: true,
      root_keys: [
        { id: rotated.root_key_id, is: 'current', vault_keys: 2, can_be_destroyed: false },
        { id: oldId, is: 'old', vault_keys: 0, data_keys: 0, can_be_destroyed: true },
      ],
    })
    const kept = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => !line.startsWith(oldId))
    t.equal(kept.filter((line) => line !== '').length, 1)
    writeFileSync(file, kept.join('\n'))
    t.equal(await release('a'), 'value of a')
    t.match(await json('rotate-root'), { root_key_id: rotated.root_key_id, rewrapped: 0 })
  },
)

t.test('rotate-root --new twice at once keeps both keys, and one of them wraps everything', async (t) => {
  const { run, release, file, json } = await stand(t)
  await Promise.all([run(['rotate-root', '--new']), run(['rotate-root', '--new'])])
  t.equal(readFileSync(file, 'utf8').trim().split('\n').length, 3)
  t.equal((await run(['rotate-root'])).code, 0)
  t.match(await json('status'), { ok: true })
  t.equal(await release('b'), 'value of b')
})

t.test('rotate-root changes nothing while a front wraps keys with another root key', async (t) => {
  const { store, run, json, oldId } = await stand(t)
  await store.sql`
    INSERT INTO fronts (id, node, connections, epoch, root_key_id, heartbeat_at)
    VALUES (${newId()}, 'north', 1, 0, ${oldId}, now() + interval '1 h')`
  t.match(await run(['rotate-root', '--new']), {
    code: 1,
    stderr: /nodes without root key [0-9a-f]+: north; nothing was changed/,
  })
  t.match(await json('status'), {
    ok: false,
    nodes_on_other_root_keys: ['north'],
    root_keys: [
      { is: 'current', vault_keys: 0 },
      { id: oldId, is: 'old', vault_keys: 2, can_be_destroyed: false },
    ],
  })
  await store.sql`UPDATE fronts SET heartbeat_at = now() - interval '1 h'`
  t.match(await json('rotate-root'), { rewrapped: 2 })
})

t.test(
  'rotate-root refuses --new when the operator sets the keys, and reports a missing root key',
  async (t) => {
    const { run, file, store, release } = await stand(t)
    const given = { SLUICE_ROOT_KEY: 'a'.repeat(64) }
    t.match(await run(['rotate-root', '--new'], given), {
      code: 1,
      stderr: /SLUICE_ROOT_KEY: add a new key as the first value/,
    })
    const text = readFileSync(file, 'utf8')
    await store.sql`UPDATE vault_keys SET root_key_id = '0123456789abcdef' WHERE purpose = 'sealing'`
    t.match(await run(['rotate-root', '--new']), {
      code: 1,
      stdout: /the root key that encrypts this key is missing \(0123456789abcdef\)/,
    })
    t.match(await run(['status']), { code: 1, stdout: /0123456789abcdef {2}missing {2}1 / })
    t.equal(await release('a'), 'secret_not_released')
    t.match(readFileSync(file, 'utf8'), text)
    t.match(await run(['rotate-root', '--new'], { SLUICE_DATA: `${file}-nowhere` }), {
      code: 1,
      stderr: /no root key in/,
    })
  },
)

t.test(
  'rotate-data reseals everything, a workspace or a vault, and continues an interrupted run',
  async (t) => {
    const { store, run, json, release } = await stand(t)
    t.match(await json('rotate-data'), {
      vaults: 1,
      new_keys: 1,
      resealed: 2,
      removed_keys: 1,
      broken: [],
      legacy: 0,
      unfinished: false,
    })
    t.match(await json('rotate-data', '--workspace', 'default'), { new_keys: 1, resealed: 2 })
    t.match(await json('rotate-data', '--workspace', 'other'), { vaults: 0 })
    const [vault] = await store.sql<{ vault_id: string }[]>`SELECT DISTINCT vault_id FROM secrets`
    t.match(await json('rotate-data', '--vault', vault?.vault_id ?? ''), { new_keys: 1, resealed: 2 })
    t.match(await run(['rotate-data', '--vault', newId()]), { code: 1, stderr: /no such vault/ })
    t.match(await run(['rotate-data', '--vault', 'x']), { code: 1, stderr: /no such vault/ })
    t.match(await run(['rotate-data', '--made-before', 'yesterday']), { code: 1, stderr: /needs a time/ })
    const { stderr } = await run(['rotate-data', '--json'])
    const { made_before: time } = JSON.parse(stderr.split('\n')[0] ?? '') as { made_before: string }
    t.match(await json('rotate-data', '--made-before', time), { vaults: 1, new_keys: 0, resealed: 0 })
    t.equal(await release('a'), 'value of a')
    t.match(await run(['status']), {
      code: 0,
      stdout: /2 secrets in 1 vaults; encrypted with old sealing keys: 0,/,
    })
  },
)

t.test('rotate-data names secrets that it cannot decrypt and exits with 1; status counts them', async (t) => {
  const { store, run } = await stand(t)
  await store.sql`UPDATE secrets SET hosts = '{evil.example}' WHERE name = 'a'`
  t.match(await run(['rotate-data']), {
    code: 1,
    stdout:
      /secret .*\/a cannot be decrypted[\s\S]*1 secrets re-encrypted, 0 old keys removed; unchanged: 1,/,
  })
  t.match(await run(['status']), { code: 1, stdout: /encrypted with old sealing keys: 1,/ })
})
