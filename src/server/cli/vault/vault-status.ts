import type { Command } from 'commander'
import { sealingKeyUse } from '../../store/vault/data-rotation.ts'
import { nodesOnOtherRootKey } from '../../store/nodes/fronts.ts'
import type { Store } from '../../store/base/open.ts'
import { rootKeyUses } from '../../store/vault/root-rotation.ts'
import { withDatabase } from '../parts/database.ts'
import { ownRootKeys } from './root-keys.ts'
import { addVerb, print, table } from '../parts/verb.ts'

/** `vault status`: exit code 1 while a rotation is not complete, or a root key is missing. */
export function addStatusVerb(group: Command, outcome: { code: number | null }): void {
  addVerb(
    group,
    'status',
    'show how each root key is used, which root keys can be destroyed, and how many secrets are encrypted with old keys',
  ).action((options: { json?: boolean }) =>
    withDatabase(async ({ store }) => {
      const status = await statusOf(store)
      print(options, status, textOf(status))
      if (!status.ok) outcome.code = 1
    }),
  )
}

interface RootKeyStatus {
  readonly id: string
  readonly is: 'current' | 'old' | 'missing'
  readonly vault_keys: number
  readonly data_keys: number
  /** True when no row needs the key; older backups of the database may still need it. */
  readonly can_be_destroyed: boolean
}

async function statusOf(store: Store) {
  const { currentId, ids } = ownRootKeys()
  const uses = new Map((await rootKeyUses(store.sql)).map((use) => [use.rootKeyId, use]))
  const behind = await nodesOnOtherRootKey(store.sql, currentId)
  const rootKeys = [...new Set([...ids, ...uses.keys()])].map((id): RootKeyStatus => {
    const { vaultKeys = 0, dataKeys = 0 } = uses.get(id) ?? {}
    const is = id === currentId ? 'current' : ids.includes(id) ? 'old' : 'missing'
    const isUnused = vaultKeys + dataKeys === 0 && behind.length === 0
    return { id, is, vault_keys: vaultKeys, data_keys: dataKeys, can_be_destroyed: is === 'old' && isUnused }
  })
  const use = await sealingKeyUse(store.sql)
  const secretsLeft = use.secretsOnOldKeys - use.legacyOnOldKeys
  const keysLeft = rootKeys
    .filter(({ is }) => is !== 'current')
    .reduce((sum, key) => sum + key.vault_keys + key.data_keys, 0)
  return {
    ok: keysLeft === 0 && secretsLeft === 0 && behind.length === 0,
    root_keys: rootKeys,
    nodes_on_other_root_keys: behind,
    vaults: use.vaults,
    secrets: use.secrets,
    secrets_on_old_sealing_keys: secretsLeft,
    legacy_on_old_sealing_keys: use.legacyOnOldKeys,
    old_sealing_keys: use.oldKeys,
  }
}

function textOf(status: Awaited<ReturnType<typeof statusOf>>): string {
  const rows = status.root_keys.map(({ id, is, can_be_destroyed: mayGo, ...key }) => [
    id,
    is,
    String(key.vault_keys),
    String(key.data_keys),
    mayGo ? 'can be destroyed' : '',
  ])
  const behind = status.nodes_on_other_root_keys.map((node) => `node ${node} still uses another root key`)
  return [
    table([['ROOT KEY', 'IS', 'VAULT KEYS', 'DATA KEYS', ''], ...rows]),
    `${status.secrets} secrets in ${status.vaults} vaults; encrypted with old sealing keys: ${status.secrets_on_old_sealing_keys}, ` +
      `plus ${status.legacy_on_old_sealing_keys} legacy rows; old sealing keys: ${status.old_sealing_keys}`,
    ...behind,
  ].join('\n')
}
