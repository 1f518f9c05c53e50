import type { Command } from 'commander'
import { TestWebhookAnswer, TestWebhookBody } from '../../../schemas/webhooks/operator-webhooks.ts'
import type { WebhookReason } from '../../../schemas/webhooks/webhook-deliveries.ts'
import { managementKey } from '../keys/management-key.ts'
import { addNodeOptions, callNode, nodeOrigin, type NodeOptions } from '../parts/node-api.ts'
import { optionsOf } from '../parts/shape-options.ts'
import { addVerb, loadGeneration, print, type Printing } from '../parts/verb.ts'

const BODY = optionsOf(TestWebhookBody, { workspace_id: '--workspace <ref>', url: '--to <url>' })

/** `test-webhook`: exit code 1 when the receiver did not accept the event. */
export function addTo(program: Command, outcome: { code: number | null }): void {
  const verb = addVerb(
    program,
    'test-webhook',
    'send a signed test event once and print the answer from the receiver',
  )
  addNodeOptions(BODY.addTo(verb)).action(async (options: NodeOptions & Printing) => {
    const { dataDir } = loadGeneration().config
    const origin = nodeOrigin(options, dataDir)
    const node = { origin, key: managementKey(dataDir, options.keyFile) }
    const request = { method: 'POST', path: '/admin/webhooks/test', body: BODY.from(options) } as const
    const answer = await callNode(node, request, TestWebhookAnswer)
    print(options, answer, textOf(answer.data))
    if (!answer.data.delivered) outcome.code = 1
  })
}

const REASONS: Readonly<Record<WebhookReason, string>> = {
  refused: 'webhooks cannot be sent to this address',
  unreachable: 'no connection, or the connection broke before the answer',
  timeout: 'no answer in time',
  status: 'the receiver returned an error: the node would retry a real delivery',
  redirect: 'the receiver returned a redirect, which Sluice never follows',
  gone: 'the receiver returned 410: the node would stop sending webhooks of the workspace there',
  url_disabled: 'the address returned 410 to an earlier delivery: `sluice webhooks replay` sends to it again',
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
  if (delivered) return `delivered to ${host}${answered} in ${ms} ms\nevent id: ${id}`
  return `not delivered to ${host}${answered} after ${ms} ms: ${reason === null ? '' : REASONS[reason]}\nevent id: ${id}`
}
