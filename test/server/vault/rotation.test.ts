import t from 'tap'
import { openDataRotation } from '../../../src/server/store/vault/data-rotation.ts'
import { openDataKeys } from '../../../src/server/store/vault/data-keys.ts'
import { openRootRotation, rootKeyUses } from '../../../src/server/store/vault/root-rotation.ts'
import type { RootKeys } from '../../../src/server/vault/root-keys.ts'
import { openKeyRing } from '../../../src/server/vault/key-ring.ts'
import { openReleases } from '../../../src/server/vault/releases.ts'
import { VaultKeys } from '../../../src/server/vault/vault-keys.ts'
import { openVaults } from '../../../src/server/vault/vaults.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { auditOf } from '../../support/audit/audit.ts'
import { SILENT } from '../../support/log.ts'
import { must } from '../../support/must.ts'
import { turnData, turnRoot, withNewRoot } from '../../support/vault/rotation.ts'
import { BY, HOST, openVaultStand, type VaultStand } from '../../support/vault/vault-front.ts'

const KILLED = new Error('killed')

/** Four vaults with keys, two data keys, and the secrets `a` and `b` in each vault. */
async function filledStand(t: Parameters<typeof openVaultStand>[0]) {
  const stand = await openVaultStand(t)
  for (const scope of scopes(stand))
    for (const name of ['a', 'b'])
      await put(stand, scope, name, `${name} of ${scope.internId ?? scope.workspaceId}`)
  const ring = openKeyRing({ rootKeys: stand.rootKeys, rows: openDataKeys(stand.store) })
  for (const { workspaceId } of [stand.workspace, stand.otherWorkspace])
    must(await ring.current(workspaceId, 'files'))
  return stand
}

function scopes({ workspace, otherWorkspace, intern, otherIntern }: VaultStand) {
  return [workspace, otherWorkspace, intern, otherIntern]
}

async function put(
  { vaults }: Pick<VaultStand, 'vaults'>,
  scope: VaultStand['workspace'],
  name: string,
  value: string,
) {
  return must(await vaults.put(scope, { name, hosts: [HOST], value: new Secret(value) }, BY))
}

/**
 * What a front with these root keys releases, by place and name; one that does not open is its failure's
 * name.
 */
async function released(
  { rows, jobs, ...stand }: VaultStand,
  rootKeys: RootKeys,
): Promise<Record<string, string>> {
  const keys = new VaultKeys({ rootKeys, rows })
  const releases = openReleases({ rows, keys, jobs, audit: { note: () => true }, log: SILENT })
  const values: Record<string, string> = {}
  for (const scope of scopes({ rows, jobs, ...stand })) {
    for (const name of ['a', 'b']) {
      const value = await releases.release({ scope, name, host: HOST, operation: 'test', by: BY })
      values[`${scope.internId ?? scope.workspaceId}/${name}`] = value.ok
        ? value.value.reveal()
        : value.failure.name
    }
  }
  return values
}

const columns = ({ store }: VaultStand) => store.sql`
  SELECT vault_id, name, array_to_json(hosts) AS hosts, fingerprint, version, created_at, updated_at FROM secrets ORDER BY vault_id, name`

async function sealedColumns({ store }: VaultStand): Promise<readonly (readonly string[])[]> {
  const rows = await store.sql<{ sealed: Buffer; key_id: string }[]>`SELECT sealed, key_id FROM secrets`
  return rows.map((row) => [row.sealed.toString('hex'), row.key_id])
}

