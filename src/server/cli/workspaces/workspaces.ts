import type { Command } from 'commander'
import { checkCallbackUrl } from '../../../schemas/webhooks/callback-urls.ts'
import { CreateWorkspaceBody, UpdateWorkspaceBody } from '../../../schemas/workspaces/workspaces.ts'
import { openGate } from '../../main/egress.ts'
import { changesOf, workspaceAnswer } from '../../operations/workspaces/workspace-answers.ts'
import type { Workspace } from '../../ports/workspaces/workspaces.ts'
import { openWorkspaces } from '../../store/lifecycle/open-workspaces.ts'
import { createWorkspace, listWorkspaces, updateWorkspace } from '../../store/workspaces/workspaces.ts'
import { nameOf, need, withDatabase } from '../parts/database.ts'
import {
  inOrganization,
  ofWorkspace,
  organizationIfAny,
  organizationOf,
  workspaceOf,
  type PlaceOptions,
} from '../parts/places.ts'
import { CALL_LIMITS, NONE, optionsOf } from '../parts/shape-options.ts'
import { addVerb, loadGeneration, print, printList, table } from '../parts/verb.ts'
import { addSetVerb, SWITCHES } from './workspace-set.ts'

const SETTINGS = {
  name: { flags: '--name <name>', about: 'name of the workspace', parse: nameOf },
  ...CALL_LIMITS,
  description: { flags: '--description <text>', about: 'description of the workspace', takesNone: false },
  default_callback_url: {
    flags: '--callback-url <url>',
    about: `default URL for webhooks: HTTPS, at a public address; ${NONE} removes it`,
  },
  storage_quota_bytes: '--storage-quota <bytes>',
  ...SWITCHES,
  include_byok_in_budgets: '--byok-in-budgets <on|off>',
} as const

const CREATE = optionsOf(CreateWorkspaceBody, {
  slug: {
    flags: '--slug <slug>',
    about: 'slug of lower-case letters, digits and single hyphens; unique in the organization',
  },
  ...SETTINGS,
})

const UPDATE = optionsOf(UpdateWorkspaceBody, {
  slug: { flags: '--slug <slug>', about: 'new slug; the old slug becomes free at once' },
  ...SETTINGS,
})

/** `workspaces create|list|get|update|set|delete`. */
export function addTo(program: Command): void {
  const group = program.command('workspaces').description('manage workspaces')
  addCreate(group)
  inOrganization(addVerb(group, 'list', 'list workspaces'), 'all').action((options: PlaceOptions) =>
    withDatabase(async (database) => {
      const workspaces = need(
        await listWorkspaces(database.store, await organizationIfAny(database, options)),
      )
      printList(options, workspaces, wireOf, [
        ['ID', 'SLUG', 'NAME', 'ORGANIZATION'],
        ({ id, slug, name, organizationId }) => [id, slug, name, organizationId],
      ])
    }),
  )
  ofWorkspace(addVerb(group, 'get', 'show a workspace')).action((ref: string, options: PlaceOptions) =>
    withDatabase(async (database) => {
      const workspace = await workspaceOf(database, ref, options)
      print(options, wireOf(workspace), textOf(workspace))
    }),
  )
  addUpdate(group)
  addSetVerb(group)
  addDelete(group)
}

function addCreate(group: Command): void {
  const verb = CREATE.addTo(addVerb(group, 'create', 'create a workspace'))
  inOrganization(verb, 'only').action((options: PlaceOptions) =>
    withDatabase(async (database) => {
      const organizationId = await organizationOf(database, options)
      const { name, slug, ...settings } = CREATE.from(options)
      await checkUrl(settings.default_callback_url)
      const input = { organizationId, name, slug, ...changesOf(settings) }
      const actor = { ...database.by, operation: 'cli.workspaces-create' }
      const workspace = need(await createWorkspace(database.store, input, actor))
      print(options, wireOf(workspace), workspace.id)
    }),
  )
}

function addUpdate(group: Command): void {
  const verb = ofWorkspace(addVerb(group, 'update', 'change a workspace; omitted options stay unchanged'))
  UPDATE.addTo(verb).action((ref: string, options: PlaceOptions, command: Command) =>
    withDatabase(async (database) => {
      const { store, publish, by } = database
      const { name, slug, ...settings } = UPDATE.from(options)
      await checkUrl(settings.default_callback_url)
      const changes = {
        ...(name !== undefined && { name }),
        ...(slug !== undefined && { slug }),
        ...changesOf(settings),
      }
      if (Object.keys(changes).length === 0)
        command.error('error: give at least one option to change; see --help', { exitCode: 2 })
      const found = await workspaceOf(database, ref, options)
      const at = { organizationId: found.organizationId, reference: found.id }
      const { workspace, change } = need(
        await updateWorkspace(store, at, changes, { ...by, operation: 'cli.workspaces-update' }),
      )
      await publish(change)
      print(options, wireOf(workspace), textOf(workspace))
    }),
  )
}

/** Checks a callback URL as the API does. Throws CliFailure. */
async function checkUrl(url: string | null | undefined): Promise<void> {
  if (url === null || url === undefined) return
  const gate = openGate(loadGeneration().config)
  try {
    need(await checkCallbackUrl(url, { path: '--callback-url', gate, holder: null }))
  } finally {
    await gate.close()
  }
}

function addDelete(group: Command): void {
  ofWorkspace(addVerb(group, 'delete', 'delete a workspace with its keys, interns, vaults and files'))
    .option(
      '--confirm-default',
      'allow deleting the default workspace; the oldest remaining workspace becomes the default',
    )
    .action((ref: string, options: PlaceOptions & { confirmDefault?: boolean }) =>
      withDatabase(async (database) => {
        const { store, publish, by } = database
        const { id, slug, organizationId } = await workspaceOf(database, ref, options)
        const actor = { ...by, operation: 'cli.workspaces-delete' }
        const mayBeDefault = options.confirmDefault === true
        need(
          await openWorkspaces(store, publish).remove({ organizationId, reference: id }, mayBeDefault, actor),
        )
        print(options, { id, deleted: true }, `deleted ${slug}`)
      }),
    )
}

function wireOf(workspace: Workspace) {
  return { ...workspaceAnswer(workspace), organization_id: workspace.organizationId }
}

function textOf(workspace: Workspace): string {
  return table(
    Object.entries(wireOf(workspace)).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}
