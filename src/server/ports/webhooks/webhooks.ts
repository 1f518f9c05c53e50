import type { Outcome } from '../../../schemas/failures.ts'
import type { WebhookReason } from '../../../schemas/webhooks/webhook-deliveries.ts'
import type { ChangedBy } from '../vault/vault.ts'

/** The body never changes afterwards. */
export interface NewDelivery {
  readonly workspaceId: string
  readonly jobId: string
  /** `<job id>-<status>`: `x-sluice-idempotency-key`. */
  readonly idempotencyKey: string
  readonly url: string
  /** JSON. */
  readonly body: string
}

/** Held until the fencing token `attempt` changes. */
export interface ClaimedDelivery {
  /** UUIDv7; `webhook-id` is this id with the prefix `msg_`. */
  readonly id: string
  readonly workspaceId: string
  readonly jobId: string
  readonly attempt: number
  /** Earlier attempts to deliver. */
  readonly tries: number
  readonly url: string
  /** Host without port; it identifies the receiver. */
  readonly host: string
  /** The URL has answered 410: nothing is sent to it. */
  readonly isDisabled: boolean
  readonly idempotencyKey: string
  readonly body: string
}

export type DeliveryResult =
  | { readonly kind: 'delivered'; readonly status: number }
  /** 410: nothing more is sent to this URL for the workspace. */
  | { readonly kind: 'gone'; readonly status: number }
  | {
      readonly kind: 'failed'
      readonly status: number | null
      readonly reason: WebhookReason
      readonly retryAfterMs: number | null
    }

export interface DeliveryInput {
  readonly countMax: number
  readonly perHostMax: number
  readonly perWorkspaceMax: number
  /** Attempts of this runner that are in progress and count, by host and by id of the workspace. */
  readonly busy: {
    readonly hosts: ReadonlyMap<string, number>
    readonly workspaces: ReadonlyMap<string, number>
  }
  readonly leaseMs: number
}

/** Each method rejects when the store is unavailable: the write may have been applied. */
export interface Deliveries {
  /** Claims due deliveries of workspaces that are not deleted, alternating between receivers and workspaces, so that none delays the others. */
  claim(input: DeliveryInput): Promise<readonly ClaimedDelivery[]>
  /**
   * Books an attempt: the webhook is delivered, due again in `dueInMs`, or (with null) dead. @returns false:
   * another process has the delivery, and nothing was written
   */
  book(claim: ClaimedDelivery, result: DeliveryResult, dueInMs: number | null): Promise<boolean>
  /** Releases deliveries without an attempt; they are due in `dueInMs`. */
  release(claims: readonly ClaimedDelivery[], dueInMs: number): Promise<void>
  /** Over all runners. */
  counts(): Promise<DeliveryCounts>
  /** Removes rows of deleted workspaces, and expired secrets. @returns number of rows */
  prune(): Promise<number>
}

export interface DeliveryCounts {
  readonly waiting: number
  readonly dead: number
}

/** Labels are from a closed set. */
export interface WebhookMeters {
  attempt(outcome: 'delivered' | WebhookReason): void
}

/** `text` is `whsec_…`; an old secret signs until `signsUntil`. */
export interface WebhookSecret {
  readonly text: string
  readonly signsUntil: Date | null
}

/** Failures of all: data_key_unavailable, store_unavailable; workspace_unknown (deleted). */
export interface WebhookSecrets {
  /** The secrets that currently sign, newest first; one is created when the workspace has none. */
  current(workspaceId: string): Promise<Outcome<readonly WebhookSecret[]>>
  /** Earlier secrets continue to sign for `overlapMs`; at most WEBHOOK_SECRETS_MAX sign in total. @returns as `current` */
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

/** Failures of all: store_unavailable; of the last two methods also workspace_unknown. */
export interface WebhookSecretRows {
  /** The secrets that currently sign, newest first. */
  signing(workspaceId: string): Promise<Outcome<readonly SealedWebhookSecret[]>>
  /** @returns the secrets that currently sign: all concurrent processes get the same one */
  addFirst(secret: SealedWebhookSecret): Promise<Outcome<readonly SealedWebhookSecret[]>>
  /** Adds a new secret as the first one, with a row in the audit log. @returns the secrets that currently sign */
  replace(
    secret: SealedWebhookSecret,
    overlapMs: number,
    by: ChangedBy,
  ): Promise<Outcome<readonly SealedWebhookSecret[]>>
}
