import type { Command } from 'commander'
import { CapsBody } from '../../../schemas/operator/caps.ts'
import { openCaps } from '../../store/base/caps.ts'
import {
  createOrganization,
  findOrganization,
  listOrganizations,
  type Organization,
} from '../../store/workspaces/organizations.ts'
import { nameOf, need, withDatabase } from '../parts/database.ts'
import { optionsOf } from '../parts/shape-options.ts'
import { addVerb, print, printList, table, type Printing } from '../parts/verb.ts'
import { capsAnswer } from '../../operations/operator/get-caps.ts'

const CAPS = optionsOf(
  CapsBody,
  {
    workspaces: '--workspaces <count>',
    api_keys: '--api-keys <count>',
    interns: '--interns <count>',
    vaults: '--vaults <count>',
    secrets: '--secrets <count>',
  },
  'default',
)

function addCaps(group: Command): void {
  const verb = addVerb(group, 'caps', 'show the limits of an organization and their use, or change limits')
  CAPS.addTo(verb)
    .argument('<ref>', 'organization id or name')
    .action((ref: string, options: Printing) =>
      withDatabase(async ({ store, by }) => {
        const { id } = need(await findOrganization(store.sql, ref))
        const changes = CAPS.from(options)
        const caps = openCaps(store)
        const actor = { ...by, operation: 'cli.organizations-caps' }
        const isRead = Object.keys(changes).length === 0
        const state = need(await (isRead ? caps.read(id) : caps.update(id, changes, actor)))
        const rows = [...state.states].map(([what, { cap, used, isOwn }]) => {
          return [what, used, cap, isOwn ? 'own' : 'installation']
        })
        print(options, capsAnswer(state), table([['WHAT', 'USED', 'CAP', 'OF'], ...rows]))
      }),
    )
}

/** `organizations create|list|caps`. */
export function addTo(program: Command): void {
  const group = program.command('organizations').description('manage organizations')
  addVerb(group, 'create', 'create an organization with a workspace named `default`')
    .requiredOption('--name <name>', 'name of the organization', nameOf)
    .action((options: Printing & { name: string }) =>
      withDatabase(async ({ store, by }) => {
        const actor = { ...by, operation: 'cli.organizations-create' }
        const { organization, workspace } = need(await createOrganization(store, options, actor))
        print(options, { ...wireOf(organization), default_workspace_id: workspace.id }, organization.id)
      }),
    )
  addCaps(group)
  addVerb(group, 'list', 'list organizations').action((options: Printing) =>
    withDatabase(async ({ store }) => {
      const organizations = need(await listOrganizations(store))
      printList(options, organizations, wireOf, [['ID', 'NAME'], ({ id, name }) => [id, name]])
    }),
  )
}

function wireOf(organization: Organization): object {
  return { id: organization.id, name: organization.name, created_at: organization.createdAt.toISOString() }
}
