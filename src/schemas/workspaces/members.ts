import Type, { type Static, type TSchema } from 'typebox'
import { HasMore } from '../lists/pages.ts'
import { MEMBER_ROLES, MemberShape } from './workspaces.ts'

/** Users that one call may add or remove. Decision. */
export const MEMBERS_AT_ONCE_MAX = 100
/** Characters of a user's id in a call; a longer text matches no user. Decision. */
export const USER_REFERENCE_CHARS_MAX = 100

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])

const UserIds = Type.Array(Type.String({ minLength: 1, maxLength: USER_REFERENCE_CHARS_MAX }), {
  minItems: 1,
  maxItems: MEMBERS_AT_ONCE_MAX,
  description: 'User ids from `GET /organization/members`; a repeated id counts once.',
})

/** Body of POST /workspaces/{id}/members/add. Other members are ignored. */
export const AddMembersBody = Type.Object({
  user_ids: UserIds,
  role: Type.Optional(
    Type.Enum([...MEMBER_ROLES], {
      description: 'Role of the memberships.',
      default: 'member',
    }),
  ),
})
export type AddMembersBody = Static<typeof AddMembersBody>

/** Body of POST /workspaces/{id}/members/remove. Other members are ignored. */
export const RemoveMembersBody = Type.Object({ user_ids: UserIds })
export type RemoveMembersBody = Static<typeof RemoveMembersBody>

export const AddedMembersAnswer = Type.Object({
  added_count: Type.Integer({ minimum: 0, description: 'Number of memberships created or changed.' }),
  data: Type.Array(MemberShape, { description: 'The users named in the call, as members of the workspace.' }),
})
export const RemovedMembersAnswer = Type.Object({
  removed_count: Type.Integer({ minimum: 0, description: 'Number of memberships removed.' }),
})

/** The role of every user; only management keys can manage the organization. Decision. */
export const ORGANIZATION_ROLE = 'org:member'

export const OrganizationMemberShape = Type.Object({
  id: Type.String({ description: 'Id of the user, as used in workspace operations.' }),
  email: Type.String({
    description: 'Email address, or the user name if the identity provider has no email address.',
  }),
  first_name: nullable(
    Type.String({ description: 'First name; null when the identity provider sent none.' }),
  ),
  last_name: nullable(Type.String({ description: 'Last name; null when the identity provider sent none.' })),
  role: Type.Literal(ORGANIZATION_ROLE, {
    description:
      'Always the same value, because Sluice has no organization roles. Management keys act for the organization.',
  }),
  user_name: Type.String(),
  display_name: nullable(Type.String()),
})
export type OrganizationMemberShape = Static<typeof OrganizationMemberShape>

export const OrganizationMemberListAnswer = Type.Object({
  data: Type.Array(OrganizationMemberShape),
  total_count: Type.Integer({ minimum: 0 }),
  has_more: HasMore,
})
