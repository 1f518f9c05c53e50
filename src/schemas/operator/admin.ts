import Type, { type Static, type TSchema } from 'typebox'
import { HasMore } from '../lists/pages.ts'
import { VIDEO_ID_CHARS_MAX } from '../videos/video-limits.ts'
import { VIDEO_STATUSES } from '../videos/video-jobs.ts'
import { DELIVERY_STATES, WEBHOOK_REASONS } from '../webhooks/webhook-deliveries.ts'
import { readableCount } from '../values/readable.ts'
import {
  ADMIN_FILE_TYPES_MAX,
  ADMIN_FILES_COUNTED_MAX,
  ADMIN_LISTED_MAX,
  ADMIN_PAGE_DEFAULT,
} from './admin-port-limits.ts'

/** Rows of a page of an operator's list. Decision. */
export const ADMIN_PAGE_MAX = 100

const nullable = <T extends TSchema>(shape: T, description?: string) =>
  Type.Union([shape, Type.Null()], description === undefined ? {} : { description })
const Id = Type.String({ format: 'uuid' })
const Instant = Type.String({ format: 'date-time' })
const Count = Type.Integer({ minimum: 0 })
const Listed = Type.Integer({
  minimum: 0,
  description: `Number of rows that match; at most ${readableCount(ADMIN_LISTED_MAX)} are counted and listed.`,
})

const PAGE = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: ADMIN_PAGE_MAX, default: ADMIN_PAGE_DEFAULT })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: ADMIN_LISTED_MAX, default: 0 })),
}
const Workspace = Type.Optional(
  Type.String({
    minLength: 1,
    description:
      'UUID or slug of a workspace, or the UUID of a deleted workspace; defaults to all workspaces of the organization.',
  }),
)

export const AdminSessionAnswer = Type.Object({
  data: Type.Object({
    organization: Type.Object({ id: Id, name: Type.String() }),
    key: Type.Object({
      hash: Type.String(),
      name: Type.String(),
      label: Type.String({ description: 'First and last characters of the key, to identify it.' }),
    }),
    version: Type.String({ description: 'Version of Sluice.' }),
  }),
})

export const AdminJobParams = Type.Object({
  job_id: Type.String({ minLength: 1, maxLength: VIDEO_ID_CHARS_MAX }),
})

export const ListAdminJobsQuery = Type.Object({
  workspace_id: Workspace,
  status: Type.Optional(Type.Enum([...VIDEO_STATUSES])),
  provider: Type.Optional(
    Type.String({ minLength: 1, pattern: '^[^\\u0000]+$', title: 'the slug of a provider' }),
  ),
  ...PAGE,
})
export type ListAdminJobsQuery = Static<typeof ListAdminJobsQuery>

