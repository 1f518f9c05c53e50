import t from 'tap'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { fail, ok, type Outcome } from '../../../src/schemas/failures.ts'
import type { AuditEvent } from '../../../src/server/ports/audit/audit.ts'
import type { VaultScope } from '../../../src/server/ports/vault/vault.ts'
import { openAuditTrail } from '../../../src/server/store/audit/audit-trail.ts'
import { openReleases } from '../../../src/server/vault/releases.ts'
import { VaultKeys } from '../../../src/server/vault/vault-keys.ts'
import { openRootKeys } from '../../../src/server/vault/root-keys.ts'
import { keptLog, SILENT } from '../../support/log.ts'
import { must } from '../../support/must.ts'
import { NEAR_MISSES } from '../../support/egress/near-hosts.ts'
import { releasing } from '../../support/vault/tampering.ts'
import { BY, HOST, openVaultStand, type VaultStand } from '../../support/vault/vault-front.ts'

const put = (
  { vaults }: VaultStand,
  scope: VaultScope,
  name: string,
  value: string,
  hosts: readonly string[] = [HOST],
) => vaults.put(scope, { name, hosts, value: new Secret(value) }, BY).then(must)

const refusal = (outcome: unknown, name: string) => ({
  outcome,
  same: { ok: false, failure: { name: 'secret_not_released', fields: { name } } },
})

t.test('a value comes back as it was stored, whatever its characters', async (t) => {
  const stand = await openVaultStand(t)
  const { release } = releasing(stand)
  for (const value of ['v', 'grüße 𝄞 \u0000\r\n', 'x'.repeat(65_536), '\ufeffmarked']) {
    await put(stand, stand.workspace, 'a', value)
    t.equal(must(await release(stand.workspace, 'a', HOST)).reveal(), value)
  }
})

t.test('a secret is released only to exactly its host, and to no similar name', async (t) => {
  const stand = await openVaultStand(t)
  const { release, events } = releasing(stand)
  await put(stand, stand.workspace, 'a', 'v')
  const released: string[] = []
  for (const host of NEAR_MISSES) if ((await release(stand.workspace, 'a', host)).ok) released.push(host)
  t.same(released, [], `${NEAR_MISSES.length} near misses`)
  t.same(
    events.filter(({ outcome }) => outcome !== 'refused'),
    [],
  )
  t.equal(events.length, NEAR_MISSES.length)
  t.equal((await release(stand.workspace, 'a', HOST)).ok, true)
})

t.test('every host of a secret gets it, and no other', async (t) => {
  const stand = await openVaultStand(t)
  const { release } = releasing(stand)
  const hosts = Array.from({ length: 100 }, (_, nth) => `h${nth}.example`)
  await put(stand, stand.workspace, 'a', 'v', hosts)
  for (const host of hosts) t.ok((await release(stand.workspace, 'a', host)).ok)
  t.notOk((await release(stand.workspace, 'a', 'h100.example')).ok)
})

t.test('an unknown name, another host, a legacy and an undecryptable row get the same answer', async (t) => {
  const stand = await openVaultStand(t)
  const { release, events } = releasing(stand)
  for (const name of ['legacy', 'broken', 'other']) await put(stand, stand.workspace, name, 'v')
  await stand.store.sql`UPDATE secrets SET hosts = NULL, fingerprint = NULL WHERE name = 'legacy'`
  await stand.store.sql`UPDATE secrets SET version = version + 1000 WHERE name = 'broken'`
  for (const [name, host] of [
    ['unknown', HOST],
    ['other', 'a.example'],
    ['legacy', HOST],
    ['broken', HOST],
  ] as const) {
    const { outcome, same } = refusal(await release(stand.workspace, name, host), name)
    t.same(outcome, same)
  }
  t.same(
    events.map(({ after }) => (after as { reason: string }).reason),
    ['no_such_secret', 'other_host', 'legacy', 'does_not_open'],
  )
})

t.test('a text that is not a valid name is refused and not logged', async (t) => {
  const stand = await openVaultStand(t)
  const { release, events } = releasing(stand)
  t.notOk((await release(stand.workspace, 'sk-A secret by mistake', HOST)).ok)
  t.notMatch(JSON.stringify(events), 'mistake')
})

