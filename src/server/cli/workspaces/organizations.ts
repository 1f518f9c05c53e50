import { InvalidArgumentError, type Command } from 'commander'
import { CAP_MAX } from '../../../schemas/operator/caps.ts'
import { capsAnswer } from '../../operations/operator/caps-answers.ts'
import type { CapChanges } from '../../ports/operator/caps.ts'
import { openCaps } from '../../store/base/caps.ts'
import {
  createOrganization,
  findOrganization,
  listOrganizations,
  type Organization,
} from '../../store/workspaces/organizations.ts'
import { nameOf, need, withDatabase } from '../parts/database.ts'
import { addVerb, print, table } from '../parts/verb.ts'

interface Json {
  readonly json?: boolean
}

/** Value that removes an organization's own cap. The parser of options cannot return null. */
const DEFAULT = 'default'

interface CapsOptions
  extends
    Json,
    Partial<Record<'workspaces' | 'apiKeys' | 'interns' | 'vaults' | 'secrets', number | typeof DEFAULT>> {}

function addCaps(group: Command): void {
  addVerb(group, 'caps', 'show the limits of an organization and their use, or change limits')
    .argument('<ref>', 'organization id or name')
    .option('--workspaces <count>', 'maximum number of workspaces, or default', capOf)
    .option('--api-keys <count>', 'maximum number of API keys, or default', capOf)
    .option('--interns <count>', 'maximum number of interns (records of agents), or default', capOf)
    .option('--vaults <count>', 'maximum number of attachable vaults, or default', capOf)
    .option('--secrets <count>', 'maximum number of secrets in attachable vaults, or default', capOf)
    .action((ref: string, { json, apiKeys, ...others }: CapsOptions) =>
      withDatabase(async ({ store, by }) => {
        const { id } = need(await findOrganization(store.sql, ref))
        const named = Object.entries({ ...others, ...(apiKeys !== undefined && { api_keys: apiKeys }) })
        const changes: CapChanges = Object.fromEntries(
          named.map(([what, cap]) => [what, cap === DEFAULT ? null : cap]),
        )
        const caps = openCaps(store)
        const actor = { ...by, operation: 'cli.organizations-caps' }
        const state = need(await (named.length === 0 ? caps.read(id) : caps.update(id, changes, actor)))
        const rows = [...state.states].map(([what, { cap, used, isOwn }]) => [
          what,
          String(used),
          String(cap),
          isOwn ? 'own' : 'installation',
        ])
        print(
          { ...(json !== undefined && { json }) },
          capsAnswer(state),
          table([['WHAT', 'USED', 'CAP', 'OF'], ...rows]),
        )
      }),
    )
}

function capOf(text: string): number | typeof DEFAULT {
  if (text === DEFAULT) return DEFAULT
  const count = Number(text)
  if (!/^\d+$/.test(text) || count > CAP_MAX)
    throw new InvalidArgumentError(`Expected a whole number from 0 to ${CAP_MAX}, or default.`)
  return count
}

/** `organizations create|list|caps`. */
export function addOrganizationVerbs(program: Command): void {
  const group = program.command('organizations').description('manage organizations')
  addVerb(group, 'create', 'create an organization with a workspace named `default`')
    .requiredOption('--name <name>', 'name of the organization', nameOf)
    .action((options: Json & { name: string }) =>
      withDatabase(async ({ store, by }) => {
        const actor = { ...by, operation: 'cli.organizations-create' }
        const { organization, workspace } = need(await createOrganization(store, options, actor))
        print(options, { ...wireOf(organization), default_workspace_id: workspace.id }, organization.id)
      }),
    )
  addCaps(group)
  addVerb(group, 'list', 'list organizations').action((options: Json) =>
    withDatabase(async ({ store }) => {
      const organizations = need(await listOrganizations(store))
      const rows = organizations.map(({ id, name }) => [id, name])
      print(options, { data: organizations.map(wireOf) }, table([['ID', 'NAME'], ...rows]))
    }),
  )
}

function wireOf(organization: Organization): object {
  return { id: organization.id, name: organization.name, created_at: organization.createdAt.toISOString() }
}
