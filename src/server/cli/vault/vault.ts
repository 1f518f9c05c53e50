import type { Command } from 'commander'
import {
  createAttachableVault,
  deleteAttachableVault,
  listAttachableVaults,
  type AttachableVault,
} from '../../store/vault/attachable-vaults.ts'
import { nameOf, need, withDatabase } from '../parts/database.ts'
import { inOrganization, organizationIfAny, workspaceOf, type PlaceOptions } from '../parts/places.ts'
import { idOf } from '../parts/reference.ts'
import { addRotationVerbs } from './vault-rotation.ts'
import { addVaultSecretVerbs } from './vault-secrets.ts'
import { addVerb, print, printList } from '../parts/verb.ts'

/** `vault create|list|delete`, the verbs of such a vault's secrets, and `rotate-root|rotate-data|status`. */
export function addTo(program: Command, outcome: { code: number | null }): void {
  const group = program.command('vault').description('manage attachable vaults and the keys of all vaults')
  addRotationVerbs(group, outcome)
  inOrganization(
    addVerb(group, 'create', 'create a vault that can be attached to interns of a workspace'),
    'slug',
  )
    .requiredOption('--name <name>', 'name of the vault, unique in the workspace', nameOf)
    .requiredOption('--workspace <ref>', 'workspace id or slug')
    .action((options: PlaceOptions & { name: string }) =>
      withDatabase(async (database) => {
        const { store, by } = database
        const { id: workspaceId, organizationId } = await workspaceOf(database, options.workspace, options)
        const vault = need(
          await createAttachableVault(store, { organizationId, workspaceId, name: options.name }, by),
        )
        print(options, wireOf(vault), vault.id)
      }),
    )
  inOrganization(addVerb(group, 'list', 'list attachable vaults'), 'all').action((options: PlaceOptions) =>
    withDatabase(async (database) => {
      const vaults = need(
        await listAttachableVaults(database.store, await organizationIfAny(database, options)),
      )
      printList(options, vaults, wireOf, [
        ['ID', 'NAME', 'SECRETS', 'WORKSPACE'],
        ({ id, name, secrets, workspaceId }) => [id, name, secrets, workspaceId],
      ])
    }),
  )
  addVerb(group, 'delete', 'delete an attachable vault with all its secrets')
    .argument('<vault>', 'name or id of the vault (or the beginning of its id)')
    .action((named: string, options: PlaceOptions) =>
      withDatabase(async ({ store, by }) => {
        const id = await idOf(store.sql, 'vault', named)
        need(await deleteAttachableVault(store, id, by), { name: id, list: 'vault list' })
        print(options, { id, deleted: true }, `deleted ${id}`)
      }),
    )
  addVaultSecretVerbs(group)
}

function wireOf(vault: AttachableVault): object {
  return {
    id: vault.id,
    name: vault.name,
    organization_id: vault.organizationId,
    workspace_id: vault.workspaceId,
    secrets: vault.secrets,
    created_at: vault.createdAt.toISOString(),
  }
}
