import type { Command } from 'commander'
import { findOrganization } from '../../store/workspaces/organizations.ts'
import { setWorkspace, type WorkspaceSettings } from '../../store/workspaces/workspaces.ts'
import { findWorkspace } from '../../store/base/find-workspace.ts'
import { need, withDatabase } from '../parts/database.ts'
import {
  keyHosts,
  parseProviderKey,
  setProviderKeys,
  type KeyHosts,
  type ProviderKeyInput,
} from './provider-keys.ts'
import { addVerb, print } from '../parts/verb.ts'
import { switchOf, type Switch } from './workspace-options.ts'

interface Options {
  readonly json?: boolean
  readonly organization?: string
}

interface SetOptions extends Options {
  readonly providerKey?: readonly string[]
  readonly programme?: Switch
  readonly vaultWrites?: Switch
}

/** `workspaces set`: its keys for providers, and two switches. */
export function addSetVerb(group: Command): void {
  addVerb(group, 'set', 'change a workspace')
    .argument('<ref>', 'workspace id or slug')
    .option(
      '--provider-key <provider=key...>',
      'workspace key for a provider, stored in the workspace vault; "-" reads the key from standard input, an empty key removes it',
    )
    .addOption(
      switchOf('--programme <on|off>', 'enable interns (agents) and vaults; off: calls to them return 404'),
    )
    .addOption(
      switchOf('--vault-writes <on|off>', 'allow changes to the workspace vaults; off: changes return 503'),
    )
    .option('--organization <ref>', 'organization id or name; optional if the slug is unique')
    .action(async (ref: string, options: SetOptions, command: Command) => {
      const inputs = inputsOf(options, command)
      const settings = settingsOf(options)
      if (inputs.length === 0 && settings === null) {
        command.error('error: give at least one of --programme, --vault-writes or --provider-key', {
          exitCode: 2,
        })
      }
      await withDatabase(async (database) => {
        const { store, publish, by } = database
        const { organization } = options
        const organizationId =
          organization === undefined ? null : need(await findOrganization(store.sql, organization)).id
        let workspace = need(await findWorkspace(store.sql, ref, organizationId))
        if (settings !== null) {
          const set = need(await setWorkspace(store, workspace.id, settings, by))
          await publish(set.change)
          workspace = set.workspace
        }
        const scope = { organizationId: workspace.organizationId, workspaceId: workspace.id, internId: null }
        const changes = await setProviderKeys(database, scope, inputs)
        const { isInProgramme: programme, mayWriteVault: vault_writes } = workspace
        const lines = changes.map(({ provider, is }) => `${provider}: ${is}`)
        if (settings !== null)
          lines.unshift(
            `programme: ${nameOfSwitch(programme)}`,
            `vault writes: ${nameOfSwitch(vault_writes)}`,
          )
        print(
          options,
          { id: workspace.id, programme, vault_writes, provider_keys: changes },
          lines.join('\n'),
        )
      })
    })
}

/** Null when no setting changes. */
function settingsOf({ programme, vaultWrites }: SetOptions): WorkspaceSettings | null {
  if (programme === undefined && vaultWrites === undefined) return null
  return {
    ...(programme !== undefined && { isInProgramme: programme === 'on' }),
    ...(vaultWrites !== undefined && { mayWriteVault: vaultWrites === 'on' }),
  }
}

function nameOfSwitch(isOn: boolean): Switch {
  return isOn ? 'on' : 'off'
}

function inputsOf({ providerKey: texts = [] }: SetOptions, command: Command): readonly ProviderKeyInput[] {
  if (texts.length === 0) return []
  const hosts = keyHosts()
  return texts.map((text) => inputOf(text, hosts, command))
}

function inputOf(text: string, hosts: KeyHosts, command: Command): ProviderKeyInput {
  const input = parseProviderKey(text, hosts)
  return typeof input === 'string' ? command.error(`error: ${input}`, { exitCode: 2 }) : input
}
