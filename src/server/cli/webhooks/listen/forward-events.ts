import { setTimeout as after } from 'node:timers/promises'
import {
  WebhookEventsAnswer,
  type WebhookEventShape,
} from '../../../../schemas/webhooks/operator-webhooks.ts'
import { verifySignatures, type Verified } from '../../../../schemas/webhooks/webhook-verification.ts'
import {
  WEBHOOK_ANSWER_BYTES_MAX,
  WEBHOOK_ATTEMPT_MS_MAX,
} from '../../../../schemas/webhooks/webhook-limits.ts'
import { connectionReason } from '../../../supervisor/admin-port/answer-text.ts'
import { callHttp } from '../../../supervisor/admin-port/http-call.ts'
import { callNode, NodeAway, type NodeAddress } from '../../parts/node-api.ts'

/** Milliseconds between two questions for events. Decision. */
const ASK_MS = 1_000
/** Ids of events that are kept, to know them when they come again. Decision. */
const FORWARDED_IDS_MAX = 10_000

export interface Forwarding {
  readonly node: NodeAddress
  /** UUID or slug; null: the default workspace. */
  readonly workspace: string | null
  /** Where events go. */
  readonly to: URL
  /** Texts of signing secrets; empty: nothing is verified. */
  readonly secrets: readonly string[]
  /** Seconds before now at which events begin. */
  readonly backS: number
  /** Events to forward; Infinity: until the process ends. */
  readonly count: number
  onForwarded(forwarded: Forwarded): void
  /** The node does not answer; called once for each time that it goes away. */
  onTrouble(message: string): void
}

/** What became of one event. */
export interface Forwarded {
  readonly event: WebhookEventShape
  /** Null: there was no secret to verify by. */
  readonly verified: Verified | null
  /** Status of the receiver; null: it did not answer, for `reason`. */
  readonly status: number | null
  readonly reason: string | null
}

/**
 * Asks a node for events of ended jobs and sends each once to a receiver, one after the other. Rejects with
 * CliFailure when the node refuses the question.
 */
export async function forwardEvents(forwarding: Forwarding): Promise<void> {
  const { workspace, backS, count } = forwarding
  const seen = new Set<string>()
  const own: Readonly<Record<string, string>> = workspace === null ? {} : { workspace_id: workspace }
  let query: Readonly<Record<string, string>> = { ...own, seconds: String(backS) }
  for (let forwarded = 0; forwarded < count;) {
    const page = await ask(forwarding, query)
    for (const event of page.data) {
      if (seen.has(event.id)) continue
      remember(seen, event.id)
      forwarding.onForwarded(await forward(forwarding, event))
      if (++forwarded === count) return
    }
    query = { ...own, after: page.next }
    if (!page.has_more) await after(ASK_MS)
  }
}

/** A page of events; waits for a node that is away. */
async function ask(
  { node, onTrouble }: Forwarding,
  query: Readonly<Record<string, string>>,
): Promise<WebhookEventsAnswer> {
  for (let isTold = false; ; isTold = true) {
    try {
      const request = { method: 'GET', path: '/admin/webhooks/events', query } as const
      return await callNode(node, request, WebhookEventsAnswer)
    } catch (problem) {
      if (!(problem instanceof NodeAway)) throw problem
      if (!isTold) onTrouble(problem.message)
      await after(ASK_MS)
    }
  }
}

function remember(seen: Set<string>, id: string): void {
  seen.add(id)
  const [oldest] = seen
  if (seen.size > FORWARDED_IDS_MAX && oldest !== undefined) seen.delete(oldest)
}

/** The receiver gets a forged event too, as it would from anybody: what it makes of it is what is tested. */
async function forward({ to, secrets }: Forwarding, event: WebhookEventShape): Promise<Forwarded> {
  const body = Buffer.from(event.body)
  const verified = verifiedBy(secrets, event, body)
  try {
    const { status } = await callHttp({
      url: to,
      method: 'POST',
      headers: event.headers,
      body,
      msMax: WEBHOOK_ATTEMPT_MS_MAX,
      bytesMax: WEBHOOK_ANSWER_BYTES_MAX,
    })
    return { event, verified, status, reason: null }
  } catch (cause) {
    const reason = cause instanceof Error ? connectionReason(cause) : String(cause)
    return { event, verified, status: null, reason }
  }
}

/** Each form by any of the secrets: while a secret is replaced, two of them sign. */
function verifiedBy(
  secrets: readonly string[],
  { headers }: WebhookEventShape,
  body: Uint8Array,
): Verified | null {
  if (secrets.length === 0) return null
  const each = secrets.map((secret) => verifySignatures(secret, { headers, body, nowMs: Date.now() }))
  return { own: each.some(({ own }) => own), standard: each.some(({ standard }) => standard) }
}
