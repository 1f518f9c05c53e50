import t from 'tap'
import { ok } from '../../../src/schemas/failures.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import type { SecretRows } from '../../../src/server/ports/vault/secret-rows.ts'
import type { VaultScope } from '../../../src/server/ports/vault/vault.ts'
import {
  VAULT_WRITE_TRIES_MAX,
  VAULT_WRITES_MAX,
  VAULT_WRITES_WAITING_MAX,
  VAULT_WRITES_WAITING_WORKSPACE_MAX,
  openVaults,
} from '../../../src/server/vault/vaults.ts'
import { gate } from '../../support/gate.ts'
import { must } from '../../support/must.ts'
import { BY, HOST, openVaultStand, type VaultStand } from '../../support/vault/vault-front.ts'

const input = (name: string, value = 'v', hosts: readonly string[] = [HOST]) => ({
  name,
  hosts,
  value: new Secret(value),
})
const put = ({ vaults }: VaultStand, scope: VaultScope, name: string, value = 'v') =>
  vaults.put(scope, input(name, value), BY)

/** A stand whose next write waits, sealed and not yet stored, until the gate opens. */
async function heldStand(t: Parameters<typeof openVaultStand>[0]) {
  const stand = await openVaultStand(t)
  const [sealed, go] = [gate(), gate()]
  let isHeld = true
  const rows: SecretRows = {
    ...stand.rows,
    async write(write) {
      if (isHeld) {
        isHeld = false
        sealed.open()
        await go.opened
      }
      return stand.rows.write(write)
    },
  }
  return {
    ...stand,
    held: openVaults({ rows, keys: stand.keys, jobs: stand.jobs }),
    sealed: sealed.opened,
    go,
  }
}

t.test('a write is sealed again when its key was replaced before it was stored', async (t) => {
  const stand = await heldStand(t)
  must(await put(stand, stand.workspace, 'a'))
  const writing = stand.held.put(stand.workspace, input('a', 'new'), BY)
  await stand.sealed
  await stand.store.sql`UPDATE vault_keys SET is_current = false WHERE purpose = 'sealing'`
  must(await stand.keys.current(must(await stand.rows.forWriting(stand.workspace, 1))))
  stand.go.open()
  must(await writing)
  const rows = await stand.store.sql`SELECT k.is_current FROM secrets s JOIN vault_keys k ON k.id = s.key_id`
  t.same([...rows], [{ is_current: true }])
})

t.test('a write whose key is replaced in every try fails with busy', async (t) => {
  const stand = await openVaultStand(t)
  let tries = 0
  const rows: SecretRows = { ...stand.rows, write: () => Promise.resolve(ok((tries++, null))) }
  const vaults = openVaults({ rows, keys: stand.keys, jobs: stand.jobs })
  t.match(await vaults.put(stand.workspace, input('a'), BY), { ok: false, failure: { name: 'busy' } })
  t.equal(tries, VAULT_WRITE_TRIES_MAX)
})

t.test('limits running and waiting writes to the store, and fails a further write with busy', async (t) => {
  const stand = await openVaultStand(t)
  const go = gate()
  let inStore = 0
  const rows: SecretRows = {
    ...stand.rows,
    async remove() {
      inStore++
      await go.opened
      return ok(null)
    },
  }
  const vaults = openVaults({ rows, keys: stand.keys, jobs: stand.jobs })
  const remove = () => vaults.remove(stand.workspace, 'a', BY)
  const all = Array.from({ length: VAULT_WRITES_MAX + VAULT_WRITES_WAITING_WORKSPACE_MAX }, remove)
  t.match(await remove(), { ok: false, failure: { name: 'busy' } })
  t.ok(VAULT_WRITES_WAITING_WORKSPACE_MAX < VAULT_WRITES_WAITING_MAX, 'others find room in the queue')
  t.equal(inStore, VAULT_WRITES_MAX)
  go.open()
  t.ok((await Promise.all(all)).every((one) => one.ok))
})

t.test('a write to an intern that was deleted meanwhile stores nothing', async (t) => {
  const stand = await heldStand(t)
  const writing = stand.held.put(stand.intern, input('a'), BY)
  await stand.sealed
  await stand.store.sql`DELETE FROM interns WHERE id = ${stand.intern.internId}`
  stand.go.open()
  t.match(await writing, { ok: false, failure: { name: 'intern_unknown' } })
  t.equal((await stand.store.sql`SELECT 1 FROM secrets`).length, 0)
})

