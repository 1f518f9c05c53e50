import type { Command } from 'commander'
import { NAME_CHARS_MAX } from '../../../schemas/workspaces/workspace-limits.ts'
import { AddMembersBody } from '../../../schemas/workspaces/members.ts'
import { memberAnswer } from '../../operations/workspaces/workspace-answers.ts'
import type { MemberGrant } from '../../ports/workspaces/workspaces.ts'
import { addMember, listMembers, removeMember } from '../../store/workspaces/members.ts'
import { nameOf, need, withDatabase } from '../parts/database.ts'
import { ofWorkspace, workspaceOf, type PlaceOptions } from '../parts/places.ts'
import { optionsOf } from '../parts/shape-options.ts'
import { addVerb, print, table } from '../parts/verb.ts'

const ADD = optionsOf(AddMembersBody, { role: '--role <role>' })

/** `members list|add|remove`. */
export function addTo(program: Command): void {
  const group = program.command('members').description('manage workspace members')
  ofWorkspace(addVerb(group, 'list', 'list the members of a workspace')).action(
    (ref: string, options: PlaceOptions) =>
      withDatabase(async (database) => {
        const workspace = await workspaceOf(database, ref, options)
        const page = { limit: ALL, offset: 0 }
        const { rows, totalCount } = await listMembers(database.store.sql, workspace.id, page)
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
  const add = addVerb(group, 'add', 'add a member or change the role of a member; an unknown user is created')
  ADD.addTo(ofWorkspace(add))
    .argument('<user>', `user name, 1 to ${NAME_CHARS_MAX} characters`, nameOf)
    .action((ref: string, userName: string, options: PlaceOptions) =>
      withDatabase(async (database) => {
        const { role = 'member' } = ADD.from(options)
        const workspace = await workspaceOf(database, ref, options)
        const user = need(await addMember(database.store, { workspace, userName, role }, database.by))
        const result = { workspace_id: workspace.id, user_id: user.id, user_name: user.userName, role }
        print(options, result, `${user.userName} is ${role} of ${workspace.slug}`)
      }),
    )
  ofWorkspace(
    addVerb(group, 'remove', 'remove a member who was added with `members add`; other memberships stay'),
  )
    .argument('<user>', 'user name or id')
    .action((ref: string, userName: string, options: PlaceOptions) =>
      withDatabase(async (database) => {
        const { store, by } = database
        const workspace = await workspaceOf(database, ref, options)
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

/** The reason of a membership, with the id of the mapping: `GET /scim/group-mappings/{id}` shows its group. */
function reasonOf({ source, mappingId }: MemberGrant): string {
  return mappingId === null ? source : `${source} ${mappingId}`
}

/** Most members of a list. The command prints lists without pages, and no workspace has more members than this. */
const ALL = 1_000_000
