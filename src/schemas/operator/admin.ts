import Type, { type Static, type TSchema } from 'typebox'
import {
  ADMIN_FILE_TYPES_MAX,
  ADMIN_FILES_COUNTED_MAX,
  ADMIN_LISTED_MAX,
  ADMIN_PAGE_DEFAULT,
  ADMIN_PAGE_MAX,
} from './admin-limits.ts'
import { HasMore } from '../lists/pages.ts'
import { VIDEO_ID_CHARS_MAX } from '../videos/video-limits.ts'
import { VIDEO_STATUSES } from '../videos/video-jobs.ts'
import { DELIVERY_STATES, WEBHOOK_REASONS } from '../webhooks/webhook-deliveries.ts'

const nullable = <T extends TSchema>(shape: T, description?: string) =>
  Type.Union([shape, Type.Null()], description === undefined ? {} : { description })
const Id = Type.String({ format: 'uuid' })
const Instant = Type.String({ format: 'date-time' })
const Count = Type.Integer({ minimum: 0 })
const Listed = Type.Integer({
  minimum: 0,
  description: `Rows that match; at most ${ADMIN_LISTED_MAX} are counted, and listed.`,
})

const PAGE = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: ADMIN_PAGE_MAX, default: ADMIN_PAGE_DEFAULT })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: ADMIN_LISTED_MAX, default: 0 })),
}
const Workspace = Type.Optional(
  Type.String({
    minLength: 1,
    description:
      'UUID or slug; one that was deleted is found by its UUID. Left out: all of the organization.',
  }),
)

/** GET /admin/session. */
export const AdminSessionAnswer = Type.Object({
  data: Type.Object({
    organization: Type.Object({ id: Id, name: Type.String() }),
    key: Type.Object({
      hash: Type.String(),
      name: Type.String(),
      label: Type.String({ description: 'What people know the key by.' }),
    }),
    version: Type.String({ description: 'Of this Sluice.' }),
  }),
})

export const AdminJobParams = Type.Object({
  job_id: Type.String({ minLength: 1, maxLength: VIDEO_ID_CHARS_MAX }),
})

export const ListAdminJobsQuery = Type.Object({
  workspace_id: Workspace,
  status: Type.Optional(Type.Enum([...VIDEO_STATUSES])),
  provider: Type.Optional(
    Type.String({ minLength: 1, pattern: '^[^\\u0000]+$', title: 'slug of a provider' }),
  ),
  ...PAGE,
})
export type ListAdminJobsQuery = Static<typeof ListAdminJobsQuery>

export const AdminJobShape = Type.Object({
  id: Type.String(),
  workspace_id: Id,
  workspace_slug: Type.String({ description: 'The last one, of a workspace that was deleted.' }),
  model: Type.String(),
  provider: Type.String(),
  status: Type.Enum([...VIDEO_STATUSES]),
  submissions: Type.Integer({
    minimum: 0,
    description: 'Times that it was brought to its provider, or may have been.',
  }),
  polls: Type.Integer({
    minimum: 0,
    description: 'Times that its provider was asked for it; of an open job as it stood some seconds ago.',
  }),
  created_at: Instant,
  updated_at: Type.String({ format: 'date-time', description: 'Of its last step.' }),
  ended_at: nullable(Instant),
  error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  cost_usd: nullable(Type.Number(), 'Null until it has completed, and of a model without a price.'),
  delivery: nullable(
    Type.Object({ id: Id, state: Type.Enum([...DELIVERY_STATES]) }),
    'Of the webhook that tells of its end; null: nobody is told, or not yet, or it is no longer kept.',
  ),
})
export type AdminJobShape = Static<typeof AdminJobShape>

export const AdminJobListAnswer = Type.Object({
  data: Type.Array(AdminJobShape, { description: 'Newest first.' }),
  total_count: Listed,
  has_more: HasMore,
})

/** A delivery as operators see it: only the host of its address, since the rest may be a caller's secret. */
export const AdminDeliveryShape = Type.Object({
  id: Id,
  workspace_id: Id,
  workspace_slug: Type.String(),
  job_id: Type.String(),
  host: Type.String(),
  state: Type.Enum([...DELIVERY_STATES]),
  attempts: Count,
  last_status: nullable(Type.Integer()),
  last_reason: nullable(Type.Enum([...WEBHOOK_REASONS])),
  created_at: Instant,
  due_at: nullable(Instant, 'Of the next attempt; null of one that has ended.'),
  ended_at: nullable(Instant),
})
export type AdminDeliveryShape = Static<typeof AdminDeliveryShape>

export const ADMIN_JOB_STEPS = ['accepted', 'submitted', 'running', 'storing', 'ended'] as const
export type AdminJobStep = (typeof ADMIN_JOB_STEPS)[number]

/**
 * GET /admin/jobs/{job_id}: the row of the list and further facts; never the prompt, a body or a callback
 * URL.
 */
