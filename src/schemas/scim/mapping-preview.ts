import Type, { type Static } from 'typebox'
import { MEMBER_ROLES } from '../workspaces/workspaces.ts'
import { MAPPING_PREVIEWED_MAX } from './mapping-limits.ts'
import { readableCount } from '../values/readable.ts'

/** What a mapping is made of, as a query. */
export const MappingPreviewQuery = Type.Object({
  scim_group_id: Type.String({ minLength: 1, description: "Id of the identity provider's group." }),
  workspace_id: Type.String({ minLength: 1, description: 'UUID of the workspace.' }),
  role: Type.Enum([...MEMBER_ROLES], { description: 'Role that the mapping would grant.' }),
})

/** GET /admin/mapping-preview: members of the group, by what the mapping would do to them. */
export const MappingPreviewShape = Type.Object({
  joining: Type.Integer({ minimum: 0, description: 'Number of users who would become members.' }),
  promoted: Type.Integer({ minimum: 0, description: 'Number of members who would become admins.' }),
  unchanged: Type.Integer({
    minimum: 0,
    description: 'Number of members who already have the role or a stronger role.',
  }),
  inactive: Type.Integer({
    minimum: 0,
    description: 'Number of inactive users, who do not get a membership until they are active.',
  }),
  is_cut: Type.Boolean({
    description: `True when the group has more than ${readableCount(MAPPING_PREVIEWED_MAX)} members.`,
  }),
})
export type MappingPreviewShape = Static<typeof MappingPreviewShape>

export const MappingPreviewAnswer = Type.Object({ data: MappingPreviewShape })
