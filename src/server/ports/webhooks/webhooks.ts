import type { Outcome } from '../../../schemas/failures.ts'
import type { WebhookReason } from '../../../schemas/webhooks/webhook-deliveries.ts'
import type { ChangedBy } from '../vault/vault.ts'

/** The body never changes again. */
export interface NewDelivery {
  readonly workspaceId: string
  readonly jobId: string
  /** `<job id>-<status>`: `x-sluice-idempotency-key`. */
  readonly idempotencyKey: string
  readonly url: string
  /** JSON. */
  readonly body: string
}

/** Held until `attempt` changes, the fencing token. */
export interface ClaimedDelivery {
  /** UUIDv7; `webhook-id` is this id with `msg_` before it. */
  readonly id: string
  readonly workspaceId: string
  readonly jobId: string
  readonly attempt: number
  /** Earlier attempts to deliver. */
  readonly tries: number
  readonly url: string
  /** Without its port: receivers are distinguished by it. */
  readonly host: string
  /** The URL answered 410 before: nothing is sent there. */
  readonly isDisabled: boolean
  readonly idempotencyKey: string
  readonly body: string
}

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

/** Each method rejects when the store is away: the write may have been applied. */
export interface Deliveries {
  /** From workspaces that are not deleted, alternating between receivers and workspaces, so that none delays the others. */
  claim(input: DeliveryInput): Promise<readonly ClaimedDelivery[]>
  /** Delivered, due again in `dueInMs`, or, with null, dead. @returns false: another process has the delivery, and nothing was written */
  book(claim: ClaimedDelivery, result: DeliveryResult, dueInMs: number | null): Promise<boolean>
  /** Without an attempt, due in `dueInMs`. */
  release(claims: readonly ClaimedDelivery[], dueInMs: number): Promise<void>
  /** Over all runners. */
  counts(): Promise<DeliveryCounts>
  /** Removes rows of deleted workspaces, and secrets whose time is over. @returns number of rows */
  prune(): Promise<number>
}

export interface DeliveryCounts {
  readonly waiting: number
  readonly dead: number
}

/** Labels are of a closed set. */
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
  /** The secrets that sign now, the newest first; made when the workspace has none. */
  current(workspaceId: string): Promise<Outcome<readonly WebhookSecret[]>>
  /** The earlier secrets sign for `overlapMs` more, WEBHOOK_SECRETS_MAX in all. @returns as `current` */
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

/** Failures of all: store_unavailable; of the last two also workspace_unknown. */
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