export const AdminJobDetailsShape = Type.Object({
  ...AdminJobShape.properties,
  request_id: Type.String({ description: 'Of the call that asked for it.' }),
  key_hash: Type.String({ description: 'Of the key that asked for it.' }),
  generation_id: nullable(Type.String()),
  endpoint: Type.String(),
  upstream_model: Type.String(),
  upstream_id: nullable(Type.String(), 'Id of the job at its provider.'),
  is_byok: Type.Boolean({ description: "It is made with the workspace's own key for the provider." }),
  seconds: Count,
  held_usd: nullable(Type.Number(), 'What is held for it while it is open; null of a model without a price.'),
  steps: Type.Array(Type.Object({ step: Type.Enum([...ADMIN_JOB_STEPS]), at: Instant }), {
    description: 'In their order; the last one of each kind.',
  }),
  lease: nullable(
    Type.Object({ attempt: Count, until: nullable(Instant) }),
    "Of an open job: how often it changed hands, and until when it is a runner's, or when it is due again; null at a workspace that was deleted.",
  ),
  expires_at: Type.String({ format: 'date-time', description: 'When it is given up, if it is open then.' }),
  clips: Type.Array(Type.Object({ index: Count, bytes: Count, sha256: Type.String(), created_at: Instant }), {
    description: 'Those that are kept still.',
  }),
  clips_made: Count,
  clips_expire_at: nullable(Instant),
  callback_host: nullable(Type.String(), 'Where its end is told.'),
  deliveries: Type.Array(AdminDeliveryShape),
})
export type AdminJobDetailsShape = Static<typeof AdminJobDetailsShape>

export const AdminJobAnswer = Type.Object({ data: AdminJobDetailsShape })

export const ListAdminWebhooksQuery = Type.Object({
  workspace_id: Workspace,
  state: Type.Optional(Type.Enum([...DELIVERY_STATES])),
  ...PAGE,
})
export type ListAdminWebhooksQuery = Static<typeof ListAdminWebhooksQuery>

export const AdminWebhookListAnswer = Type.Object({
  data: Type.Array(AdminDeliveryShape, { description: 'Newest first.' }),
  total_count: Listed,
  has_more: HasMore,
})

export const AdminWebhookParams = Type.Object({ id: Type.String({ minLength: 1 }) })

/** Other members are ignored. C25. */
export const ReplayDeadBody = Type.Object({ workspace_id: Workspace })
export type ReplayDeadBody = Static<typeof ReplayDeadBody>

export const ReplayedAnswer = Type.Object({ data: Type.Object({ replayed: Type.Literal(1) }) })
export const ReplayedDeadAnswer = Type.Object({
  data: Type.Object({
    replayed: Count,
    has_more: Type.Boolean({
      description: 'There are dead letters that this call did not come to: repeat it.',
    }),
  }),
})

export const ListAdminStorageQuery = Type.Object({
  workspace_id: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'UUID or slug: that workspace alone, with its files by type; none where it is not known.',
    }),
  ),
  ...PAGE,
})

export const AdminFileTypeShape = Type.Object({
  mime_type: Type.String(),
  files: Type.Integer({ minimum: 0, description: 'How many are of this type.' }),
  bytes: Type.Integer({ minimum: 0, description: 'Of their content.' }),
})
export type AdminFileTypeShape = Static<typeof AdminFileTypeShape>

export const AdminStorageShape = Type.Object({
  workspace_id: Id,
  slug: Type.String(),
  name: Type.String(),
  files: Type.Integer({ minimum: 0, description: `At most ${ADMIN_FILES_COUNTED_MAX} are counted.` }),
  bytes: Type.Integer({
    minimum: 0,
    description: 'Of its files, as the quota counts them: 4 KiB each at least.',
  }),
  containers_bytes: Type.Integer({
    minimum: 0,
    description:
      'Of files that were put into containers through Sluice, and of their folders, as the quota counts them too.',
  }),
  quota_bytes: Count,
  types: Type.Optional(
    Type.Array(AdminFileTypeShape, {
      description:
        `Of its newest ${ADMIN_FILES_COUNTED_MAX} files, the largest ${ADMIN_FILE_TYPES_MAX} types first; ` +
        'left out unless `workspace_id` is given.',
    }),
  ),
})
export type AdminStorageShape = Static<typeof AdminStorageShape>

export const AdminStorageAnswer = Type.Object({
  data: Type.Object({
    workspaces: Type.Array(AdminStorageShape, { description: 'Oldest first.' }),
    sweep: nullable(
      Type.Object({
        ended_at: Instant,
        report: Type.Record(Type.String(), Count, {
          description: 'What the sweep has removed or counted anew, by kind.',
        }),
      }),
      'The last whole sweep of the installation, for the organization that operates it; null for others, and where there was none yet.',
    ),
  }),
  total_count: Count,
})