export const AdminJobShape = Type.Object({
  id: Type.String(),
  workspace_id: Id,
  workspace_slug: Type.String({
    description: 'Slug of the workspace; for a deleted workspace, its last slug.',
  }),
  model: Type.String(),
  provider: Type.String(),
  status: Type.Enum([...VIDEO_STATUSES]),
  submissions: Type.Integer({
    minimum: 0,
    description: 'Number of submissions to the provider, including uncertain ones.',
  }),
  polls: Type.Integer({
    minimum: 0,
    description:
      'Number of times that Sluice polled the provider; for an open job, the number can be a few seconds old.',
  }),
  created_at: Instant,
  updated_at: Type.String({ format: 'date-time', description: 'Time of the last step of the job.' }),
  ended_at: nullable(Instant),
  error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  cost_usd: nullable(
    Type.Number(),
    'USD charged; null until the job completes and for models without a price.',
  ),
  delivery: nullable(
    Type.Object({ id: Id, state: Type.Enum([...DELIVERY_STATES]) }),
    'Delivery of the webhook about the end of the job; null if the job has no webhook, or if the delivery does not exist yet or was deleted.',
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
  due_at: nullable(Instant, 'Time of the next attempt; null when the delivery has ended.'),
  ended_at: nullable(Instant),
})
export type AdminDeliveryShape = Static<typeof AdminDeliveryShape>

export const ADMIN_JOB_STEPS = ['accepted', 'submitted', 'running', 'storing', 'ended'] as const
export type AdminJobStep = (typeof ADMIN_JOB_STEPS)[number]

/** GET /admin/jobs/{job_id}: the row of the list and further members, without the prompt, bodies and the callback URL. */
export const AdminJobDetailsShape = Type.Object({
  ...AdminJobShape.properties,
  request_id: Type.String({ description: 'Id of the request that submitted the job.' }),
  key_hash: Type.String({ description: 'Hash of the API key that submitted the job.' }),
  generation_id: nullable(Type.String()),
  endpoint: Type.String(),
  upstream_model: Type.String(),
  upstream_id: nullable(Type.String(), 'Id of the job at the provider.'),
  is_byok: Type.Boolean({ description: "True when the workspace's own provider key is used." }),
  seconds: Count,
  held_usd: nullable(Type.Number(), 'USD reserved while the job is open; null for models without a price.'),
  steps: Type.Array(Type.Object({ step: Type.Enum([...ADMIN_JOB_STEPS]), at: Instant }), {
    description: 'Steps of the job in order; only the latest step of each kind is listed.',
  }),
  lease: nullable(
    Type.Object({ attempt: Count, until: nullable(Instant) }),
    'Lease of an open job by the process that works on it: its number of changes and its end; null when the job has ended.',
  ),
  expires_at: Type.String({
    format: 'date-time',
    description: 'When Sluice abandons the job if the job is still open.',
  }),
  clips: Type.Array(Type.Object({ index: Count, bytes: Count, sha256: Type.String(), created_at: Instant }), {
    description: 'Clips that are still stored.',
  }),
  clips_made: Count,
  clips_expire_at: nullable(Instant),
  callback_host: nullable(Type.String(), 'Host that receives the webhook about the end of the job.'),
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

/** Other members are ignored. */
export const ReplayDeadBody = Type.Object({ workspace_id: Workspace })
export type ReplayDeadBody = Static<typeof ReplayDeadBody>

export const ReplayedAnswer = Type.Object({ data: Type.Object({ replayed: Type.Literal(1) }) })
export const ReplayedDeadAnswer = Type.Object({
  data: Type.Object({
    replayed: Count,
    has_more: Type.Boolean({
      description: 'True when dead letters remain: repeat the call.',
    }),
  }),
})

export const ListAdminStorageQuery = Type.Object({
  workspace_id: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'UUID or slug of one workspace to list, with its files by type; the list is empty if there is no such workspace.',
    }),
  ),
  ...PAGE,
})

export const AdminFileTypeShape = Type.Object({
  mime_type: Type.String(),
  files: Type.Integer({ minimum: 0, description: 'Number of files of this type.' }),
  bytes: Type.Integer({ minimum: 0, description: 'Size of the content of these files in bytes.' }),
})
export type AdminFileTypeShape = Static<typeof AdminFileTypeShape>

export const AdminStorageShape = Type.Object({
  workspace_id: Id,
  slug: Type.String(),
  name: Type.String(),
  files: Type.Integer({
    minimum: 0,
    description: `Number of files, counted up to ${readableCount(ADMIN_FILES_COUNTED_MAX)}.`,
  }),
  bytes: Type.Integer({
    minimum: 0,
    description: 'Total file size in bytes, as counted for the quota: at least 4 KiB per file.',
  }),
  containers_bytes: Type.Integer({
    minimum: 0,
    description:
      'Size in bytes of container files written through Sluice and of their folders, as counted for the quota.',
  }),
  quota_bytes: Count,
  types: Type.Optional(
    Type.Array(AdminFileTypeShape, {
      description:
        `The ${ADMIN_FILE_TYPES_MAX} media types with the most bytes among the newest ${readableCount(ADMIN_FILES_COUNTED_MAX)} files, the largest first; ` +
        'absent unless `workspace_id` is given.',
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
          description: 'Number of objects that the sweep removed or recounted, by kind.',
        }),
      }),
      "The last complete storage sweep; null before the first sweep, and for every organization except the operator's.",
    ),
  }),
  total_count: Count,
})
