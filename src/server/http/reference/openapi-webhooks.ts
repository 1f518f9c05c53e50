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
        'Sent to the `callback_url` of the job, or else to the `default_callback_url` of the workspace. Every attempt ' +
        'has the same id and the same bytes. Verify one of the two signature headers, and reject attempts whose time ' +
        'differs by more than 300 seconds from yours. While the secret is being rotated, each format has two signatures.',
      // Sluice proves its identity; the receiver's key is not involved.
      security: [],
      parameters: [
        header(
          'x-sluice-signature',
          '`t=<Unix seconds>,v1=<hex>`: HMAC-SHA-256 of `<t>,<body>` under the text of the secret.',
        ),
        header('x-sluice-idempotency-key', '`<job id>-<status>`: the same on every attempt.'),
        header('webhook-id', 'Standard Webhooks: the same on every attempt.'),
        header('webhook-timestamp', 'Standard Webhooks: Unix seconds of this attempt.'),
        header('webhook-signature', 'Standard Webhooks: `v1,<base64>`, several separated by spaces.'),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/VideoEvent' } } },
      },
      responses: {
        '2XX': { description: 'Delivered.' },
        [GONE]: { description: `${statusLine(GONE).slice(4)}: nothing more is sent to this address.` },
        default: { description: 'A failed attempt, redirects too; there are eight in all.' },
      },
    },
  },
}
