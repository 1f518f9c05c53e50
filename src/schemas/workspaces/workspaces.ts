import Type, { type Static, type TSchema } from 'typebox'
import {
  CALLBACK_URL_CHARS_MAX,
  DESCRIPTION_CHARS_MAX,
  NAME_CHARS_MAX,
  SLUG_CHARS_MAX,
  WORKSPACES_OFFSET_MAX,
  WORKSPACES_PAGE_DEFAULT,
  WORKSPACES_PAGE_MAX,
} from './workspace-limits.ts'
import { CALL_LIMIT_FIELDS, CallLimits } from '../limits/model-calls.ts'
import { OrganizationId } from '../operator/caps.ts'
import { HasMore } from '../lists/pages.ts'

/** Characters of a workspace setting that Sluice stores for its clients without using it. Decision. */
export const KEPT_TEXT_CHARS_MAX = 256
/** Entries of a list in a workspace setting that Sluice stores for its clients without using it. Decision. */
export const KEPT_LIST_MAX = 1_000

/** B2.9; not a UUID, since a slug of that form would hide the workspace with that id. */
const SLUG_SHAPE = /^(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$)[a-z0-9]+(?:-[a-z0-9]+)*$/

export function isSlug(text: string): boolean {
  return text.length <= SLUG_CHARS_MAX && SLUG_SHAPE.test(text)
}

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])
const optional = <T extends TSchema>(shape: T) => Type.Optional(shape)

/** The store's texts may contain any character but U+0000. */
const Name = Type.String({
  minLength: 1,
  maxLength: NAME_CHARS_MAX,
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000]*$',
  title: `a string of 1 to ${NAME_CHARS_MAX} characters that is not blank`,
})
const Slug = Type.String({
  minLength: 1,
  maxLength: SLUG_CHARS_MAX,
  pattern: SLUG_SHAPE.source,
  title: `a string of 1 to ${SLUG_CHARS_MAX} lower-case letters and digits, joined by single hyphens, and not a UUID`,
})
const Description = Type.String({
  maxLength: DESCRIPTION_CHARS_MAX,
  pattern: '^[^\\u0000]*$',
  title: `a string of at most ${DESCRIPTION_CHARS_MAX} characters`,
})
const KeptText = Type.String({
  minLength: 1,
  maxLength: KEPT_TEXT_CHARS_MAX,
  pattern: '^[!-~]+$',
  title: `a string of 1 to ${KEPT_TEXT_CHARS_MAX} visible ASCII characters`,
})

/** Settings that existing clients write and read; Sluice stores them without using them. */
const KEPT = {
  default_text_model: nullable(KeptText),
  default_image_model: nullable(KeptText),
  default_provider_sort: nullable(KeptText),
  io_logging_sampling_rate: Type.Number({ minimum: 0.0001, maximum: 1 }),
  io_logging_api_key_ids: nullable(Type.Array(Type.Integer(), { maxItems: KEPT_LIST_MAX })),
  is_observability_io_logging_enabled: Type.Boolean(),
  is_observability_broadcast_enabled: Type.Boolean(),
  is_data_discount_logging_enabled: Type.Boolean(),
  disabled_server_tools: Type.Array(KeptText, { maxItems: KEPT_LIST_MAX }),
}
const KeptSettings = Type.Partial(Type.Object(KEPT))
export type KeptSettings = Static<typeof KeptSettings>

export const KEPT_NAMES = Object.keys(KEPT) as readonly (keyof KeptSettings)[]

/** Sluice's own fields, in addition to those that existing clients know. */
const EXTENSION = {
  default_callback_url: nullable(
    Type.String({
      maxLength: CALLBACK_URL_CHARS_MAX,
      description: 'Default URL for webhooks: HTTPS, without credentials, at a public address.',
    }),
  ),
  programme: Type.Boolean({
    description: 'True when interns and their vaults are enabled; otherwise, their operations return 404.',
  }),
  vault_writes: Type.Boolean({
    description: 'True when vaults may be changed; otherwise, changes return 503.',
  }),
  storage_quota_bytes: nullable(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        "Maximum total size in bytes of files and container folders, each counted as at least 4 KiB; null for the installation's default.",
    }),
  ),
}

const CHANGEABLE = {
  description: optional(nullable(Description)),
  ...KeptSettings.properties,
  ...Type.Partial(Type.Object(EXTENSION)).properties,
  ...CALL_LIMIT_FIELDS,
  include_byok_in_budgets: optional(
    Type.Boolean({
      description: "True when calls with the workspace's own provider keys count against its budgets.",
    }),
  ),
}

