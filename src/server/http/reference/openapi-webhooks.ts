import { FAILURES } from '../../../schemas/failures.ts'
import { VideoEvent } from '../../../schemas/videos/videos.ts'
import { statusLine } from '../reply/reply.ts'
import type { Json } from './openapi-json.ts'

const GONE: number = FAILURES.video_expired.status[0]

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
})

/** The requests that Sluice sends by itself. B5, C17. */
export const WEBHOOK_SCHEMAS: Json = { VideoEvent }

export const WEBHOOKS: Json = {
  'video.generation': {
    post: {
      operationId: 'video.generation',
      tags: ['videos'],
      summary: 'A video generation job has ended',
      description:
        'Sluice sends the webhook to the `callback_url` of the job or, without one, to the `default_callback_url` of the workspace. Every delivery attempt ' +
        'has the same id and the same body. Verify one of the two signature headers, and reject attempts whose time ' +
        'differs by more than 300 seconds from your clock. While the secret is being rotated, each format has two signatures.',
      // Sluice proves its identity; the receiver's key is not involved.
      security: [],
      parameters: [
        header(
          'x-sluice-signature',
          '`t=<Unix seconds>,v1=<hex>`: HMAC-SHA-256 of `<t>,<body>` with the text of the secret as the key.',
        ),
        header('x-sluice-idempotency-key', 'Idempotency key `<job id>-<status>`, the same on every attempt.'),
        header('webhook-id', 'Standard Webhooks: id of the webhook, the same on every attempt.'),
        header('webhook-timestamp', 'Standard Webhooks: Unix time of this attempt, in seconds.'),
        header(
          'webhook-signature',
          'Standard Webhooks: one or more signatures `v1,<base64>`, separated by spaces.',
        ),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/VideoEvent' } } },
      },
      responses: {
        '2XX': { description: 'Delivered.' },
        [GONE]: { description: `${statusLine(GONE).slice(4)}: no more webhooks are sent to this URL.` },
        default: {
          description:
            'The attempt failed; a redirect also counts as a failure. Sluice makes at most eight attempts.',
        },
      },
    },
  },
}
