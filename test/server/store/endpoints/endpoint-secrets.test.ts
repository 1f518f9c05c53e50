import t from 'tap'
import { ok } from '../../../../src/schemas/failures.ts'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import type { Invalidation } from '../../../../src/server/ports/keys/keys.ts'
import { changingSecrets } from '../../../../src/server/store/endpoints/endpoint-secrets.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { openPrivateEndpoints } from '../../../../src/server/store/endpoints/private-endpoints.ts'
import { openSecretRows } from '../../../../src/server/store/vault/secrets.ts'
import { openVaults } from '../../../../src/server/vault/vaults.ts'
import { threads } from '../../../support/front.ts'
import { gate } from '../../../support/gate.ts'
import { must } from '../../../support/must.ts'
import { BY, HOST, openVaultStand, type VaultStand } from '../../../support/vault/vault-front.ts'
import { lockWaiters } from '../../../support/stores/lock-waiters.ts'

async function opened(t: Parameters<typeof openVaultStand>[0]) {
  const stand = await openVaultStand(t)
  const reported: Invalidation[] = []
  const publish = (change: Invalidation): Promise<void> => Promise.resolve(void reported.push(change))
  const vaults = openVaults({ rows: openSecretRows(stand.store, publish), keys: stand.keys, jobs: threads() })
  const put = async (name: string, scope = stand.workspace): Promise<void> =>
    void must(await vaults.put(scope, { name, hosts: [HOST], value: new Secret('v') }, BY))
  return { ...stand, vaults, reported, put }
}

function endpoint({ store, workspace }: VaultStand, secretName: string, status = 'active') {
  return store.sql`
    INSERT INTO private_endpoints (id, organization_id, workspace_id, status, model_permaslug, provider_slug, upstream_model_id, base_url, secret_name)
    VALUES (${newId()}, ${workspace.organizationId}, ${workspace.workspaceId}, ${status}, 'a/b', 'custom', 'm', 'https://a.example', ${secretName})`
}

t.test('fronts get every change of a secret that an active endpoint uses', async (t) => {
  const stand = await opened(t)
  await endpoint(stand, 'used')
  await stand.put('used')
  await stand.put('used')
  must(await stand.vaults.remove(stand.workspace, 'used', BY))
  t.match(
    stand.reported,
    [1, 2, 3].map(() => ({ kind: 'vault', id: stand.workspace.workspaceId })),
  )
  const rows = await stand.store.sql`SELECT 1 FROM invalidations WHERE kind = 'vault'`
  t.equal(rows.length, 3, 'also those who hear no hint')
})

t.test('fronts get every change of a workspace key for a provider, and none of other vaults', async (t) => {
  const stand = await opened(t)
  await stand.put('openai_api_key')
  must(await stand.vaults.remove(stand.workspace, 'openai_api_key', BY))
  await stand.put('openai_api_key', stand.intern)
  await stand.put('openai_api_key', { ...stand.workspace, attachableId: await stand.addVault('team') })
  t.match(
    stand.reported,
    [1, 2].map(() => ({ kind: 'vault', id: stand.workspace.workspaceId })),
  )
})

t.test('changes of secrets that no active endpoint uses are not sent to fronts', async (t) => {
  const stand = await opened(t)
  await endpoint(stand, 'draft', 'draft')
  await endpoint(stand, 'disabled', 'disabled')
  for (const name of ['draft', 'disabled', 'other']) await stand.put(name)
  t.match(await stand.vaults.remove(stand.workspace, 'missing', BY), { ok: false })
  t.same(stand.reported, [])
})

t.test('a change that failed is not sent to fronts', async (t) => {
  const stand = await opened(t)
  await endpoint(stand, 'used')
  t.match(await stand.vaults.remove(stand.workspace, 'used', BY), {
    ok: false,
    failure: { name: 'secret_unknown' },
  })
  t.same(stand.reported, [])
})

t.test('an endpoint becomes active before or after a change of its secret, never during it', async (t) => {
  const stand = await opened(t)
  const { store, workspace: scope } = stand
  await endpoint(stand, 'used', 'disabled')
  const [row] = await store.sql<{ id: string }[]>`SELECT id FROM private_endpoints`
  const ref = { organizationId: scope.organizationId, id: row?.id ?? '' }
  const endpoints = openPrivateEndpoints({ store, hints: { publish: () => Promise.resolve() } })
  const [began, go] = [gate(), gate()]
  const changing = changingSecrets({ store, publish: null }, { scope, names: ['used'] }, async () => {
    began.open()
    await go.opened
    return ok(null)
  })
  await began.opened
  let isEnabled = false
  const enabling = endpoints.enable(ref, { ...BY, operation: 'private_endpoints.enable' }).then((outcome) => {
    isEnabled = true
    return outcome
  })
  while (!isEnabled && (await lockWaiters(store.sql)) === 0) continue
  t.equal(isEnabled, false)
  go.open()
  must(await changing)
  t.equal(must(await enabling).status, 'active')
})
