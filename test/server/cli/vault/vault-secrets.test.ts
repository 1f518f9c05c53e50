import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import {
  SECRET_HOSTS_MAX,
  SECRET_VALUE_CHARS_MAX,
  SECRETS_PAGE_MAX,
} from '../../../../src/schemas/vault/vault-limits.ts'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import { openReleases } from '../../../../src/server/vault/releases.ts'
import { openRootKeys } from '../../../../src/server/vault/root-keys.ts'
import { VaultKeys } from '../../../../src/server/vault/vault-keys.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { SILENT } from '../../../support/log.ts'
import { openFolder } from '../../../support/files/storage.ts'
import { openVaultStand } from '../../../support/vault/vault-front.ts'
import { runVerb } from '../../../support/operator/verbs.ts'

t.setTimeout(600_000)

const VALUE = 'canary-value-1f6c'

async function stand(t: Test) {
  const vault = await openVaultStand(t)
  const rootKey = randomBytes(32).toString('hex')
  const dataDir = await openFolder(t)
  const settings = { DATABASE_URL: vault.store.options.url, SLUICE_DATA: dataDir, SLUICE_ROOT_KEY: rootKey }
  const id = await vault.addVault('team')
  const run = async (args: readonly string[], input = VALUE) => {
    const [verb = '', ...others] = args
    const { code, stdout, stderr } = await runVerb(settings, ['vault', verb, '--vault', id, ...others], input)
    return { status: code, text: stdout + stderr }
  }
  const rootKeys = openRootKeys({ setting: new Secret(rootKey), file: null, dataDir })
  const { rows, jobs } = vault
  const keys = new VaultKeys({ rootKeys, rows })
  const releases = openReleases({ rows, keys, jobs, log: SILENT, audit: { note: () => true } })
  const release = async (name: string, host: string) => {
    const released = await releases.release({ scope: vault.intern, name, host, operation: 'test', by: CLI })
    return released.ok ? released.value.reveal() : released.failure.name
  }
  return { ...vault, id, run, release }
}

t.test(
  'vault put stores a secret that is released to an intern with the vault attached, for its host only',
  async (t) => {
    const { id, run, release, attach, intern, store } = await stand(t)
    const { status, text } = await run(
      ['put', 'token', '--host', 'API.Example.com.', '--host', 'b.example', '--json'],
      `${VALUE}\n`,
    )
    t.equal(status, 0, text)
    t.match(JSON.parse(text), {
      name: 'token',
      hosts: ['api.example.com', 'b.example'],
      fingerprint: /^sha256:/,
    })
    t.notMatch(text, VALUE)
    t.equal(await release('token', 'api.example.com'), 'secret_not_released')
    await attach(intern, id)
    t.equal(await release('token', 'api.example.com'), VALUE)
    t.equal(await release('token', 'example.com'), 'secret_not_released')
    const events = await auditOf(store)
    t.match(events, [
      {
        operation: 'cli.vault-put',
        actor: { kind: 'cli' },
        object_kind: 'secret',
        object_id: 'token',
        before: null,
        after: { vault_id: id },
      },
    ])
    t.notMatch(JSON.stringify(events), VALUE)
  },
)

t.test('vault secrets lists them all, without values, and vault rm removes one', async (t) => {
  const { id, run, store } = await stand(t)
  await run(['put', 'token', '--host', 'a.example'])
  const [key] = await store.sql<
    { id: string }[]
  >`SELECT id FROM vault_keys WHERE vault_id = ${id} AND purpose = 'sealing'`
  await store.sql`
    INSERT INTO secrets (vault_id, name, version, key_id, sealed)
    SELECT ${id}, 'n' || n, nextval('secret_versions'), ${key?.id ?? ''}, '\\x00' FROM generate_series(1, ${SECRETS_PAGE_MAX}) n`
  const listed = await run(['secrets', '--json'])
  t.equal((JSON.parse(listed.text) as { data: unknown[] }).data.length, SECRETS_PAGE_MAX + 1)
  t.notMatch(listed.text, VALUE)
  t.match(await run(['rm', 'token']), { status: 0, text: 'token: removed\n' })
  t.match(await run(['rm', 'token']), { status: 1, text: /no such secret/ })
  t.match((await auditOf(store)).at(-1), {
    operation: 'cli.vault-rm',
    object_id: 'token',
    before: { vault_id: id },
    after: null,
  })
})

t.test('vault put refuses invalid names, hosts and values, and shows no value', async (t) => {
  const { run } = await stand(t)
  const wrong: readonly [readonly string[], string, RegExp][] = [
    [['Token', '--host', 'a.example'], VALUE, /lower-case letters/],
    [['token'], VALUE, /--host/],
    [
      ['token', '--host', '*.example'],
      VALUE,
      /^error: --host has a wildcard; expected an exact DNS hostname/,
    ],
    [['token', '--host', 'a.example'], '', /standard input/],
    [['token', '--host', 'a.example'], `${VALUE}${'x'.repeat(SECRET_VALUE_CHARS_MAX)}`, /standard input/],
    [
      [
        'token',
        ...Array.from({ length: SECRET_HOSTS_MAX + 1 }, (_, n) => ['--host', `h${n}.example`]).flat(),
      ],
      VALUE,
      /at most/,
    ],
  ]
  for (const [args, input, text] of wrong) {
    const ran = await run(['put', ...args], input)
    t.match(ran, { status: 2, text }, args.slice(0, 3).join(' '))
    t.notMatch(ran.text, VALUE)
  }
})

t.test('the verbs for attachable vaults do not find other vaults', async (t) => {
  const { run, store, intern, workspace } = await stand(t)
  const [own] = await store.sql<
    { vault_id: string }[]
  >`SELECT vault_id FROM interns WHERE id = ${intern.internId}`
  for (const id of [own?.vault_id ?? '', workspace.workspaceId, 'taem']) {
    t.match(
      await run(['put', 'token', '--vault', id, '--host', 'a.example']),
      { status: 1, text: /no such vault/ },
      id,
    )
  }
})
