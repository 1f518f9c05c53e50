import type { Command } from 'commander'
import type { Workspace } from '../../ports/workspaces/workspaces.ts'
import { findWorkspace } from '../../store/base/find-workspace.ts'
import { findOrganization } from '../../store/workspaces/organizations.ts'
import { need, type DatabaseHandle } from './database.ts'
import type { Printing } from './verb.ts'

/** Options that name the organization or workspace of a verb. */
export interface PlaceOptions extends Printing {
  readonly organization?: string | undefined
  readonly workspace?: string | undefined
}

type Stored = Pick<DatabaseHandle, 'store'>

/** Meanings of a command line without `--organization`. */
const WITHOUT = {
  all: 'default: all organizations',
  only: 'optional if there is only one',
  slug: 'optional if the slug is unique',
} as const

export function inOrganization(verb: Command, without: keyof typeof WITHOUT): Command {
  return verb.option('--organization <ref>', `organization id or name; ${WITHOUT[without]}`)
}

/** Adds the argument that names a workspace, and `--organization`. */
export function ofWorkspace(verb: Command): Command {
  return inOrganization(verb.argument('<workspace>', 'workspace id or slug'), 'slug')
}

/** Id of the named organization; null = all of them. Throws CliFailure. */
export async function organizationIfAny(
  { store }: Stored,
  { organization }: PlaceOptions,
): Promise<string | null> {
  return organization === undefined ? null : need(await findOrganization(store.sql, organization)).id
}

/** Id of the named organization, else of the only organization that exists. Throws CliFailure. */
export async function organizationOf({ store }: Stored, { organization }: PlaceOptions): Promise<string> {
  return need(await findOrganization(store.sql, organization ?? null)).id
}

/**
 * The workspace that a text names in the organization of the options, or in any.
 * @param reference undefined = the default workspace. Throws CliFailure.
 */
export async function workspaceOf(
  database: Stored,
  reference: string | undefined,
  options: PlaceOptions = {},
): Promise<Workspace> {
  const organizationId = await organizationIfAny(database, options)
  return need(await findWorkspace(database.store.sql, reference ?? null, organizationId))
}
