import type { Command } from 'commander'
import { workspaceAnswer } from '../../operations/workspaces/workspace-answers.ts'
import type { Workspace } from '../../ports/workspaces/workspaces.ts'
import { openWorkspaces } from '../../store/lifecycle/open-workspaces.ts'
import type { Store } from '../../store/base/open.ts'
import { findOrganization } from '../../store/workspaces/organizations.ts'
import { createWorkspace, listWorkspaces, updateWorkspace } from '../../store/workspaces/workspaces.ts'
import { findWorkspace } from '../../store/base/find-workspace.ts'
import { nameOf, need, withDatabase } from '../parts/database.ts'
import { addChangeOptions, changesOf, slugOf, type ChangeOptions } from './workspace-options.ts'
import { addSetVerb } from './workspace-set.ts'
import { addVerb, print, table } from '../parts/verb.ts'

interface Options {
  readonly json?: boolean
  readonly organization?: string
}

type CreateOptions = Options & ChangeOptions & { readonly name: string; readonly slug: string }

/** `workspaces create|list|get|update|set|delete`. */
export function addWorkspaceVerbs(program: Command): void {
  const group = program.command('workspaces').description('manage workspaces')
  addCreate(group)
  addVerb(group, 'list', 'list workspaces')
    .option('--organization <ref>', 'organization id or name; default: all organizations')
    .action((options: Options) =>
      withDatabase(async ({ store }) => {
        const workspaces = need(await listWorkspaces(store, await organizationOf(store, options)))
        const rows = workspaces.map((workspace) => [
          workspace.id,
          workspace.slug,
          workspace.name,
          workspace.organizationId,
        ])
        print(
          options,
          { data: workspaces.map(wireOf) },
          table([['ID', 'SLUG', 'NAME', 'ORGANIZATION'], ...rows]),
        )
      }),
    )
  ofWorkspace(group, 'get', 'show a workspace').action((ref: string, options: Options) =>
    withDatabase(async ({ store }) => {
      const workspace = need(await findWorkspace(store.sql, ref, await organizationOf(store, options)))
      print(options, wireOf(workspace), textOf(workspace))
    }),
  )
  addUpdate(group)
  addSetVerb(group)
  addDelete(group)
}

function addCreate(group: Command): void {
  const verb = addVerb(group, 'create', 'create a workspace')
    .requiredOption('--name <name>', 'name of the workspace', nameOf)
    .requiredOption(
      '--slug <slug>',
      'slug of lower-case letters, digits and single hyphens; unique in the organization',
      slugOf,
    )
    .option('--organization <ref>', 'organization id or name; optional if there is only one')
  addChangeOptions(verb).action((options: CreateOptions) =>
    withDatabase(async ({ store, by }) => {
      const { id } = need(await findOrganization(store.sql, options.organization ?? null))
      const { name, slug } = options
      const input = { organizationId: id, name, slug, ...(await changesOf(options)) }
      const workspace = need(
        await createWorkspace(store, input, { ...by, operation: 'cli.workspaces-create' }),
      )
      print(options, wireOf(workspace), workspace.id)
    }),
  )
}

function addUpdate(group: Command): void {
  const verb = ofWorkspace(group, 'update', 'change a workspace; omitted options stay unchanged')
    .option('--name <name>', 'name of the workspace', nameOf)
    .option('--slug <slug>', 'new slug; the old slug becomes free at once', slugOf)
  addChangeOptions(verb).action((ref: string, options: Partial<CreateOptions>, command: Command) =>
    withDatabase(async ({ store, publish, by }) => {
      const { name, slug } = options
      const changes = {
        ...(name !== undefined && { name }),
        ...(slug !== undefined && { slug }),
        ...(await changesOf(options)),
      }
      if (Object.keys(changes).length === 0)
        command.error('error: give at least one option to change; see --help', { exitCode: 2 })
      const found = need(await findWorkspace(store.sql, ref, await organizationOf(store, options)))
      const at = { organizationId: found.organizationId, reference: found.id }
      const { workspace, change } = need(
        await updateWorkspace(store, at, changes, { ...by, operation: 'cli.workspaces-update' }),
      )
      await publish(change)
      print(options, wireOf(workspace), textOf(workspace))
    }),
  )
}

function addDelete(group: Command): void {
  ofWorkspace(group, 'delete', 'delete a workspace with its keys, interns, vaults and files')
    .option(
      '--confirm-default',
      'allow deleting the default workspace; the oldest remaining workspace becomes the default',
    )
    .action((ref: string, options: Options & { confirmDefault?: boolean }) =>
      withDatabase(async ({ store, publish, by }) => {
        const { id, slug, organizationId } = need(
          await findWorkspace(store.sql, ref, await organizationOf(store, options)),
        )
        const actor = { ...by, operation: 'cli.workspaces-delete' }
        const mayBeDefault = options.confirmDefault === true
        need(
          await openWorkspaces(store, publish).remove({ organizationId, reference: id }, mayBeDefault, actor),
        )
        print(options, { id, deleted: true }, `deleted ${slug}`)
      }),
    )
}

function ofWorkspace(group: Command, name: string, description: string): Command {
  return addVerb(group, name, description)
    .argument('<ref>', 'workspace id or slug')
    .option('--organization <ref>', 'organization id or name; optional if the slug is unique')
}

/** Null = any organization. */
async function organizationOf(store: Store, { organization }: Options): Promise<string | null> {
  return organization === undefined ? null : need(await findOrganization(store.sql, organization)).id
}

function wireOf(workspace: Workspace) {
  return { ...workspaceAnswer(workspace), organization_id: workspace.organizationId }
}

/** All facts of a workspace, a line for each. */
function textOf(workspace: Workspace): string {
  return table(
    Object.entries(wireOf(workspace)).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}
