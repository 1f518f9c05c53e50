import type { Command } from 'commander'
import { TestWebhookAnswer } from '../../../schemas/webhooks/operator-webhooks.ts'
import type { WebhookReason } from '../../../schemas/webhooks/webhook-deliveries.ts'
import { managementKey } from '../keys/management-key.ts'
import { addNodeOptions, callNode, nodeOrigin, type NodeOptions } from '../parts/node-api.ts'
import { addVerb, loadGeneration, print } from '../parts/verb.ts'

interface Options extends NodeOptions {
  readonly json?: boolean
  readonly workspace?: string
  readonly to?: string
}

/** `test-webhook`: exit code 1 where the receiver did not take the event. */
export function addTestWebhook(program: Command, outcome: { code: number | null }): void {
  const verb = addVerb(
    program,
    'test-webhook',
    'have the node send a signed test event once, and print the answer of the receiver',
  )
    .option('--workspace <ref>', 'id or slug; left out: the default workspace')
    .option('--to <url>', 'where it goes; left out: the callback URL of the workspace')
  addNodeOptions(verb).action(async (options: Options) => {
    const { dataDir } = loadGeneration().config
    const origin = nodeOrigin(options, dataDir)
    const node = { origin, key: managementKey(dataDir, options.keyFile) }
    const { workspace, to } = options
    const body = {
      ...(workspace !== undefined && { workspace_id: workspace }),
      ...(to !== undefined && { url: to }),
    }
    const request = { method: 'POST', path: '/admin/webhooks/test', body } as const
    const answer = await callNode(node, request, TestWebhookAnswer)
    print(options, answer, textOf(answer.data))
    if (!answer.data.delivered) outcome.code = 1
  })
}

const REASONS: Readonly<Record<WebhookReason, string>> = {
  refused: 'webhooks may not go to this address, or its name leads to a forbidden one now',
  unreachable: 'no connection, or none that lasted until the answer',
  timeout: 'no answer in time',
  status: 'the receiver answered with an error: the node would try a delivery again',
  redirect: 'the receiver answered with a redirect, which is never followed',
  gone: 'the receiver answered 410: nothing more of the workspace would go there',
  url_disabled: 'the address answered a delivery with 410 before: `sluice webhooks replay` lifts that',
}

function textOf({
  delivered,
  host,
  status,
  reason,
  duration_ms: ms,
  event_id: id,
}: TestWebhookAnswer['data']): string {
  const answered = status === null ? '' : ` (${status})`
  if (delivered) return `delivered to ${host}${answered} in ${ms} ms\nevent ${id}`
  return `not delivered to ${host}${answered} after ${ms} ms: ${reason === null ? '' : REASONS[reason]}\nevent ${id}`
}
