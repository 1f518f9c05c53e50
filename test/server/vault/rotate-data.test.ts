import t from 'tap'
import { openDataRotation } from '../../../src/server/store/vault/data-rotation.ts'
import { VaultKeys } from '../../../src/server/vault/vault-keys.ts'
import { openVaults } from '../../../src/server/vault/vaults.ts'
import { auditOf } from '../../support/audit/audit.ts'
import { must } from '../../support/must.ts'
import { turnData, turnRoot, withNewRoot } from '../../support/vault/rotation.ts'
import { openVaultStand, type VaultStand } from '../../support/vault/vault-front.ts'
import { filledStand, leftBehind, putSecret, released } from '../../support/vault/filled-vaults.ts'

const KILLED = new Error('killed')

const columns = ({ store }: VaultStand) => store.sql`
  SELECT vault_id, name, array_to_json(hosts) AS hosts, fingerprint, version, created_at, updated_at FROM secrets ORDER BY vault_id, name`

async function sealedColumns({ store }: VaultStand): Promise<readonly (readonly string[])[]> {
  const rows = await store.sql<{ sealed: Buffer; key_id: string }[]>`SELECT sealed, key_id FROM secrets`
  return rows.map((row) => [row.sealed.toString('hex'), row.key_id])
}

t.test(
  'after a rotation of sealing keys every secret opens, with its fingerprint, version and times, and no old key is left',
  async (t) => {
    const stand = await filledStand(t)
    const { store, rootKeys } = stand
    const [values, before] = [await released(stand, rootKeys), await columns(stand)]
    const sealed = await sealedColumns(stand)
    t.match(await turnData(store, rootKeys), {
      vaults: 4,
      newKeys: 4,
      resealed: 8,
      removedKeys: 4,
      broken: [],
      isUnfinished: false,
    })
    t.same([...(await columns(stand))], [...before])
    t.same(await released(stand, rootKeys), values)
    t.equal(await leftBehind(stand), 0)
    const after = new Set((await sealedColumns(stand)).flat())
    t.notOk(sealed.flat().some((text) => after.has(text)))
    t.match(
      (await auditOf(store)).filter(
        (event) => (event as { operation: string }).operation === 'cli.vault-rotate-data',
      ).length,
      8,
    )
  },
)

t.test(
  'the fingerprint of a value survives rotations of both kinds, and differs between vaults',
  async (t) => {
    const stand = await openVaultStand(t)
    const { store, rows, jobs, workspace, intern } = stand
    const first = await putSecret(stand, workspace, 'a', 'the value')
    t.equal((await putSecret(stand, workspace, 'a', 'the value')).fingerprint, first.fingerprint)
    const { both, alone } = withNewRoot(stand.rootKeys)
    await turnRoot(store, both)
    await turnData(store, both)
    const vaults = openVaults({ rows, jobs, keys: new VaultKeys({ rootKeys: alone, rows }) })
    t.equal((await putSecret({ vaults }, workspace, 'a', 'the value')).fingerprint, first.fingerprint)
    t.equal((await putSecret({ vaults }, workspace, 'b', 'the value')).fingerprint, first.fingerprint)
    t.not((await putSecret({ vaults }, intern, 'a', 'the value')).fingerprint, first.fingerprint)
  },
)

t.test(
  'a killed rotation of sealing keys leaves every secret readable, and the next one continues',
  async (t) => {
    const stand = await filledStand(t)
    const { store, rootKeys } = stand
    const values = await released(stand, rootKeys)
    const rows = openDataRotation(store)
    const madeBefore = must(await rows.now())
    const small = {
      vaults: (scope: Parameters<typeof rows.vaults>[0], page: Parameters<typeof rows.vaults>[1]) =>
        rows.vaults(scope, { ...page, limit: 2 }),
      onOldKeys: (ids: readonly string[], page: Parameters<typeof rows.onOldKeys>[1]) =>
        rows.onOldKeys(ids, { ...page, limit: 1 }),
      madeBefore,
    }
    let newKeys = 0
    for (let killedAt = 1; killedAt < 16; killedAt++) {
      let nth = 0
      const dying =
        <A extends readonly unknown[], R>(run: (...args: A) => Promise<R>) =>
        (...args: A) =>
          ++nth === killedAt ? Promise.reject(KILLED) : run(...args)
      const { replace, reseal, removeOld } = rows
      const run = turnData(store, rootKeys, {
        ...small,
        replace: dying(replace),
        reseal: dying(reseal),
        removeOld: dying(removeOld),
      })
      newKeys += await run.then(
        (done) => done.newKeys,
        () => 0,
      )
      t.same(await released(stand, rootKeys), values, `killed at ${killedAt}`)
    }
    t.equal(newKeys, 0, 'the runs that were killed had made all of the keys')
    t.match(await turnData(store, rootKeys, small), { newKeys: 0, resealed: 0, isUnfinished: false })
    t.equal(await leftBehind(stand), 0)
  },
)

