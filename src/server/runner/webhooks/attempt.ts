import type { Failure } from '../../../schemas/failures.ts'
import { WEBHOOK_ANSWER_BYTES_MAX } from '../../../schemas/webhooks/webhook-limits.ts'
import { retryAfterMsOf } from '../../../schemas/webhooks/webhook-schedule.ts'
import { signatureHeaders } from '../../../schemas/webhooks/webhook-signatures.ts'
import type { WebhookReason } from '../../../schemas/webhooks/webhook-deliveries.ts'
import type { Destination, Egress, EgressExchange } from '../../ports/egress/egress.ts'
import type { ClaimedDelivery, DeliveryResult, WebhookSecrets } from '../../ports/webhooks/webhooks.ts'

export interface AttemptDeps {
  readonly egress: Pick<Egress, 'vetted'>
  readonly secrets: Pick<WebhookSecrets, 'current'>
  /** Milliseconds of the wall clock, as `Date.now`. */
  readonly now: () => number
  /** Milliseconds that an attempt may take. */
  readonly attemptMs: number
  /**
   * `performance.now()` milliseconds after which nothing is sent: another runner may take the delivery before
   * the result of this attempt is written.
   */
  readonly beginsBy: number
}

export interface Attempted {
  /** Null: nothing was sent, for a reason on Sluice's side; no attempt is counted. */
  readonly result: DeliveryResult | null
  /** The failure, if the reason is on Sluice's side; null otherwise. */
  readonly failure: Failure | null
  /** Resolves when the response has ended. Only its status and headers count. */
  readonly rest: Promise<void>
}

/** The status with which a receiver stops further deliveries. */
const GONE = 410
const [OK_FROM, REDIRECT_FROM, ERROR_FROM] = [200, 300, 400]
/** Failures of the gate that are caused by Sluice or are temporary, and are no evidence about the receiver. */
const OURS: ReadonlySet<string> = new Set(['busy', 'draining', 'store_unavailable', 'internal'])

/** One attempt to deliver, with a new signature and a new resolution of the host. Redirects are not followed. Never rejects. */
export async function attemptDelivery(claim: ClaimedDelivery, deps: AttemptDeps): Promise<Attempted> {
  if (claim.isDisabled) return failed('url_disabled')
  const target = callbackTarget(claim.url, claim.workspaceId)
  if (target === null) return failed('refused')
  const way = deps.egress.vetted(target.destination)
  if (!way.ok) return failed('refused')
  const secrets = await deps.secrets.current(claim.workspaceId)
  if (!secrets.ok) return postponed(secrets.failure)
  if (performance.now() > deps.beginsBy) return postponed({ name: 'deadline_exceeded' })
  const body = Buffer.from(claim.body)
  const timestampS = Math.floor(deps.now() / 1_000)
  const signed = signatureHeaders({
    id: claim.id,
    timestampS,
    body,
    secrets: secrets.value.map(({ text }) => text),
  })
  const endsAt = performance.now() + deps.attemptMs
  const answer = await way.value.exchange({
    method: 'POST',
    path: target.path,
    headers: [...eventHeaders(claim), ...signed],
    body,
    bodyBytes: body.length,
    // A request that was sent is aborted only at the end of the attempt: the receiver may have acted on it.
    beginsBy: () => endsAt,
    stallMs: deps.attemptMs,
    signal: new AbortController().signal,
  })
  if (!answer.ok)
    return OURS.has(answer.failure.name) ? postponed(answer.failure) : failed(reasonOf(answer.failure))
  return { result: resultOf(answer.value, deps.now()), failure: null, rest: drained(answer.value, endsAt) }
}

/** Headers of an event in addition to its signatures, as a flat list of names and values. */
export function eventHeaders({ idempotencyKey }: Pick<ClaimedDelivery, 'idempotencyKey'>): readonly string[] {
  return [
    'content-type',
    'application/json',
    'user-agent',
    'sluice-webhooks/1',
    'x-sluice-idempotency-key',
    idempotencyKey,
  ]
}

function resultOf({ status, header }: EgressExchange, nowMs: number): DeliveryResult {
  if (status >= OK_FROM && status < REDIRECT_FROM) return { kind: 'delivered', status }
  if (status === GONE) return { kind: 'gone', status }
  const reason = status < ERROR_FROM ? 'redirect' : 'status'
  return { kind: 'failed', status, reason, retryAfterMs: retryAfterMsOf(header('retry-after'), nowMs) }
}

function reasonOf({ name }: Failure): WebhookReason {
  if (name === 'destination_refused') return 'refused'
  return name === 'upstream_slow' ? 'timeout' : 'unreachable'
}

/** Reads a little of the response body, so that the connection can be reused; for a longer body the connection is closed. */
async function drained({ body }: EgressExchange, endsAt: number): Promise<void> {
  const timer = setTimeout(() => body.close(), Math.max(0, endsAt - performance.now()))
  try {
    for (let bytes = 0; bytes <= WEBHOOK_ANSWER_BYTES_MAX;) {
      const piece = await body.next()
      if (!piece.ok || piece.value === null) return
      bytes += piece.value.length
    }
  } finally {
    clearTimeout(timer)
    body.close()
  }
}

function failed(reason: WebhookReason): Attempted {
  return {
    result: { kind: 'failed', status: null, reason, retryAfterMs: null },
    failure: null,
    rest: Promise.resolve(),
  }
}

function postponed(failure: Failure): Attempted {
  return { result: null, failure, rest: Promise.resolve() }
}

interface CallbackTarget {
  readonly destination: Destination
  /** The path with its query and without its fragment, which is not sent. */
  readonly path: string
}

/**
 * The destination of a callback. The accepted URL is checked again, since the rules may have changed.
 * @returns null for a URL to which webhooks are not sent: malformed, not HTTPS, or with credentials
 */
function callbackTarget(text: string, workspaceId: string): CallbackTarget | null {
  const url = /^[!-~]+$/.test(text) && URL.canParse(text) ? new URL(text) : null
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return null
  const host = url.hostname.replace(/\.$/, '')
  const port = url.port === '' ? null : Number(url.port)
  return {
    destination: { host, port, purpose: 'callback', workspaceId },
    path: `${url.pathname}${url.search}`,
  }
}
