import type { Outcome } from '../../../schemas/failures.ts'
import type { WebhookReason } from '../../../schemas/webhooks/webhook-deliveries.ts'
import type { ChangedBy } from '../vault/vault.ts'

/** The content and URL of a delivery. The body never changes again. */
export interface NewDelivery {
  readonly workspaceId: string
  readonly jobId: string
  /** `<job id>-<status>`: `x-sluice-idempotency-key`. */
  readonly idempotencyKey: string
  readonly url: string
  /** JSON. */
  readonly body: string
}

/** A delivery that this process holds until `attempt` changes. */
export interface ClaimedDelivery {
  /** UUIDv7; `webhook-id` is this id with `msg_` before it. */
  readonly id: string
  readonly workspaceId: string
  readonly jobId: string
  /** The fencing token. */
  readonly attempt: number
  /** Number of earlier attempts to deliver. */
  readonly tries: number
  readonly url: string
  /** Host of the URL, without its port: receivers are distinguished by it. */
  readonly host: string
  /** The URL answered 410 before: nothing is sent there. */
  readonly isDisabled: boolean
  readonly idempotencyKey: string
  readonly body: string
}

/** The result of an attempt. */
export type DeliveryResult =
  | { readonly kind: 'delivered'; readonly status: number }
  /** 410: nothing more goes to this URL of the workspace. */
  | { readonly kind: 'gone'; readonly status: number }
  | {
      readonly kind: 'failed'
      readonly status: number | null
      readonly reason: WebhookReason
      readonly retryAfterMs: number | null
    }

/** The deliveries that a runner takes now. */
export interface DeliveryInput {
  readonly countMax: number
  readonly perHostMax: number
  readonly perWorkspaceMax: number
  /** Attempts of this runner that are under way and count: by host, and by id of the workspace. */
  readonly busy: {
    readonly hosts: ReadonlyMap<string, number>
    readonly workspaces: ReadonlyMap<string, number>
  }
  readonly leaseMs: number
}

/**
 * Rows of deliveries, for the runner. Each method rejects when the store cannot be reached: the write may
 * then have been applied.
 */
export interface Deliveries {
  /**
   * Takes due deliveries of workspaces that are not deleted, alternating between receivers and between
   * workspaces, so that a receiver or workspace with many does not delay the others.
   */
  claim(input: DeliveryInput): Promise<readonly ClaimedDelivery[]>
  /**
   * Books an attempt: delivered, due again in `dueInMs`, or, with null, dead.
   * @returns false when another process has the delivery by now; then nothing was written
   */
  book(claim: ClaimedDelivery, result: DeliveryResult, dueInMs: number | null): Promise<boolean>
  /** Gives deliveries back without an attempt, due in `dueInMs`. */
  release(claims: readonly ClaimedDelivery[], dueInMs: number): Promise<void>
  /** Number of deliveries that wait for an attempt, and of dead letters, over all runners. */
  counts(): Promise<DeliveryCounts>
  /** Removes rows of deleted workspaces, and secrets whose time is over. @returns number of rows */
  prune(): Promise<number>
}

export interface DeliveryCounts {
  readonly waiting: number
  readonly dead: number
}

/** Counts results of attempts; labels are of a closed set. */
export interface WebhookMeters {
  attempt(outcome: 'delivered' | WebhookReason): void
}

/**
 * A signing secret of a workspace: its text `whsec_…`, and the instant until which an old secret still signs.
 */
export interface WebhookSecret {
  readonly text: string
  readonly signsUntil: Date | null
}

/** Failures of all: data_key_unavailable, store_unavailable; workspace_unknown (deleted). */
export interface WebhookSecrets {
  /** The secrets that sign now, the newest first; made when the workspace has none. */
  current(workspaceId: string): Promise<Outcome<readonly WebhookSecret[]>>
  /**
   * Makes a new secret; the earlier ones sign for `overlapMs` more, WEBHOOK_SECRETS_MAX in all. @returns as
   * `current`
   */
  rotate(workspaceId: string, overlapMs: number, by: ChangedBy): Promise<Outcome<readonly WebhookSecret[]>>
}

export interface SealedWebhookSecret {
  /** UUID. */
  readonly id: string
  readonly workspaceId: string
  readonly dataKeyId: string
  readonly sealed: Uint8Array
  /** Null for the current secret. */
  readonly signsUntil: Date | null
}

/**
 * Rows of sealed signing secrets. Failures of all: store_unavailable; of the last two also workspace_unknown.
 */
export interface WebhookSecretRows {
  /** The secrets that sign now, the newest first. */
  signing(workspaceId: string): Promise<Outcome<readonly SealedWebhookSecret[]>>
  /** @returns the secrets that sign now: of many processes that race, all get the same one */
  addFirst(secret: SealedWebhookSecret): Promise<Outcome<readonly SealedWebhookSecret[]>>
  /** Puts a new secret before the others, with a row of the audit log. @returns the secrets that sign now */
  replace(
    secret: SealedWebhookSecret,
    overlapMs: number,
    by: ChangedBy,
  ): Promise<Outcome<readonly SealedWebhookSecret[]>>
}