/** Other members are ignored. */
export const CreateWorkspaceBody = Type.Object({ name: Name, slug: Slug, ...CHANGEABLE })
export type CreateWorkspaceBody = Static<typeof CreateWorkspaceBody>

/** Omitted members keep their value. */
export const UpdateWorkspaceBody = Type.Object({
  organization_id: optional(OrganizationId),
  name: optional(Name),
  slug: optional(Slug),
  ...CHANGEABLE,
})
export type UpdateWorkspaceBody = Static<typeof UpdateWorkspaceBody>

const Reference = Type.String({ minLength: 1, description: 'UUID or slug of the workspace.' })
export const WorkspaceParams = Type.Object({ id: Reference })
export const WorkspaceRefParams = Type.Object({ workspace_ref: Reference })

export const WorkspacePageQuery = Type.Object({
  limit: optional(
    Type.Integer({ minimum: 1, maximum: WORKSPACES_PAGE_MAX, default: WORKSPACES_PAGE_DEFAULT }),
  ),
  offset: optional(Type.Integer({ minimum: 0, maximum: WORKSPACES_OFFSET_MAX, default: 0 })),
})
export type WorkspacePageQuery = Static<typeof WorkspacePageQuery>

export const DeleteWorkspaceQuery = Type.Object({
  confirm_default_workspace_deletion: optional(
    Type.Boolean({
      default: false,
      description:
        'Set to true to delete the default workspace; the oldest other workspace becomes the default.',
    }),
  ),
})

const Instant = Type.String({ format: 'date-time' })

/** A workspace. Every key but the last two is present, as existing clients require. */
export const WorkspaceShape = Type.Object({
  id: Type.String(),
  name: Type.String(),
  slug: Type.String(),
  description: nullable(Type.String()),
  created_by: nullable(
    Type.String({
      description: 'Hash of the API key, or name of the operating-system user of the command line.',
    }),
  ),
  created_at: Instant,
  updated_at: nullable(Instant),
  is_default: Type.Boolean(),
  default_guardrail_id: Type.String({
    description:
      'The id of the workspace, because existing clients require a value; Sluice has no guardrails.',
  }),
  default_text_model: KEPT.default_text_model,
  default_image_model: KEPT.default_image_model,
  default_provider_sort: KEPT.default_provider_sort,
  io_logging_api_key_ids: KEPT.io_logging_api_key_ids,
  io_logging_sampling_rate: KEPT.io_logging_sampling_rate,
  is_observability_io_logging_enabled: Type.Boolean(),
  is_observability_broadcast_enabled: Type.Boolean(),
  is_data_discount_logging_enabled: Type.Boolean(),
  ...EXTENSION,
  ...CallLimits.properties,
  include_byok_in_budgets: CHANGEABLE.include_byok_in_budgets,
  disabled_server_tools: optional(KEPT.disabled_server_tools),
})
export type WorkspaceShape = Static<typeof WorkspaceShape>

export const WorkspaceAnswer = Type.Object({ data: WorkspaceShape })
export const WorkspaceListAnswer = Type.Object({
  data: Type.Array(WorkspaceShape),
  total_count: Type.Integer(),
  has_more: HasMore,
})
export const DeletedWorkspaceAnswer = Type.Object({ deleted: Type.Literal(true) })

export const MEMBER_ROLES = ['admin', 'member'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]

const Role = Type.Enum([...MEMBER_ROLES])

export const MemberShape = Type.Object({
  id: Type.String({ description: 'Id of the membership, made of the workspace id and the user id.' }),
  workspace_id: Type.String(),
  user_id: Type.String(),
  user_name: Type.String(),
  display_name: nullable(Type.String()),
  email: nullable(Type.String()),
  role: Type.Enum([...MEMBER_ROLES], { description: 'Strongest role of the grants.' }),
  grants: Type.Array(
    Type.Object({
      source: Type.Enum(['manual', 'mapping']),
      mapping_id: nullable(Type.String({ description: 'Id of the group mapping; null for a manual grant.' })),
      role: Role,
      created_at: Instant,
    }),
  ),
  created_at: Type.String({ format: 'date-time', description: 'When the first grant was given.' }),
})
export type MemberShape = Static<typeof MemberShape>

export const MemberListAnswer = Type.Object({
  data: Type.Array(MemberShape),
  total_count: Type.Integer(),
  has_more: HasMore,
})
