import { Option, type Command } from 'commander'
import { NAME_CHARS_MAX } from '../../../schemas/workspaces/workspace-limits.ts'
import { MEMBER_ROLES, type MemberRole } from '../../../schemas/workspaces/workspaces.ts'
import { memberAnswer } from '../../operations/workspaces/workspace-answers.ts'
import type { MemberGrant, Workspace } from '../../ports/workspaces/workspaces.ts'
import { addMember, listMembers, removeMember } from '../../store/workspaces/members.ts'
import type { Store } from '../../store/base/open.ts'
import { findOrganization } from '../../store/workspaces/organizations.ts'
import { findWorkspace } from '../../store/base/find-workspace.ts'
import { nameOf, need, withDatabase } from '../parts/database.ts'
import { addVerb, print, table } from '../parts/verb.ts'

interface Options {
  readonly json?: boolean
  readonly organization?: string
}

/** `members list|add|remove`. */
export function addMemberVerbs(program: Command): void {
  const group = program.command('members').description('manage workspace members')
  ofWorkspace(group, 'list', 'list the members of a workspace').action((ref: string, options: Options) =>
    withDatabase(async ({ store }) => {
      const workspace = await workspaceOf(store, ref, options)
      const { rows, totalCount } = await listMembers(store.sql, workspace.id, { limit: ALL, offset: 0 })
      const lines = rows.map(({ userName, role, grants, userId }) => [
        userName,
        role,
        grants.map(reasonOf).join(', '),
        userId,
      ])
      print(
        options,
        { data: rows.map(memberAnswer), total_count: totalCount },
        table([['USER', 'ROLE', 'BY', 'ID'], ...lines]),
      )
    }),
  )
  ofWorkspace(group, 'add', 'add a member or change the role of a member; an unknown user is created')
    .argument('<user>', `user name, 1 to ${NAME_CHARS_MAX} characters`, nameOf)
    .addOption(new Option('--role <role>', 'role of the member').choices([...MEMBER_ROLES]).default('member'))
    .action((ref: string, userName: string, options: Options & { role: MemberRole }) =>
      withDatabase(async ({ store, by }) => {
        const workspace = await workspaceOf(store, ref, options)
        const user = need(await addMember(store, { workspace, userName, role: options.role }, by))
        const result = {
          workspace_id: workspace.id,
          user_id: user.id,
          user_name: user.userName,
          role: options.role,
        }
        print(options, result, `${user.userName} is ${options.role} of ${workspace.slug}`)
      }),
    )
  ofWorkspace(group, 'remove', 'remove a member who was added with `members add`; other memberships stay')
    .argument('<user>', 'user name or id')
    .action((ref: string, userName: string, options: Options) =>
      withDatabase(async ({ store, by }) => {
        const workspace = await workspaceOf(store, ref, options)
        const user = need(await removeMember(store, { workspace, userName }, by), {
          name: userName,
          list: `members list ${ref}`,
        })
        const result = {
          workspace_id: workspace.id,
          user_id: user.id,
          user_name: user.userName,
          removed: true,
        }
        print(options, result, `removed ${user.userName} from ${workspace.slug}`)
      }),
    )
}

/**
 * The reason of a membership, with the id of the mapping: `GET /scim/group-mappings/{id}` shows its group.
 */
function reasonOf({ source, mappingId }: MemberGrant): string {
  return mappingId === null ? source : `${source} ${mappingId}`
}

/**
 * Most members of a list. A list for a person or a script has no pages, and no workspace has more members.
 */
const ALL = 1_000_000

function ofWorkspace(group: Command, name: string, description: string): Command {
  return addVerb(group, name, description)
    .argument('<workspace>', 'workspace id or slug')
    .option('--organization <ref>', 'organization id or name; optional if the slug is unique')
}

async function workspaceOf(store: Store, ref: string, { organization }: Options): Promise<Workspace> {
  const organizationId =
    organization === undefined ? null : need(await findOrganization(store.sql, organization)).id
  return need(await findWorkspace(store.sql, ref, organizationId))
}
