import t from 'tap'
import type { VaultForWriting } from '../../../src/server/ports/vault/secret-rows.ts'
import { VAULT_KEYS_CACHED_MAX, VaultKeys } from '../../../src/server/vault/vault-keys.ts'
import { must, present } from '../../support/must.ts'
import { openVaultStand, type VaultStand } from '../../support/vault/vault-front.ts'

async function vaultOf({ rows, workspace }: VaultStand): Promise<VaultForWriting> {
  return must(await rows.forWriting(workspace, 1))
}

t.test('processes that make the first keys of a vault at once all get the same', async (t) => {
  const stand = await openVaultStand(t)
  const processes = Array.from(
    { length: 8 },
    () => new VaultKeys({ rootKeys: stand.rootKeys, rows: stand.rows }),
  )
  const all = await Promise.all(processes.map(async (keys) => must(await keys.current(await vaultOf(stand)))))
  t.equal(
    new Set(all.map(({ fingerprint, sealing }) => Buffer.concat([fingerprint, sealing]).toString('hex')))
      .size,
    1,
  )
  t.equal((await stand.store.sql`SELECT 1 FROM vault_keys`).length, 2)
  t.equal((await stand.store.sql`SELECT 1 FROM vaults WHERE kind = 'workspace'`).length, 1)
})

t.test('the two keys of a vault are 32 random bytes each, and no other vault has them', async (t) => {
  const stand = await openVaultStand(t)
  const one = must(await stand.keys.current(await vaultOf(stand)))
  const other = must(await stand.keys.current(must(await stand.rows.forWriting(stand.otherWorkspace, 1))))
  const keys = [one.fingerprint, one.sealing, other.fingerprint, other.sealing]
  t.same(
    keys.map(({ length }) => length),
    [32, 32, 32, 32],
  )
  t.equal(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size, 4)
})

t.test('a caller may clear its key', async (t) => {
  const stand = await openVaultStand(t)
  const key = present((await vaultAfterKeys(stand)).sealingKey)
  const first = must(stand.keys.open(key))
  const copy = Buffer.from(first)
  first.fill(0)
  t.ok(copy.equals(must(stand.keys.open(key))))
})

t.test(
  'a key that was moved, changed or wrapped by a missing root key does not decrypt, cached or not',
  async (t) => {
    const stand = await openVaultStand(t)
    const { sealingKey, vaultId } = await vaultAfterKeys(stand)
    const key = present(sealingKey)
    must(stand.keys.open(key))
    const wrapped = Buffer.from(key.wrapped)
    const edits = [
      { vaultId: vaultId.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) },
      { purpose: 'fingerprint' as const },
      { id: '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b' },
      { rootKeyId: 'another' },
      ...Array.from(wrapped, (byte, at) => ({
        wrapped: Buffer.concat([wrapped.subarray(0, at), Buffer.from([byte ^ 1]), wrapped.subarray(at + 1)]),
      })),
    ]
    const opened = edits.filter((edit) => stand.keys.open({ ...key, ...edit }).ok)
    t.same(opened, [], `${edits.length} edits`)
  },
)

t.test('a limited number of keys is cached, and evicted keys are cleared', async (t) => {
  const stand = await openVaultStand(t)
  const keys = new VaultKeys({ rootKeys: stand.rootKeys, rows: stand.rows, cachedMax: 1 })
  const vault = await vaultAfterKeys(stand)
  const [fingerprint, sealing] = [present(vault.fingerprintKey), present(vault.sealingKey)]
  const first = Buffer.from(must(keys.open(sealing)))
  must(keys.open(fingerprint))
  t.ok(first.equals(must(keys.open(sealing))))
  keys.close()
  t.ok(first.equals(must(keys.open(sealing))))
  t.ok(VAULT_KEYS_CACHED_MAX >= 1)
})

async function vaultAfterKeys(stand: VaultStand): Promise<VaultForWriting> {
  must(await stand.keys.current(await vaultOf(stand)))
  return vaultOf(stand)
}
