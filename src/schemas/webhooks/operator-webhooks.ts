import Type, { type Static } from 'typebox'
import { CALLBACK_URL_CHARS_MAX } from '../workspaces/workspace-limits.ts'
import { WEBHOOK_REASONS } from './webhook-deliveries.ts'
import { WEBHOOK_EVENTS_BACK_S_MAX, WEBHOOK_EVENTS_PAGE_MAX } from './webhook-limits.ts'

const Workspace = Type.Optional(
  Type.String({
    minLength: 1,
    pattern: '^[^\\u0000]+$',
    title: 'UUID or slug',
    description: 'UUID or slug of the workspace; defaults to the default workspace.',
  }),
)

/** POST /admin/webhooks/test. Other members are ignored. */
export const TestWebhookBody = Type.Object({
  workspace_id: Workspace,
  url: Type.Optional(
    Type.String({
      maxLength: CALLBACK_URL_CHARS_MAX,
      description: 'URL of the receiver; defaults to the `default_callback_url` of the workspace.',
    }),
  ),
})
export type TestWebhookBody = Static<typeof TestWebhookBody>

export const TestWebhookAnswer = Type.Object({
  data: Type.Object({
    event_id: Type.String({
      format: 'uuid',
      description: 'Id of the event; the header `webhook-id` is `msg_` and this id.',
    }),
    host: Type.String({ description: 'Host of the receiver.' }),
    delivered: Type.Boolean({ description: 'True when the receiver answered 2xx.' }),
    status: Type.Union([Type.Integer(), Type.Null()], {
      description: 'HTTP status of the receiver; null when it did not answer.',
    }),
    reason: Type.Union([Type.Enum([...WEBHOOK_REASONS]), Type.Null()], {
      description: 'Reason why the event was not delivered; null if it was delivered.',
    }),
    duration_ms: Type.Integer({
      minimum: 0,
      description: 'Milliseconds until the answer or the failure.',
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
      description: `\`next\` from the previous answer, at most ${WEBHOOK_EVENTS_BACK_S_MAX} s ago; an older value is raised to that time.`,
    }),
  ),
  seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: WEBHOOK_EVENTS_BACK_S_MAX,
      default: 0,
      description: 'Number of seconds to go back if `after` is absent.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: WEBHOOK_EVENTS_PAGE_MAX,
      default: WEBHOOK_EVENTS_PAGE_MAX,
      description: 'Maximum number of events.',
    }),
  ),
})
export type ListWebhookEventsQuery = Static<typeof ListWebhookEventsQuery>

const WebhookEventShape = Type.Object({
  id: Type.String({
    format: 'uuid',
    description: 'Id of the event, the same in every listing and delivery; use it to skip duplicates.',
  }),
  job_id: Type.String({ description: 'Id of the job that ended.' }),
  created_at: Type.String({ format: 'date-time', description: 'When the job ended.' }),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'Headers of a delivery, with current signatures.',
  }),
  body: Type.String({
    description: 'Exact body of the delivery; its signatures cover this text.',
  }),
})
export type WebhookEventShape = Static<typeof WebhookEventShape>

export const WebhookEventsAnswer = Type.Object({
  data: Type.Array(WebhookEventShape, { description: 'Oldest first.' }),
  has_more: Type.Boolean({ description: 'True when more events are available: call again with `next`.' }),
  next: Type.String({
    description:
      'Value of `after` for the next call. `next` may precede events in this answer, so that late events are not missed.',
  }),
})
export type WebhookEventsAnswer = Static<typeof WebhookEventsAnswer>
