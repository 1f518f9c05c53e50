import { ok } from '../../../schemas/failures.ts'
import {
  ORGANIZATION_ROLE,
  OrganizationMemberListAnswer,
  type OrganizationMemberShape,
} from '../../../schemas/workspaces/members.ts'
import { WorkspacePageQuery } from '../../../schemas/workspaces/workspaces.ts'
import type { OrganizationMember } from '../../ports/workspaces/workspaces.ts'
import { defineOperation } from '../define.ts'
import { pageOf } from './workspace-answers.ts'
import { offsetPage } from '../../../schemas/lists/cut-page.ts'

/** Lists the users of an organization. Source: B2.9. */
export const listOrganizationMembers = defineOperation({
  id: 'organization.list_members',
  method: 'get',
  path: '/organization/members',
  tag: 'workspaces',
  summary: 'List the users of the organization',
  description:
    'Active users, sorted by user name, from the identity provider or created on the command line. Use these ids to add workspace members.',
  input: { query: WorkspacePageQuery },
  success: { status: 200, body: OrganizationMemberListAnswer, isList: true },
  statuses: [404, 500],
  failures: ['query_invalid', 'store_unavailable'],
  example: { query: { limit: 20 } },
  async run(call, { workspaces }) {
    const input = pageOf(call.query)
    const page = await workspaces.users(call.key.organizationId, input)
    if (!page.ok) return page
    return ok({ kind: 'json', value: offsetPage(page.value, input, userAnswer) })
  },
})

/** Clients refuse a user without `email`. B3.1. */
function userAnswer(user: OrganizationMember): OrganizationMemberShape {
  const { id, userName, displayName, email, givenName, familyName } = user
  return {
    id,
    email: email ?? userName,
    first_name: givenName,
    last_name: familyName,
    role: ORGANIZATION_ROLE,
    user_name: userName,
    display_name: displayName,
  }
}
