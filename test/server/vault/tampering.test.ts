import t from 'tap'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import type { VaultScope } from '../../../src/server/ports/vault/vault.ts'
import { must } from '../../support/must.ts'
import { bytewise, rawOf, releasing, restore, rewrite } from '../../support/vault/tampering.ts'
import { BY, HOST, openVaultStand, type VaultStand } from '../../support/vault/vault-front.ts'

const HOSTS = [HOST, 'b.example', 'zz.example']

async function stored(
  stand: VaultStand,
  scope: VaultScope,
  name: string,
  value = 'the value',
): Promise<Awaited<ReturnType<typeof rawOf>>> {
  must(await stand.vaults.put(scope, { name, hosts: HOSTS, value: new Secret(value) }, BY))
  return rawOf(stand, must(await stand.rows.forWriting(scope, 1)).vaultId, name)
}

t.test(
  'a secret with any changed byte in name, hosts, version or sealed value is not released, and each try is audited',
  async (t) => {
    const stand = await openVaultStand(t)
    const { release, events } = releasing(stand)
    const row = await stored(stand, stand.workspace, 'github_token')
    const edits = bytewise(row, (at) => at % 8)
    const released: string[] = []
    for (const { what, edit, name, host } of edits) {
      await rewrite(stand, row, edit)
      if ((await release(stand.workspace, name, host)).ok) released.push(what)
      await restore(stand, row, edit)
    }
    t.same(released, [], `${edits.length} edits`)
    t.equal(events.filter(({ outcome }) => outcome === 'refused').length, edits.length)
    t.equal(
      must(await release(stand.workspace, 'github_token', HOST)).reveal(),
      'the value',
      'the row put right again is released',
    )
  },
)

t.test(
  'sealed values that changed places between names, vaults, workspaces and versions are never released',
  async (t) => {
    const stand = await openVaultStand(t)
    const { release, events } = releasing(stand)
    const { workspace, otherWorkspace, intern, otherIntern } = stand
    const old = await stored(stand, workspace, 'a', 'old')
    const row = await stored(stand, workspace, 'a', 'new')
    const others = [
      await stored(stand, workspace, 'b'),
      await stored(stand, intern, 'a'),
      await stored(stand, otherIntern, 'a'),
      await stored(stand, otherWorkspace, 'a'),
      old,
    ]
    const released: string[] = []
    for (const other of others) {
      for (const edit of [
        { sealed: other.sealed },
        { sealed: other.sealed, key_id: other.key_id },
        { sealed: other.sealed, key_id: other.key_id, version: other.version },
      ]) {
        // An older row that is put back whole was sealed so: it cannot be distinguished from the original.
        if (other === old && 'version' in edit) continue
        await rewrite(stand, row, edit)
        if ((await release(workspace, 'a', HOST)).ok)
          released.push(JSON.stringify([other.vault_id, other.name, Object.keys(edit)]))
        await restore(stand, row, edit)
      }
    }
    t.same(released, [])
    t.equal(events.length, 3 * others.length - 1)
    t.equal(must(await release(workspace, 'a', HOST)).reveal(), 'new')
  },
)

t.test('a row moved to another vault or workspace is never released there', async (t) => {
  const stand = await openVaultStand(t)
  const { release } = releasing(stand)
  const { workspace, otherWorkspace, intern } = stand
  const row = await stored(stand, workspace, 'a')
  for (const scope of [intern, otherWorkspace]) {
    const target = await stored(stand, scope, 'c')
    for (const edit of [
      { vault_id: target.vault_id },
      { vault_id: target.vault_id, key_id: target.key_id },
    ]) {
      await rewrite(stand, row, edit)
      t.notOk((await release(scope, 'a', HOST)).ok)
      await restore(stand, row, edit)
    }
  }
  const { vault_id: vaultId } = row
  await stand.store.sql`DELETE FROM vaults WHERE workspace_id = ${otherWorkspace.workspaceId}`
  await stand.store.sql`UPDATE vaults SET workspace_id = ${otherWorkspace.workspaceId} WHERE id = ${vaultId}`
  t.notOk((await release(otherWorkspace, 'a', HOST)).ok, 'the whole vault, with its keys')
})

t.test('a secret whose keys were edited is never released, even from a cache', async (t) => {
  const stand = await openVaultStand(t)
  const { release } = releasing(stand)
  await stored(stand, stand.workspace, 'a')
  t.ok((await release(stand.workspace, 'a', HOST)).ok)
  const edits = [
    'wrapped = set_byte(wrapped, 20, get_byte(wrapped, 20) # 1)',
    "root_key_id = 'another'",
    "purpose = 'fingerprint', is_current = false",
  ]
  for (const edit of edits) {
    const before = await stand.store.sql`SELECT * FROM vault_keys WHERE purpose = 'sealing'`
    await stand.store.sql.unsafe(`UPDATE vault_keys SET ${edit} WHERE purpose = 'sealing'`)
    t.notOk((await release(stand.workspace, 'a', HOST)).ok, edit)
    const [row] = before
    await stand.store.sql`
      UPDATE vault_keys SET wrapped = ${row?.['wrapped'] as Buffer}, root_key_id = ${row?.['root_key_id'] as string}, purpose = 'sealing', is_current = true
      WHERE id = ${row?.['id'] as string}`
    t.ok((await release(stand.workspace, 'a', HOST)).ok)
  }
})
