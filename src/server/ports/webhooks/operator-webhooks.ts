import type { Outcome } from '../../../schemas/failures.ts'
import type { WebhookReason } from '../../../schemas/webhooks/webhook-deliveries.ts'
import type { ChangedBy } from '../vault/vault.ts'

/** The receiver has already been vetted. */
export interface WebhookTest {
  readonly organizationId: string
  readonly workspaceId: string
  /** As `checkCallbackUrl` accepts it. */
  readonly url: string
}

export interface TestActor extends ChangedBy {
  readonly operation: string
}

interface BegunTest extends WebhookTest {
  /** UUID. */
  readonly eventId: string
  readonly host: string
}

/** Failure: store_unavailable. */
export interface WebhookTests {
  /**
   * Writes the audit event before the test is sent. @returns false when it must not be sent, since the URL
   * answered a delivery of the workspace with 410
   */
  begin(test: BegunTest, by: TestActor): Promise<Outcome<boolean>>
}

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

export interface EventPlace {
  /** Microseconds since 1970. */
  readonly us: number
  /** Id of the last listed job with this time; empty: none was listed. */
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

/** The event of an ended job, whether or not the job named a receiver. */
export interface EndedEvent {
  /** UUID of the delivery if there is one. */
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

/** Failure: store_unavailable. */
export interface EndedEvents {
  list(input: EventsInput): Promise<Outcome<EventPage>>
}

/** Failures of all: data_key_unavailable, store_unavailable. */
export interface OperatorWebhooks {
  /**
   * Makes one attempt, never repeated. Failures: also draining, busy; rate_limited (as many tests for the host
   * or workspace are in progress as a runner may have attempts).
   */
  test(input: WebhookTest, by: TestActor): Promise<Outcome<WebhookTestResult>>
  /** Events with the headers of a delivery, signed now. */
  events(input: EventsInput): Promise<Outcome<EventPage<SignedEvent>>>
}