t.test('two rotations of sealing keys at once leave every secret readable and no old key', async (t) => {
  const stand = await filledStand(t)
  const values = await released(stand, stand.rootKeys)
  await Promise.all([1, 2, 3].map(() => turnData(stand.store, stand.rootKeys)))
  t.same(await released(stand, stand.rootKeys), values)
  t.equal(await leftBehind(stand), 0)
})

t.test('a write during a batch is kept: the batch does not restore the old value', async (t) => {
  const stand = await filledStand(t)
  const { store, rootKeys, workspace } = stand
  const rows = openDataRotation(store)
  const [vault] = await store.sql<
    { id: string }[]
  >`SELECT id FROM vaults WHERE workspace_id = ${workspace.workspaceId} AND kind = 'workspace'`
  let isWritten = false
  await turnData(store, rootKeys, {
    async reseal(secrets) {
      if (secrets.some(({ from }) => from.vaultId === vault?.id && from.name === 'a')) {
        t.notOk(isWritten, 'what was written meanwhile has the new key already')
        isWritten = true
        await putSecret(stand, workspace, 'a', 'written meanwhile')
      }
      return rows.reseal(secrets)
    },
  })
  t.ok(isWritten)
  t.equal((await released(stand, rootKeys))[`${workspace.workspaceId}/a`], 'written meanwhile')
  t.equal(await leftBehind(stand), 0)
})

t.test('a rotation of sealing keys during one of the root key loses nothing', async (t) => {
  const stand = await filledStand(t)
  const values = await released(stand, stand.rootKeys)
  const { both, alone } = withNewRoot(stand.rootKeys)
  await Promise.all([
    turnData(stand.store, stand.rootKeys),
    turnRoot(stand.store, both),
    turnData(stand.store, both),
  ])
  await turnRoot(stand.store, both)
  t.same(await released(stand, alone), values)
  t.equal(await leftBehind(stand), 0)
})

t.test('reports an unreadable secret and leaves it, keeps legacy rows, and reseals the others', async (t) => {
  const stand = await filledStand(t)
  const { store, rootKeys, workspace } = stand
  const vault = store.sql`SELECT id FROM vaults WHERE workspace_id = ${workspace.workspaceId} AND kind = 'workspace'`
  await store.sql`UPDATE secrets SET sealed = set_byte(sealed, 70, get_byte(sealed, 70) # 1) WHERE name = 'a' AND vault_id = (${vault})`
  await store.sql`UPDATE secrets SET hosts = NULL, fingerprint = NULL WHERE name = 'b' AND vault_id = (${vault})`
  const rowsOf = () =>
    store.sql`SELECT name, sealed, key_id FROM secrets WHERE vault_id = (${vault}) ORDER BY name`
  const before = await rowsOf()
  const [{ id } = { id: '' }] = await store.sql<{ id: string }[]>`${vault}`
  t.match(await turnData(store, rootKeys), {
    resealed: 6,
    removedKeys: 3,
    legacy: 1,
    broken: [{ vaultId: id, name: 'a' }],
    isUnfinished: false,
  })
  t.same([...(await rowsOf())], [...before])
})

t.test('reports a vault whose sealing key does not open, and gives it no other key', async (t) => {
  const stand = await filledStand(t)
  const { alone } = withNewRoot(stand.rootKeys)
  const done = await turnData(stand.store, alone)
  t.match(done, { vaults: 4, newKeys: 0, resealed: 0, removedKeys: 0 })
  t.same(
    done.broken.map(({ name }) => name),
    [null, null, null, null],
  )
  t.equal(await leftBehind(stand), 0)
})