async function leftBehind({ store }: VaultStand): Promise<number> {
  const [row] = await store.sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM vault_keys k LEFT JOIN secrets s ON s.key_id = k.id WHERE NOT k.is_current`
  return row?.count ?? -1
}

t.test(
  'after a rotation of the root key the new one alone opens everything, data keys of files too',
  async (t) => {
    const stand = await filledStand(t)
    const before = await released(stand, stand.rootKeys)
    const { both, alone } = withNewRoot(stand.rootKeys)
    t.match(await turnRoot(stand.store, both), { rewrapped: 10, broken: [], isUnfinished: false })
    t.same(await rootKeyUses(stand.store.sql), [{ rootKeyId: alone.currentId, vaultKeys: 8, dataKeys: 2 }])
    t.same(await released(stand, alone), before)
    const ring = openKeyRing({ rootKeys: alone, rows: openDataKeys(stand.store) })
    for (const { workspaceId } of [stand.workspace, stand.otherWorkspace])
      t.ok((await ring.current(workspaceId, 'files')).ok)
    t.match(await turnRoot(stand.store, both), { rewrapped: 0 })
    t.match((await auditOf(stand.store)).slice(-2), [
      {
        operation: 'cli.vault-rotate-root',
        object_kind: 'root_key',
        object_id: both.currentId,
        before: { root_key_id: stand.rootKeys.currentId },
        after: { vault_keys: 8 },
      },
      { after: { root_key_id: both.currentId, data_keys: 2 } },
    ])
  },
)

t.test(
  'killed between two batches, a rotation of the root key leaves everything readable, and the next one ends it',
  async (t) => {
    const stand = await filledStand(t)
    const before = await released(stand, stand.rootKeys)
    const { both, alone } = withNewRoot(stand.rootKeys)
    const rows = openRootRotation(stand.store)
    const page = (table: Parameters<typeof rows.page>[0], input: Parameters<typeof rows.page>[1]) =>
      rows.page(table, { ...input, limit: 3 })
    let batches = 0
    await t.rejects(
      turnRoot(stand.store, both, {
        page,
        rewrap: (...args) => (batches++ === 1 ? Promise.reject(KILLED) : rows.rewrap(...args)),
      }),
      KILLED,
    )
    t.equal((await rootKeyUses(stand.store.sql)).length, 2)
    t.same(await released(stand, both), before)
    t.match(await turnRoot(stand.store, both, { page }), { rewrapped: 7, isUnfinished: false })
    t.same(await released(stand, alone), before)
  },
)

t.test('two rotations of the root key at once wrap each key once', async (t) => {
  const stand = await filledStand(t)
  const before = await released(stand, stand.rootKeys)
  const { both, alone } = withNewRoot(stand.rootKeys)
  const runs = await Promise.all([
    turnRoot(stand.store, both),
    turnRoot(stand.store, both),
    turnRoot(stand.store, both),
  ])
  t.equal(
    runs.reduce((sum, { rewrapped }) => sum + rewrapped, 0),
    10,
  )
  t.same(await released(stand, alone), before)
})

t.test('a batch that was read before another rotation changed its rows changes nothing', async (t) => {
  const stand = await filledStand(t)
  const before = await released(stand, stand.rootKeys)
  const one = withNewRoot(stand.rootKeys).both
  const other = withNewRoot(one)
  const rows = openRootRotation(stand.store)
  let isFirst = true
  const late = await turnRoot(stand.store, one, {
    async rewrap(...args) {
      if (!isFirst) return { ok: true, value: 0 }
      isFirst = false
      t.match(await turnRoot(stand.store, other.both), { rewrapped: 10 })
      return rows.rewrap(...args)
    },
  })
  t.equal(late.rewrapped, 0)
  t.same(await released(stand, other.alone), before)
})

t.test('two rotations to different root keys end, and lose nothing', async (t) => {
  const stand = await filledStand(t)
  const before = await released(stand, stand.rootKeys)
  const one = withNewRoot(stand.rootKeys).both
  const other = withNewRoot(one).both
  const back = {
    ...other,
    get: other.get.bind(other),
    currentId: one.currentId,
    ids: other.ids,
    madeFile: null,
  }
  await Promise.all([turnRoot(stand.store, other), turnRoot(stand.store, back)])
  t.same(await released(stand, other), before)
})

t.test(
  'keys that are made with the old root key during its rotation are wrapped by the new one too',
  async (t) => {
    const stand = await openVaultStand(t)
    await put(stand, stand.workspace, 'a', 'v')
    const { both } = withNewRoot(stand.rootKeys)
    const rows = openRootRotation(stand.store)
    let isFirst = true
    const done = await turnRoot(stand.store, both, {
      async rewrap(...args) {
        if (isFirst) {
          isFirst = false
          await put(stand, stand.intern, 'a', 'v')
        }
        return rows.rewrap(...args)
      },
    })
    t.match(done, { rewrapped: 4, isUnfinished: false })
    t.match(await rootKeyUses(stand.store.sql), [{ rootKeyId: both.currentId, vaultKeys: 4 }])
  },
)

t.test(
  'a key that does not open or whose root key is missing is told and left as it is; the others are wrapped anew',
  async (t) => {
    const stand = await filledStand(t)
    const { store } = stand
    const [damaged] = await store.sql<{ id: string }[]>`
    UPDATE vault_keys SET wrapped = set_byte(wrapped, 20, get_byte(wrapped, 20) # 1)
    WHERE id = (SELECT id FROM vault_keys WHERE purpose = 'sealing' LIMIT 1) RETURNING id`
    const [foreign] = await store.sql<{ id: string }[]>`
    UPDATE data_keys SET root_key_id = '0123456789abcdef' WHERE workspace_id = ${stand.workspace.workspaceId} RETURNING id`
    const rowsOf =
      () => store.sql`SELECT id, wrapped, root_key_id FROM vault_keys WHERE id = ${damaged?.id ?? ''}
    UNION ALL SELECT id, wrapped, root_key_id FROM data_keys WHERE id = ${foreign?.id ?? ''}`
    const before = await rowsOf()
    const { both } = withNewRoot(stand.rootKeys)
    const done = await turnRoot(store, both)
    t.same(done, {
      rewrapped: 8,
      isUnfinished: false,
      broken: [
        {
          table: 'vault_keys',
          id: damaged?.id,
          rootKeyId: stand.rootKeys.currentId,
          problem: 'does_not_open',
        },
        { table: 'data_keys', id: foreign?.id, rootKeyId: '0123456789abcdef', problem: 'root_key_missing' },
      ],
    })
    t.same([...(await rowsOf())], [...before])
  },
)

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
  'the fingerprint of a value is the same after rotations of both kinds, and another one in another vault',
  async (t) => {
    const stand = await openVaultStand(t)
    const { store, rows, jobs, workspace, intern } = stand
    const first = await put(stand, workspace, 'a', 'the value')
    t.equal((await put(stand, workspace, 'a', 'the value')).fingerprint, first.fingerprint)
    const { both, alone } = withNewRoot(stand.rootKeys)
    await turnRoot(store, both)
    await turnData(store, both)
    const vaults = openVaults({ rows, jobs, keys: new VaultKeys({ rootKeys: alone, rows }) })
    t.equal((await put({ vaults }, workspace, 'a', 'the value')).fingerprint, first.fingerprint)
    t.equal((await put({ vaults }, workspace, 'b', 'the value')).fingerprint, first.fingerprint)
    t.not((await put({ vaults }, intern, 'a', 'the value')).fingerprint, first.fingerprint)
  },
)

t.test(
  'killed at any transaction, a rotation of sealing keys leaves every secret readable, and the next one goes on where it was',
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

t.test('a write that races a batch wins: the batch does not put the old value back', async (t) => {
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
        await put(stand, workspace, 'a', 'written meanwhile')
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

t.test(
  'a secret that does not open is told and left with its key, legacy rows stay, and the others are sealed anew',
  async (t) => {
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
  },
)

t.test('a vault whose sealing key does not open is told, and gets no other key', async (t) => {
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