t.test(
  'an intern gets its own secret first, then one of its attached vault, then one of the workspace',
  async (t) => {
    const stand = await openVaultStand(t)
    const { release } = releasing(stand)
    const { workspace, intern, otherIntern, store } = stand
    const vaultId = await stand.addVault('shared')
    // An attachable vault takes its secrets from an intern that it was the own one of.
    const keeper = await stand.addIntern(workspace)
    await store.sql`UPDATE vaults SET kind = 'intern', name = NULL WHERE id = ${vaultId}`
    await store.sql`UPDATE interns SET vault_id = ${vaultId} WHERE id = ${keeper.internId}`
    await put(stand, keeper, 'a', 'attached')
    await store.sql`DELETE FROM interns WHERE id = ${keeper.internId}`
    await store.sql`UPDATE vaults SET kind = 'attachable', name = 'shared' WHERE id = ${vaultId}`
    await put(stand, workspace, 'a', 'workspace')
    const seen = async (scope: VaultScope) => must(await release(scope, 'a', HOST)).reveal()
    t.equal(await seen(intern), 'workspace')
    await stand.attach(intern, vaultId)
    t.equal(await seen(intern), 'attached')
    await put(stand, intern, 'a', 'intern')
    t.equal(await seen(intern), 'intern')
    t.equal(await seen(otherIntern), 'workspace')
    t.equal(await seen(workspace), 'workspace')
  },
)

t.test('only the effective secret counts: a hidden secret does not add hosts to it', async (t) => {
  const stand = await openVaultStand(t)
  const { release } = releasing(stand)
  await put(stand, stand.workspace, 'a', 'v', [HOST])
  await put(stand, stand.intern, 'a', 'v', ['other.example'])
  t.notOk((await release(stand.intern, 'a', HOST)).ok)
})

t.test('an intern with a deleted vault gets no secret, and neither does a deleted intern', async (t) => {
  const stand = await openVaultStand(t)
  const { release } = releasing(stand)
  await put(stand, stand.intern, 'a', 'v')
  await stand.attach(stand.intern, '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b')
  t.notOk((await release(stand.intern, 'a', HOST)).ok)
  await stand.store.sql`UPDATE interns SET attached_vault_id = NULL WHERE id = ${stand.intern.internId}`
  t.ok((await release(stand.intern, 'a', HOST)).ok)
  await stand.store.sql`DELETE FROM interns WHERE id = ${stand.intern.internId}`
  t.notOk((await release(stand.intern, 'a', HOST)).ok)
})

t.test('a deleted secret, and the hosts of a replaced one, are refused at once', async (t) => {
  const stand = await openVaultStand(t)
  const { release } = releasing(stand)
  await put(stand, stand.workspace, 'a', 'v')
  t.ok((await release(stand.workspace, 'a', HOST)).ok)
  await put(stand, stand.workspace, 'a', 'v', ['other.example'])
  t.notOk((await release(stand.workspace, 'a', HOST)).ok)
  must(await stand.vaults.remove(stand.workspace, 'a', BY))
  t.notOk((await release(stand.workspace, 'a', 'other.example')).ok)
})

t.test('a secret is not released when the audit log cannot record it', async (t) => {
  const stand = await openVaultStand(t)
  await put(stand, stand.workspace, 'a', 'v')
  const { rows, keys, jobs, workspace: scope } = stand
  const releases = openReleases({ rows, keys, jobs, audit: { note: () => false }, log: SILENT })
  for (const host of [HOST, 'other.example']) {
    t.match(await releases.release({ scope, name: 'a', host, operation: 'test', by: BY }), {
      ok: false,
      failure: { name: 'busy' },
    })
  }
})

