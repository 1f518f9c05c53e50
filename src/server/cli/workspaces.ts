import { InvalidArgumentError, Option, type Command } from 'commander'
import { isSlug } from '../../schemas/workspaces.ts'
import { findOrganization } from '../store/organizations.ts'
import {
  createWorkspace, findWorkspace, listWorkspaces, setWorkspace, type Workspace, type WorkspaceSettings,
} from '../store/workspaces.ts'
import { nameOf, need, withAdmin } from './admin.ts'
import { keyHosts, parseProviderKey, setProviderKeys, type KeyHosts, type ProviderKeyWish } from './provider-keys.ts'
import { addVerb, print, table } from './verb.ts'

interface Options {
  readonly json?: boolean
  readonly organization?: string
}

/** `workspaces create|list|set`. */
export function addWorkspaceVerbs(program: Command): void {
  const group = program.command('workspaces').description('workspaces of the organizations')
  addVerb(group, 'create', 'make a workspace')
    .requiredOption('--name <name>', 'its name', nameOf)
    .requiredOption('--slug <slug>', 'lower-case letters, digits and single hyphens; unique in the organization', slugOf)
    .option('--organization <ref>', 'id or name; may be left out when there is one')
    .action((options: Options & { name: string; slug: string }) => withAdmin(async ({ store }) => {
      const { id } = need(await findOrganization(store.sql, options.organization ?? null))
      const { name, slug } = options
      const workspace = need(await createWorkspace(store, { organizationId: id, name, slug }))
      print(options, wireOf(workspace), workspace.id)
    }))
  addVerb(group, 'list', 'list the workspaces')
    .option('--organization <ref>', 'id or name; left out: of all organizations')
    .action((options: Options) => withAdmin(async ({ store }) => {
      const { organization } = options
      const id = organization === undefined ? null : need(await findOrganization(store.sql, organization)).id
      const workspaces = need(await listWorkspaces(store, id))
      const rows = workspaces.map((workspace) => [workspace.id, workspace.slug, workspace.name, workspace.organizationId])
      print(options, { data: workspaces.map(wireOf) }, table([['ID', 'SLUG', 'NAME', 'ORGANIZATION'], ...rows]))
    }))
  addSet(group)
}

interface SetOptions extends Options {
  readonly providerKey?: readonly string[]
  readonly programme?: Switch
  readonly vaultWrites?: Switch
}

type Switch = 'on' | 'off'

function addSet(group: Command): void {
  addVerb(group, 'set', 'change a workspace')
    .argument('<ref>', 'id or slug')
    .option('--provider-key <provider=key...>', 'its own key for a provider, kept in its vault; "-" reads it from standard input, nothing removes it')
    .addOption(switchOf('--programme <on|off>', 'interns and vaults; off: they answer 404'))
    .addOption(switchOf('--vault-writes <on|off>', 'changes of its vaults; off: they answer 503'))
    .option('--organization <ref>', 'id or name; may be left out where the slug is the only one')
    .action(async (ref: string, options: SetOptions, command: Command) => {
      const wishes = wishesOf(options, command)
      const settings = settingsOf(options)
      if (wishes.length === 0 && settings === null) {
        command.error('error: name what to set: --programme, --vault-writes or --provider-key', { exitCode: 2 })
      }
      await withAdmin(async (admin) => {
        const { store, publish, by } = admin
        const { organization } = options
        const organizationId = organization === undefined ? null : need(await findOrganization(store.sql, organization)).id
        let workspace = need(await findWorkspace(store.sql, ref, organizationId))
        if (settings !== null) {
          const set = need(await setWorkspace(store, workspace.id, settings, by))
          await publish(set.change)
          workspace = set.workspace
        }
        const scope = { organizationId: workspace.organizationId, workspaceId: workspace.id, internId: null }
        const changes = await setProviderKeys(admin, scope, wishes)
        const { programme, vault_writes } = wireOf(workspace)
        const lines = changes.map(({ provider, is }) => `${provider}: ${is}`)
        if (settings !== null) lines.unshift(`programme: ${nameOfSwitch(programme)}`, `vault writes: ${nameOfSwitch(vault_writes)}`)
        print(options, { id: workspace.id, programme, vault_writes, provider_keys: changes }, lines.join('\n'))
      })
    })
}

function switchOf(flags: string, description: string): Option {
  return new Option(flags, description).choices(['on', 'off'])
}

/** Null when nothing of it is to change. */
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

function wishesOf({ providerKey: texts = [] }: SetOptions, command: Command): readonly ProviderKeyWish[] {
  if (texts.length === 0) return []
  const hosts = keyHosts()
  return texts.map((text) => wishOf(text, hosts, command))
}

function wishOf(text: string, hosts: KeyHosts, command: Command): ProviderKeyWish {
  const wish = parseProviderKey(text, hosts)
  return typeof wish === 'string' ? command.error(`error: ${wish}`, { exitCode: 2 }) : wish
}

function slugOf(text: string): string {
  if (!isSlug(text)) throw new InvalidArgumentError('It takes 1 to 50 lower-case letters and digits, joined by single hyphens.')
  return text
}

function wireOf(workspace: Workspace) {
  return {
    id: workspace.id,
    organization_id: workspace.organizationId,
    name: workspace.name,
    slug: workspace.slug,
    programme: workspace.isInProgramme,
    vault_writes: workspace.mayWriteVault,
    created_at: workspace.createdAt.toISOString(),
  }
}
