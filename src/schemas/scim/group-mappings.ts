import Type, { type Static, type TSchema } from 'typebox'
import { HasMore } from '../lists/pages.ts'
import { MEMBER_ROLES } from '../workspaces/workspaces.ts'
import { readableCount } from '../values/readable.ts'
import { SCIM_PAGE_DEFAULT, MAPPING_PREVIEWED_MAX } from './scim-limits.ts'

/** Mappings or groups of a page. B2.5; Decision. */
export const SCIM_PAGE_MAX = 100
/** Mappings or groups that a request for a page may skip. B2.5; Decision. */
export const SCIM_OFFSET_MAX = 1_000_000

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])
const Role = Type.Enum([...MEMBER_ROLES])
const Id = Type.String({ format: 'uuid' })
const Instant = Type.String({ format: 'date-time' })
const Count = Type.Integer({ minimum: 0 })

/** Other members are ignored. */
export const CreateMappingBody = Type.Object({ role: Role, scim_group_id: Id, workspace_id: Id })
export type CreateMappingBody = Static<typeof CreateMappingBody>
export const UpdateMappingBody = Type.Object({ role: Role })
export type UpdateMappingBody = Static<typeof UpdateMappingBody>

export const MappingParams = Type.Object({ id: Id })
/** Parameters of a read. The operation has no status 400, so a text that is not a UUID counts as an unknown id. */
export const ReadMappingParams = Type.Object({ id: Type.String({ minLength: 1 }) })
export const SyncJobParams = Type.Object({ id: Type.String({ minLength: 1 }) })

export const DeleteMappingQuery = Type.Object({
  keep_members: Type.Boolean({
    title: 'true or false',
    description:
      '`true` keeps the members with a manual grant; `false` removes them, unless they have another grant.',
  }),
})

export const ScimPageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: SCIM_PAGE_MAX, default: SCIM_PAGE_DEFAULT })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: SCIM_OFFSET_MAX, default: 0 })),
})

/** A mapping. Every key is present, as existing clients require. §2.7. */
export const MappingShape = Type.Object({
  id: Id,
  scim_group_id: Id,
  workspace_id: Id,
  organization_id: Type.String(),
  role: Role,
  created_at: Instant,
  updated_at: Instant,
})
export type MappingShape = Static<typeof MappingShape>

export const MappingAnswer = Type.Object({ data: MappingShape })
export const MappingListAnswer = Type.Object({
  data: Type.Array(MappingShape),
  total_count: Count,
  has_more: HasMore,
})
export const DeletedMappingAnswer = Type.Object({ deleted: Type.Literal(true) })

export const DirectoryGroupShape = Type.Object({
  id: Id,
  display_name: Type.String(),
  external_id: nullable(Type.String({ description: 'Id of the group at the identity provider.' })),
  organization_id: Type.String(),
  created_at: Instant,
  updated_at: Instant,
})
export type DirectoryGroupShape = Static<typeof DirectoryGroupShape>

export const DirectoryGroupListAnswer = Type.Object({
  data: Type.Array(DirectoryGroupShape),
  total_count: Count,
  has_more: HasMore,
})

export const SyncJobShape = Type.Object({
  id: Id,
  status: Type.Enum(['queued', 'running', 'succeeded', 'failed']),
  created_at: Instant,
  started_at: nullable(Instant),
  finished_at: nullable(Instant),
  synced_groups: nullable(
    Type.Integer({ minimum: 0, description: 'Number of groups whose grants were recomputed so far.' }),
  ),
  deleted_groups: nullable(
    Type.Integer({
      minimum: 0,
      description: 'Number of groups deleted since the last sync.',
    }),
  ),
  error_message: nullable(Type.String()),
})
export type SyncJobShape = Static<typeof SyncJobShape>

export const SyncJobAnswer = Type.Object({ data: SyncJobShape })

/** The members of a mapping, as a query. */
export const MappingPreviewQuery = Type.Object({
  scim_group_id: Type.String({ minLength: 1, description: "Id of the identity provider's group." }),
  workspace_id: Type.String({ minLength: 1, description: 'UUID of the workspace.' }),
  role: Type.Enum([...MEMBER_ROLES], { description: 'Role that the mapping would grant.' }),
})

/** GET /admin/mapping-preview: numbers of group members, by the effect of the mapping on them. */
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
