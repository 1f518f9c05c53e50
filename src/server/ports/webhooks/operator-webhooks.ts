import type { Outcome } from '../../../schemas/failures.ts'
import type { WebhookReason } from '../../../schemas/webhooks/webhook-deliveries.ts'
import type { ChangedBy } from '../vault/vault.ts'

/** A test event to a receiver that was vetted before. */
export interface WebhookTest {
  readonly organizationId: string
  readonly workspaceId: string
  /** As `checkCallbackUrl` accepts it. */
  readonly url: string
}

/** The caller of a test, and its operation. */
export interface TestActor extends ChangedBy {
  readonly operation: string
}

/** A test event as the store knows it. */
interface BegunTest extends WebhookTest {
  /** UUID. */
  readonly eventId: string
  readonly host: string
}

/** What the store has to do with test events. Failure: store_unavailable. */
export interface WebhookTests {
  /**
   * Writes the test to the audit log, before it is sent.
   * @returns false where nothing is sent, since the URL answered a delivery of the workspace with 410
   */
  begin(test: BegunTest, by: TestActor): Promise<Outcome<boolean>>
}

/** What one attempt came to. */
export interface WebhookTestResult {
  /** UUID. */
  readonly eventId: string
  readonly host: string
  /** Null: no answer came. */
  readonly status: number | null
  /** Null: the receiver answered 2xx. */
  readonly reason: WebhookReason | null
  readonly durationMs: number
}

/** A place in the events of ended jobs. */
export interface EventPlace {
  /** Microseconds since 1970. */
  readonly us: number
  /** Id of the last job at this instant that was listed; empty: none was. */
  readonly jobId: string
}

export interface EventsInput {
  readonly organizationId: string
  readonly workspaceId: string
  /** Null: `backS` seconds ago. */
  readonly after: EventPlace | null
  readonly backS: number
  readonly limit: number
}

/** The event of a job's end, whether or not the job named a receiver. */
export interface EndedEvent {
  /** UUID: that of the delivery, where there is one. */
  readonly id: string
  readonly jobId: string
  /** `x-sluice-idempotency-key`. */
  readonly idempotencyKey: string
  readonly endedAt: Date
  /** JSON. */
  readonly body: string
}

export interface SignedEvent extends EndedEvent {
  /** Flat list of names and values. */
  readonly headers: readonly string[]
}

export interface EventPage<E = EndedEvent> {
  /** Oldest first. */
  readonly events: readonly E[]
  readonly hasMore: boolean
  readonly next: EventPlace
}

/** Events of ended jobs as rows. Failure: store_unavailable. */
export interface EndedEvents {
  list(input: EventsInput): Promise<Outcome<EventPage>>
}

/** Webhooks as operators try them out. Failures of all: data_key_unavailable, store_unavailable. */
export interface OperatorWebhooks {
  /**
   * One attempt, made now and never repeated. Failures: also draining, busy; rate_limited, when the host or the
   * workspace has as many tests under way as a runner has attempts.
   */
  test(input: WebhookTest, by: TestActor): Promise<Outcome<WebhookTestResult>>
  /** Events with the headers of a delivery that is signed now. */
  events(input: EventsInput): Promise<Outcome<EventPage<SignedEvent>>>
}
