import type { Outcome } from '../../../schemas/failures.ts'
import type { WebhookReason } from '../../../schemas/webhooks/webhook-deliveries.ts'
import type { ChangedBy } from '../vault/vault.ts'

/** What is told, and where. The body never changes again. */
export interface NewDelivery {
  readonly workspaceId: string
  readonly jobId: string
  /** `<job id>-<status>`: `x-sluice-idempotency-key`. B5. */
  readonly idempotencyKey: string
  readonly url: string
  /** JSON. */
  readonly body: string
}

/** A delivery that is this process's until `attempt` changes. */
export interface ClaimedDelivery {
  /** UUIDv7; `webhook-id` is `msg_` and it. */
  readonly id: string
  readonly workspaceId: string
  readonly jobId: string
  /** The fencing token. */
  readonly attempt: number
  /** Attempts to deliver that were made, this one not counted. */
  readonly tries: number
  readonly url: string
  /** Of the url, without its port: what receivers are told apart by. */
  readonly host: string
  /** The url answered 410 before: nothing is sent there. */
  readonly isDisabled: boolean
  readonly idempotencyKey: string
  readonly body: string
}

/** What an attempt came to. */
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

/** What a runner takes now. */
export interface DeliveryInput {
  readonly countMax: number
  readonly perHostMax: number
  readonly perWorkspaceMax: number
  /** Attempts under way of this runner, which count: by host, and by id of the workspace. */
  readonly busy: {
    readonly hosts: ReadonlyMap<string, number>
    readonly workspaces: ReadonlyMap<string, number>
  }
  readonly leaseMs: number
}

/**
 * Rows of deliveries, for the runner. Each rejects when the store cannot be reached: what was asked may then
 * have happened.
 */
export interface Deliveries {
  /**
   * Takes due deliveries of workspaces that are not deleted, in turn from each receiver and each workspace:
   * however many wait for one of them, the others get theirs.
   */
  claim(input: DeliveryInput): Promise<readonly ClaimedDelivery[]>
  /**
   * Books an attempt: delivered, due again in `dueInMs`, or, with null, dead.
   * @returns false when the delivery is another's by now; then nothing was written
   */
  book(claim: ClaimedDelivery, result: DeliveryResult, dueInMs: number | null): Promise<boolean>
  /** Gives deliveries back that no attempt was made of, due in `dueInMs`. */
  release(claims: readonly ClaimedDelivery[], dueInMs: number): Promise<void>
  /** How many wait for an attempt, and how many were given up, of all runners. */
  counts(): Promise<DeliveryCounts>
  /** Removes what belongs to deleted workspaces, and secrets that sign no more. @returns rows */
  prune(): Promise<number>
}

export interface DeliveryCounts {
  readonly waiting: number
  readonly dead: number
}

/** Counts what attempts came to; labels are of a closed set. */
export interface WebhookMeters {
  attempt(outcome: 'delivered' | WebhookReason): void
}

/** A signing secret of a workspace: its text `whsec_…`, and until when an old one signs beside it. */
export interface WebhookSecret {
  readonly text: string
  readonly signsUntil: Date | null
}

/** Failures of all: data_key_unavailable, store_unavailable; workspace_unknown (deleted). */
export interface WebhookSecrets {
  /** Those that sign now, the newest first; made when the workspace has none. */
  current(workspaceId: string): Promise<Outcome<readonly WebhookSecret[]>>
  /**
   * A new one; those before it sign for `overlapMs` more, WEBHOOK_SECRETS_MAX in all. @returns as `current`
   */
  rotate(workspaceId: string, overlapMs: number, by: ChangedBy): Promise<Outcome<readonly WebhookSecret[]>>
}

export interface SealedWebhookSecret {
  /** UUID. */
  readonly id: string
  readonly workspaceId: string
  readonly dataKeyId: string
  readonly sealed: Uint8Array
  /** Null of the current one. */
  readonly signsUntil: Date | null
}

/**
 * Rows of sealed signing secrets. Failures of all: store_unavailable; of the last two also workspace_unknown.
 */
export interface WebhookSecretRows {
  /** Those that sign now, the newest first. */
  signing(workspaceId: string): Promise<Outcome<readonly SealedWebhookSecret[]>>
  /** @returns those that sign now: of many that race, all get the same one */
  addFirst(secret: SealedWebhookSecret): Promise<Outcome<readonly SealedWebhookSecret[]>>
  /** Puts a new one before the others, with a row of the audit log. @returns those that sign now */
  replace(
    secret: SealedWebhookSecret,
    overlapMs: number,
    by: ChangedBy,
  ): Promise<Outcome<readonly SealedWebhookSecret[]>>
}
