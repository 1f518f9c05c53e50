import t from 'tap'
import { openDataKeys } from '../../../src/server/store/vault/data-keys.ts'
import { openRootRotation, rootKeyUses } from '../../../src/server/store/vault/root-rotation.ts'
import { openKeyRing } from '../../../src/server/vault/key-ring.ts'
import { auditOf } from '../../support/audit/audit.ts'
import { turnRoot, withNewRoot } from '../../support/vault/rotation.ts'
import { openVaultStand } from '../../support/vault/vault-front.ts'
import { filledStand, putSecret, released } from '../../support/vault/filled-vaults.ts'

const KILLED = new Error('killed')

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
    await putSecret(stand, stand.workspace, 'a', 'v')
    const { both } = withNewRoot(stand.rootKeys)
    const rows = openRootRotation(stand.store)
    let isFirst = true
    const done = await turnRoot(stand.store, both, {
      async rewrap(...args) {
        if (isFirst) {
          isFirst = false
          await putSecret(stand, stand.intern, 'a', 'v')
        }
        return rows.rewrap(...args)
      },
    })
    t.match(done, { rewrapped: 4, isUnfinished: false })
    t.match(await rootKeyUses(stand.store.sql), [{ rootKeyId: both.currentId, vaultKeys: 4 }])
  },
)

t.test('reports and leaves a key that does not open or lacks its root key; rewraps the others', async (t) => {
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
})
