import Type, { type Static } from 'typebox'
import { CALLBACK_URL_CHARS_MAX } from '../workspaces/workspace-limits.ts'
import { WEBHOOK_REASONS } from './webhook-deliveries.ts'
import { WEBHOOK_EVENTS_BACK_S_MAX, WEBHOOK_EVENTS_PAGE_MAX } from './webhook-limits.ts'

const Workspace = Type.Optional(
  Type.String({
    minLength: 1,
    pattern: '^[^\\u0000]+$',
    title: 'UUID or slug',
    description: 'UUID or slug of the workspace. Left out: the default workspace.',
  }),
)

/** POST /admin/webhooks/test. Other members are ignored. C25. */
export const TestWebhookBody = Type.Object({
  workspace_id: Workspace,
  url: Type.Optional(
    Type.String({
      maxLength: CALLBACK_URL_CHARS_MAX,
      description: 'Where the event goes. Left out: the `default_callback_url` of the workspace.',
    }),
  ),
})
export type TestWebhookBody = Static<typeof TestWebhookBody>

export const TestWebhookAnswer = Type.Object({
  data: Type.Object({
    event_id: Type.String({ format: 'uuid', description: '`webhook-id` is this id with `msg_` before it.' }),
    host: Type.String({ description: 'Host of the receiver.' }),
    delivered: Type.Boolean({ description: 'The receiver answered 2xx.' }),
    status: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Status of the answer; null where none came.',
    }),
    reason: Type.Union([Type.Enum([...WEBHOOK_REASONS]), Type.Null()], {
      description: 'Why it was not delivered; null where it was.',
    }),
    duration_ms: Type.Integer({
      minimum: 0,
      description: 'Until the head of the answer came, or until none did.',
    }),
  }),
})
export type TestWebhookAnswer = Static<typeof TestWebhookAnswer>

/** GET /admin/webhooks/events. */
export const ListWebhookEventsQuery = Type.Object({
  workspace_id: Workspace,
  after: Type.Optional(
    Type.String({
      pattern: '^\\d{1,16}\\.(vid_[0-9a-f]{32})?$',
      title: '`next` of an earlier answer',
      description: `\`next\` of the answer before. A place more than ${WEBHOOK_EVENTS_BACK_S_MAX} s ago is moved to that instant.`,
    }),
  ),
  seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: WEBHOOK_EVENTS_BACK_S_MAX,
      default: 0,
      description: 'Without `after`: begin so many seconds ago.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: WEBHOOK_EVENTS_PAGE_MAX,
      default: WEBHOOK_EVENTS_PAGE_MAX,
      description: 'Events at most.',
    }),
  ),
})
export type ListWebhookEventsQuery = Static<typeof ListWebhookEventsQuery>

const WebhookEventShape = Type.Object({
  id: Type.String({
    format: 'uuid',
    description: 'The same each time that the event is listed or delivered: skip the ones that you have.',
  }),
  job_id: Type.String({ description: 'The job that has ended.' }),
  created_at: Type.String({ format: 'date-time', description: 'When the job ended.' }),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'Headers of a delivery of the event, with both signatures as of now.',
  }),
  body: Type.String({
    description: 'The body of a delivery, byte for byte as UTF-8: its signatures are over it.',
  }),
})
export type WebhookEventShape = Static<typeof WebhookEventShape>

export const WebhookEventsAnswer = Type.Object({
  data: Type.Array(WebhookEventShape, { description: 'Oldest first.' }),
  has_more: Type.Boolean({ description: 'There are more events now: ask again with `next`.' }),
  next: Type.String({
    description:
      'To be sent as `after`. It may lie before events of this answer, so that none that was written late is missed.',
  }),
})
export type WebhookEventsAnswer = Static<typeof WebhookEventsAnswer>
