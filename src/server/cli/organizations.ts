import type { Command } from 'commander'
import { createOrganization, listOrganizations, type Organization } from '../store/organizations.ts'
import { nameOf, need, withAdmin } from './admin.ts'
import { addVerb, print, table } from './verb.ts'

interface Json {
  readonly json?: boolean
}

/** `organizations create|list`. */
export function addOrganizationVerbs(program: Command): void {
  const group = program.command('organizations').description('organizations of this installation')
  addVerb(group, 'create', 'make an organization with its workspace `default`')
    .requiredOption('--name <name>', 'its name', nameOf)
    .action((options: Json & { name: string }) => withAdmin(async ({ store, by }) => {
      const actor = { ...by, operation: 'cli.organizations-create' }
      const { organization, workspace } = need(await createOrganization(store, options, actor))
      print(options, { ...wireOf(organization), default_workspace_id: workspace.id }, organization.id)
    }))
  addVerb(group, 'list', 'list the organizations')
    .action((options: Json) => withAdmin(async ({ store }) => {
      const organizations = need(await listOrganizations(store))
      const rows = organizations.map(({ id, name }) => [id, name])
      print(options, { data: organizations.map(wireOf) }, table([['ID', 'NAME'], ...rows]))
    }))
}

function wireOf(organization: Organization): object {
  return { id: organization.id, name: organization.name, created_at: organization.createdAt.toISOString() }
}