t.test('a copy of a source that was replaced meanwhile has the new value', async (t) => {
  const stand = await heldStand(t)
  must(await put(stand, stand.workspace, 'a', 'old'))
  const copying = stand.held.copy(stand.intern, ['a'], BY)
  await stand.sealed
  must(await put(stand, stand.workspace, 'a', 'new'))
  stand.go.open()
  const [copied] = must(await copying)
  t.equal(copied?.fingerprint, must(await put(stand, stand.intern, 'b', 'new')).fingerprint)
})

t.test('a copy of which one source was deleted meanwhile copies nothing', async (t) => {
  const stand = await heldStand(t)
  for (const name of ['a', 'b']) must(await put(stand, stand.workspace, name))
  const copying = stand.held.copy(stand.intern, ['a', 'b'], BY)
  await stand.sealed
  must(await stand.vaults.remove(stand.workspace, 'b', BY))
  stand.go.open()
  t.match(await copying, { ok: false, failure: { name: 'secret_unknown' } })
  t.same(must(await stand.vaults.list(stand.intern, { limit: 10, offset: 0 })).secrets, [])
})

t.test('each of many writers of one name succeeds, and one row keeps the first creation time', async (t) => {
  const stand = await openVaultStand(t)
  const { createdAt } = must(await put(stand, stand.workspace, 'a'))
  const all = await Promise.all(
    Array.from({ length: 12 }, (_, nth) => put(stand, stand.workspace, 'a', `v${nth}`)),
  )
  t.same(
    all.map((one) => must(one).createdAt),
    all.map(() => createdAt),
  )
  const { secrets } = must(await stand.vaults.list(stand.workspace, { limit: 10, offset: 0 }))
  t.equal(secrets.length, 1)
  t.ok(all.some((one) => must(one).fingerprint === secrets[0]?.fingerprint))
})

t.test('a version number is never used twice, even after a delete', async (t) => {
  const stand = await openVaultStand(t)
  const seen: string[] = []
  for (let nth = 0; nth < 4; nth++) {
    must(await put(stand, stand.workspace, 'a'))
    const [row] = await stand.store.sql<{ version: string }[]>`SELECT version FROM secrets`
    seen.push(row?.version ?? '')
    if (nth % 2 === 1) must(await stand.vaults.remove(stand.workspace, 'a', BY))
  }
  t.equal(new Set(seen).size, 4)
})

t.test('every change is in the audit log with the state before and after, without the value', async (t) => {
  const stand = await openVaultStand(t)
  must(await put(stand, stand.workspace, 'a', 'a value of mine'))
  must(await put(stand, stand.workspace, 'a', 'another value'))
  must(await stand.vaults.copy(stand.intern, ['a'], BY))
  must(await stand.vaults.remove(stand.workspace, 'a', BY))
  const rows = await stand.store.sql<
    { operation: string; text: string }[]
  >`SELECT operation, text FROM audit ORDER BY n`
  t.same(
    rows.map(({ operation }) => operation),
    ['vault.put_secret', 'vault.put_secret', 'vault.copy_secrets', 'vault.delete_secret'],
  )
  const reported = rows.map(
    ({ text }) =>
      JSON.parse(text) as {
        before: { hosts: string[] } | null
        after: { hosts: string[] } | null
        request_id: string
      },
  )
  t.same(
    reported.map(({ before, after }) => [before?.hosts, after?.hosts]),
    [
      [undefined, [HOST]],
      [[HOST], [HOST]],
      [undefined, [HOST]],
      [[HOST], undefined],
    ],
  )
  t.same(
    reported.map((event) => event.request_id),
    reported.map(() => BY.requestId),
  )
  t.notMatch(rows.map(({ text }) => text).join(), 'value')
})

t.test('a first secret fails with intern_unknown when its intern is removed in the meantime', async (t) => {
  const stand = await openVaultStand(t)
  const { rows, keys, jobs, store, workspace, intern, otherIntern } = stand
  must(await put(stand, workspace, 'a'))
  const removing: SecretRows = {
    ...rows,
    async forWriting(scope, versions) {
      const found = await rows.forWriting(scope, versions)
      await store.sql`DELETE FROM interns WHERE id = ${scope.internId}`
      if (found.ok) await store.sql`DELETE FROM vaults WHERE id = ${found.value.vaultId}`
      return found
    },
  }
  const vaults = openVaults({ rows: removing, keys, jobs })
  t.match(await vaults.put(intern, input('a'), BY), { ok: false, failure: { name: 'intern_unknown' } })
  t.match(await vaults.copy(otherIntern, ['a'], BY), { ok: false, failure: { name: 'intern_unknown' } })
})
