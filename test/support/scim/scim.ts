/** Users and groups of an organization as its identity provider manages them. */
import type { Test } from 'tap'
import type { DirectoryActor } from '../../../src/server/ports/scim/directory.ts'
import type {
  ScimGroup,
  ScimQuery,
  ScimUser,
  ScimUsers,
  ScimUserInput,
  ScimGroups,
} from '../../../src/server/ports/scim/scim.ts'
import { openScimGroups } from '../../../src/server/store/scim/scim-groups.ts'
import { openScimUsers } from '../../../src/server/store/scim/scim-users.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../src/server/store/workspaces/organizations.ts'
import { CLI } from '../audit/audit.ts'
import { must } from '../must.ts'
import { openTestStore } from '../stores/postgres.ts'

export interface ScimStand {
  readonly store: Store
  readonly organizationId: string
  readonly workspaceId: string
  /** Of another organization. */
  readonly foreign: DirectoryActor
  readonly by: DirectoryActor
  readonly users: ScimUsers
  readonly groups: ScimGroups
  user(input?: Partial<ScimUserInput>): Promise<ScimUser>
  group(displayName: string, userIds?: readonly string[]): Promise<ScimGroup>
  /** Ids, sorted. */
  members(groupId: string): Promise<readonly string[]>
}

export const EVERYTHING: ScimQuery = {
  filter: null,
  startIndex: 1,
  count: 200,
  sortBy: null,
  isDescending: false,
}

export async function openScimStand(t: Test, poolMax = 4): Promise<ScimStand> {
  const store = await openTestStore(t, poolMax)
  const [own, other] = [
    must(await createOrganization(store, { name: 'o' })),
    must(await createOrganization(store, { name: 'foreign' })),
  ]
  const [users, groups] = [openScimUsers(store), openScimGroups(store)]
  const organizationId = own.organization.id
  const by = { ...CLI, operation: 'scim.test', organizationId }
  let count = 0
  return {
    store,
    organizationId,
    workspaceId: own.workspace.id,
    foreign: { ...by, organizationId: other.organization.id },
    by,
    users,
    groups,
    user: async (input = {}) =>
      must(
        await users.create(
          {
            userName: `user-${(count += 1)}`,
            externalId: null,
            displayName: null,
            isActive: true,
            attributes: {},
            ...input,
          },
          by,
        ),
      ),
    group: async (displayName, userIds = []) =>
      must(await groups.create({ displayName, externalId: null, userIds }, by)),
    members: async (groupId) => {
      const rows = await store.sql<
        { user_id: string }[]
      >`SELECT user_id FROM scim_members WHERE group_id = ${groupId} ORDER BY user_id`
      return rows.map((row) => row.user_id)
    },
  }
}
