import t from 'tap'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import { must } from '../../../support/must.ts'
import { BY, HOST, openVaultFront } from '../../../support/vault/vault-front.ts'

t.test(
  "for one name the intern's secret overrides the attached vault's, and that the workspace's, each with its source",
  async (t) => {
    const { call, intern, store, vaults, workspace, addIntern, addVault, attach } = await openVaultFront(t)
    const put = async (scope: typeof workspace, name: string) =>
      must(await vaults.put(scope, { name, hosts: [HOST], value: new Secret('v') }, BY))
    const vaultId = await addVault('shared')
    const keeper = await addIntern(workspace)
    for (const name of ['a', 'b', 'd']) await put(keeper, name)
    // The secrets of an attachable vault: those that the keeper had.
    await store.sql`UPDATE secrets SET vault_id = ${vaultId}`
    for (const name of ['a', 'b', 'c', 'e']) await put(workspace, name)
    for (const name of ['a', 'z']) await put(intern, name)
    await attach(intern, vaultId)
    const path = `/interns/${intern.internId}/effective-secrets`
    const { json } = await call('GET', path)
    t.same(
      json.data.map(({ name, scope }) => `${name} ${scope}`),
      ['a intern', 'b attached', 'c workspace', 'd attached', 'e workspace', 'z intern'],
    )
    const page = await call('GET', `${path}?limit=2&offset=1`)
    t.same([page.json.data.map(({ name }) => name), page.json.has_more], [['b', 'c'], true])
  },
)

t.test('vault.list_effective_secrets 404: the attached vault does not exist', async (t) => {
  const { call, intern, attach } = await openVaultFront(t)
  const path = `/interns/${intern.internId}/effective-secrets`
  t.equal((await call('GET', path)).status, 200)
  await attach(intern, '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b')
  t.match(await call('GET', path), {
    status: 404,
    json: { error: { metadata: { error_type: 'vault_unknown' } } },
  })
  t.equal((await call('GET', `/interns/${intern.internId}/secrets`)).status, 200, 'its own are still told')
})

t.test('a vault of another workspace does not count as attached', async (t) => {
  const { call, intern, store, otherWorkspace, addVault, attach } = await openVaultFront(t)
  const vaultId = await addVault('elsewhere')
  await store.sql`UPDATE vaults SET workspace_id = ${otherWorkspace.workspaceId} WHERE id = ${vaultId}`
  await attach(intern, vaultId)
  t.equal((await call('GET', `/interns/${intern.internId}/effective-secrets`)).status, 404)
})
