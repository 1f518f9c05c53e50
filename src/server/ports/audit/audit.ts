import type { Outcome } from '../../../schemas/failures.ts'

export interface AuditActor {
  readonly kind: 'key' | 'scim_token' | 'cli' | 'system'
  /** Hash of an API key or SCIM token, or the name of a user of the command line; never a plain key. Null: none of these. */
  readonly id: string | null
}

/** One row of the log of changes, releases and refusals. No row contains a secret. */
export interface AuditEvent {
  readonly organizationId: string
  /** Null for objects that belong to the organization. */
  readonly workspaceId: string | null
  readonly actor: AuditActor
  /** Id of the request; null for the command line. */
  readonly requestId: string | null
  /** Id of the operation (`vault.put_secret`), or of the verb (`cli.vault-rotate-root`). */
  readonly operation: string
  readonly outcome: 'changed' | 'released' | 'refused'
  readonly objectKind: string
  readonly objectId: string
  /** In the form that the object's operation returns; null: the object did not or does not exist. */
  readonly before: unknown
  readonly after: unknown
  /** Number of equal refusals that this event represents, when refusals are gathered. */
  readonly count?: number
  /** Time of the first of them, ISO 8601. */
  readonly since?: string
}

/**
 * Appends releases and refusals in batches and in order; equal refusals are gathered into one event a minute
 * with a count. Changes use `appendAudit` in their own transaction.
 */
export interface AuditTrail {
  /** @returns false when the queue is full: the release must then not happen */
  note(event: AuditEvent): boolean
  /** Appends the waiting events, and stops. */
  close(): Promise<void>
}

export interface AuditRow {
  readonly organizationId: string
  /** 1, 2, 3, … in each organization. */
  readonly n: number
  /** All fields of the row, as JSON. */
  readonly text: string
  /** Lower-case hex SHA-256 of the previous row's hash and `text`: a copy kept elsewhere proves that no earlier row was changed. */
  readonly hash: string
}

export interface AuditQuery {
  readonly organizationId: string
  /** UUID or slug; a deleted workspace is found by its UUID. */
  readonly workspace?: string
  readonly operation?: string
  readonly objectKind?: string
  readonly objectId?: string
  readonly actorId?: string
  readonly outcome?: AuditEvent['outcome']
  /** Start of the period (inclusive), ISO 8601; a text, so that the store compares all digits that it returned. */
  readonly since?: string
  /** End of the period (exclusive), ISO 8601. */
  readonly until?: string
  /** Only rows with a smaller number. */
  readonly before?: number
  readonly limit: number
}

export interface AuditPage {
  /** Newest first. A page may be short when the search matches few rows or the rows are large. */
  readonly rows: readonly AuditRow[]
  /** `before` of the next page; null: this page is the last. */
  readonly nextBefore: number | null
}

export interface AuditLog {
  /** Failures: workspace_unknown, store_unavailable. */
  find(query: AuditQuery): Promise<Outcome<AuditPage>>
}
