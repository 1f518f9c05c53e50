import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { testBody } from '../../../schemas/webhooks/webhook-body.ts'
import {
  WEBHOOK_ATTEMPT_MS_MAX,
  WEBHOOK_CALLS_MAX,
  WEBHOOK_HOST_CALLS_MAX,
  WEBHOOK_WORKSPACE_CALLS_MAX,
} from '../../../schemas/webhooks/webhook-limits.ts'
import { signatureHeaders } from '../../../schemas/webhooks/webhook-signatures.ts'
import type { Egress } from '../../ports/egress/egress.ts'
import type {
  EndedEvents,
  EventPage,
  EventsInput,
  OperatorWebhooks,
  SignedEvent,
  TestActor,
  WebhookTest,
  WebhookTestResult,
  WebhookTests,
} from '../../ports/webhooks/operator-webhooks.ts'
import type { ClaimedDelivery, DeliveryResult, WebhookSecrets } from '../../ports/webhooks/webhooks.ts'
import { FairSemaphore, type Leave } from '../../structures/fair-semaphore.ts'
import { attemptDelivery, eventHeaders } from './attempt.ts'

export interface OperatorWebhookDeps {
  readonly egress: Pick<Egress, 'vetted'>
  readonly secrets: Pick<WebhookSecrets, 'current'>
  readonly events: EndedEvents
  readonly tests: WebhookTests
  /** Milliseconds of the wall clock, as `Date.now`. */
  readonly now: () => number
  /** A new UUID. */
  readonly newId: () => string
  /** Milliseconds that an attempt may take; WEBHOOK_ATTEMPT_MS_MAX when absent. */
  readonly attemptMs?: number
}

/** Test events, which are sent in the same way as deliveries, and events for receivers that deliveries cannot reach. */
export function openOperatorWebhooks(deps: OperatorWebhookDeps): OperatorWebhooks {
  const places = new TestPlaces()
  return {
    test: (input, by) => test(deps, { input, by, places }),
    events: (input) => events(deps, input),
  }
}

interface Asked {
  readonly input: WebhookTest
  readonly by: TestActor
  readonly places: TestPlaces
}

async function test(
  deps: OperatorWebhookDeps,
  { input, by, places }: Asked,
): Promise<Outcome<WebhookTestResult>> {
  const claim = claimOf(deps, input)
  const entered = await places.enter(claim)
  if (!entered.ok) return entered
  let answer = Promise.resolve()
  try {
    const begun = await deps.tests.begin({ ...input, eventId: claim.id, host: claim.host }, by)
    if (!begun.ok) return begun
    const attempted = await attempt(deps, { ...claim, isDisabled: !begun.value })
    answer = attempted.rest
    return attempted.outcome
  } finally {
    void answer.finally(entered.value)
  }
}

async function attempt(
  deps: OperatorWebhookDeps,
  claim: ClaimedDelivery,
): Promise<{ readonly outcome: Outcome<WebhookTestResult>; readonly rest: Promise<void> }> {
  const { attemptMs = WEBHOOK_ATTEMPT_MS_MAX } = deps
  const beganAt = performance.now()
  const { result, failure, rest } = await attemptDelivery(claim, {
    ...deps,
    attemptMs,
    beginsBy: beganAt + attemptMs,
  })
  if (result === null) return { outcome: { ok: false, failure: failure ?? { name: 'internal' } }, rest }
  const outcome = ok({
    eventId: claim.id,
    host: claim.host,
    status: result.status,
    reason: reasonOf(result),
    durationMs: Math.round(performance.now() - beganAt),
  })
  return { outcome, rest }
}

/** A delivery without a row: it is attempted once. */
function claimOf({ newId, now }: OperatorWebhookDeps, { workspaceId, url }: WebhookTest): ClaimedDelivery {
  const id = newId()
  return {
    id,
    workspaceId,
    jobId: '',
    attempt: 0,
    tries: 0,
    url,
    // A trailing dot does not change the host.
    host: new URL(url).hostname.replace(/\.$/, ''),
    isDisabled: false,
    idempotencyKey: `test-${id}`,
    body: testBody({ id, workspaceId, at: new Date(now()) }),
  }
}

function reasonOf(result: DeliveryResult): WebhookTestResult['reason'] {
  if (result.kind === 'delivered') return null
  return result.kind === 'gone' ? 'gone' : result.reason
}

async function events(
  { events: rows, secrets, now }: OperatorWebhookDeps,
  input: EventsInput,
): Promise<Outcome<EventPage<SignedEvent>>> {
  const page = await rows.list(input)
  if (!page.ok) return page
  if (page.value.events.length === 0) return ok({ ...page.value, events: [] })
  const current = await secrets.current(input.workspaceId)
  if (!current.ok) return current
  const signing = { timestampS: Math.floor(now() / 1_000), secrets: current.value.map(({ text }) => text) }
  const signed = page.value.events.map((event) => ({
    ...event,
    headers: [
      ...eventHeaders(event),
      ...signatureHeaders({ ...signing, id: event.id, body: Buffer.from(event.body) }),
    ],
  }))
  return ok({ ...page.value, events: signed })
}

/** Seconds after which a caller that got no place may retry. */
const RETRY_S = 1

/**
 * Places for test events in progress in one front: as many for a host, for a workspace and in total as a
 * runner has for deliveries. No call waits for a place, since the caller can retry.
 */
class TestPlaces {
  readonly #hosts = placesFor(WEBHOOK_HOST_CALLS_MAX)
  readonly #workspaces = placesFor(WEBHOOK_WORKSPACE_CALLS_MAX)
  #underWay = 0

  /** Failures: rate_limited when all places of the host or the workspace are taken; busy when all places of the front are. */
  async enter(test: { readonly host: string; readonly workspaceId: string }): Promise<Outcome<Leave>> {
    if (this.#underWay >= WEBHOOK_CALLS_MAX) return fail('busy', { retryAfterS: RETRY_S })
    this.#underWay++
    const leave: Leave[] = [() => void this.#underWay--]
    const leaveAll: Leave = () => {
      for (const one of leave.splice(0)) one()
    }
    const leaveWorkspace = await this.#workspaces.enter({ tenant: test.workspaceId })
    if (leaveWorkspace !== null) leave.push(leaveWorkspace)
    const leaveHost = leaveWorkspace === null ? null : await this.#hosts.enter({ tenant: test.host })
    if (leaveHost !== null) {
      leave.push(leaveHost)
      return ok(leaveAll)
    }
    leaveAll()
    return leaveWorkspace === null
      ? refused('workspace', WEBHOOK_WORKSPACE_CALLS_MAX)
      : refused('host', WEBHOOK_HOST_CALLS_MAX)
  }
}

function refused(holder: 'host' | 'workspace', limit: number): Outcome<never> {
  const fields = { holder, limit, what: 'test webhooks in progress', retry: RETRY_S }
  return fail('rate_limited', { fields, retryAfterS: RETRY_S })
}

function placesFor(placesOfOne: number): FairSemaphore {
  return new FairSemaphore({ places: WEBHOOK_CALLS_MAX, placesOfOne, waitingMax: 0 })
}