t.test('a release and a refusal are in the audit log, without the value', async (t) => {
  const stand = await openVaultStand(t)
  await put(stand, stand.workspace, 'a', 'a value of mine')
  const { rows, keys, jobs, workspace: scope, store } = stand
  const audit = openAuditTrail(store, SILENT)
  const releases = openReleases({ rows, keys, jobs, audit, log: SILENT })
  for (const host of [HOST, 'other.example'])
    await releases.release({ scope, name: 'a', host, operation: 'egress.forward', by: BY })
  await audit.close()
  const texts = await store.sql<
    { outcome: string; text: string }[]
  >`SELECT outcome, text FROM audit WHERE operation = 'egress.forward' ORDER BY n`
  t.same(
    texts.map(({ outcome }) => outcome),
    ['released', 'refused'],
  )
  t.match(JSON.parse(texts[0]?.text ?? ''), {
    object_kind: 'secret',
    request_id: BY.requestId,
    after: { name: 'a', host: HOST, source: 'workspace' },
  })
  t.notMatch(texts.map(({ text }) => text).join(), 'value of mine')
})

t.test('a row whose root key is missing is refused, and that is logged', async (t) => {
  const stand = await openVaultStand(t)
  await put(stand, stand.workspace, 'a', 'v')
  const { rows, jobs, workspace: scope } = stand
  const strange = openRootKeys({ setting: new Secret('ab'.repeat(32)), file: null, dataDir: '/nowhere' })
  const log = keptLog()
  const releases = openReleases({
    rows,
    jobs,
    keys: new VaultKeys({ rootKeys: strange, rows }),
    audit: { note: () => true },
    log,
  })
  t.match(await releases.release({ scope, name: 'a', host: HOST, operation: 'test', by: BY }), {
    failure: { name: 'secret_not_released' },
  })
  t.match(log.events, [{ event: 'vault.secret_does_not_open', fields: { name: 'a' } }])
})

t.test('a full pool of short jobs answers busy, and nothing is released', async (t) => {
  const stand = await openVaultStand(t)
  await put(stand, stand.workspace, 'a', 'v')
  const { rows, keys, workspace: scope } = stand
  const releases = openReleases({
    rows,
    keys,
    jobs: { run: () => Promise.resolve(fail('busy')) },
    audit: { note: () => true },
    log: SILENT,
  })
  t.match(await releases.release({ scope, name: 'a', host: HOST, operation: 'test', by: BY }), {
    failure: { name: 'busy' },
  })
})

t.test('several secrets are released together or not at all, and a refusal decrypts none', async (t) => {
  const stand = await openVaultStand(t)
  let opened = 0
  const jobs: Pick<typeof stand.jobs, 'run'> = {
    run: (task, ...more) => {
      opened += Number(task === 'open_secret')
      return stand.jobs.run(task, ...more)
    },
  }
  const events: AuditEvent[] = []
  const releases = openReleases({
    rows: stand.rows,
    keys: stand.keys,
    jobs,
    audit: { note: (event) => events.push(event) > 0 },
    log: SILENT,
  })
  await put(stand, stand.workspace, 'a', 'grüße')
  await put(stand, stand.workspace, 'b', 'x'.repeat(65_536))
  await put(stand, stand.workspace, 'c', 'v', ['other.example'])
  const asked: unknown[] = []
  const all = (names: readonly string[], fit: Outcome<null> = ok(null)) =>
    releases.releaseAll({
      scope: stand.workspace,
      names,
      host: HOST,
      operation: 'test',
      by: BY,
      fits: (bytes) => {
        asked.push(Object.fromEntries(bytes))
        return fit
      },
    })
  t.match(await all(['a', 'b', 'c']), { failure: { name: 'secret_not_released', fields: { name: 'c' } } })
  t.match(await all(['a', 'b'], fail('header_invalid')), { failure: { name: 'header_invalid' } })
  t.same([opened, asked], [0, [{ a: Buffer.byteLength('grüße'), b: 65_536 }]])
  t.same(
    events.map(({ outcome }) => outcome),
    ['refused'],
  )
  const released = must(await all(['b', 'a', 'b']))
  t.same(
    [[...released].map(([name, value]) => [name, value.reveal().length]), opened],
    [
      [
        ['b', 65_536],
        ['a', 5],
      ],
      2,
    ],
  )
})
