import { InvalidArgumentError, type Command } from 'commander'
import { isSlug } from '../../schemas/workspaces.ts'
import { findOrganization } from '../store/organizations.ts'
import { createWorkspace, findWorkspace, listWorkspaces, type Workspace } from '../store/workspaces.ts'
import { nameOf, need, withAdmin } from './admin.ts'
import { parseProviderKey, setProviderKeys, type ProviderKeyWish } from './provider-keys.ts'
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

function addSet(group: Command): void {
  addVerb(group, 'set', 'change a workspace')
    .argument('<ref>', 'id or slug')
    .requiredOption(
      '--provider-key <provider=key...>', 'its own key for openai or anthropic; "-" reads it from standard input, nothing removes it')
    .option('--organization <ref>', 'id or name; may be left out where the slug is the only one')
    .action(async (ref: string, options: Options & { providerKey: readonly string[] }, command: Command) => {
      const wishes = options.providerKey.map((text) => wishOf(text, command))
      await withAdmin(async ({ store }) => {
        const { organization } = options
        const organizationId = organization === undefined ? null : need(await findOrganization(store.sql, organization)).id
        const workspace = need(await findWorkspace(store.sql, ref, organizationId))
        const changes = await setProviderKeys(store, workspace.id, wishes)
        print(options, { id: workspace.id, provider_keys: changes }, changes.map(({ provider, is }) => `${provider}: ${is}`).join('\n'))
      })
    })
}

function wishOf(text: string, command: Command): ProviderKeyWish {
  const wish = parseProviderKey(text)
  return typeof wish === 'string' ? command.error(`error: ${wish}`, { exitCode: 2 }) : wish
}

function slugOf(text: string): string {
  if (!isSlug(text)) throw new InvalidArgumentError('It takes 1 to 50 lower-case letters and digits, joined by single hyphens.')
  return text
}

function wireOf(workspace: Workspace): object {
  return {
    id: workspace.id,
    organization_id: workspace.organizationId,
    name: workspace.name,
    slug: workspace.slug,
    created_at: workspace.createdAt.toISOString(),
  }
}
