import type { Outcome } from '../../../schemas/failures.ts'

/**
 * The actor of an event: an API key or a SCIM token by its hash, a user of the command line, or the node
 * itself. Never a plain key.
 */
export interface AuditActor {
  readonly kind: 'key' | 'scim_token' | 'cli' | 'system'
  /** The hash, or the name of the system's user; null: neither. */
  readonly id: string | null
}

/** One row of the log of changes, releases and refusals. Nothing in a row is secret. */
export interface AuditEvent {
  /** The organization whose chain the row belongs to. */
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
  /**
   * The visible fields of the object before and after, as its operation returns them; null = the object did
   * not or does not exist.
   */
  readonly before: unknown
  readonly after: unknown
  /** Number of equal refusals that this event stands for, where refusals are gathered. */
  readonly count?: number
  /** Instant of the first of these refusals (ISO 8601). */
  readonly since?: string
}

/**
 * Takes events that are too many for a transaction each: releases and refusals. They are appended in batches,
 * in order; equal refusals are counted, and appended once a minute. Changes go into the transaction of the
 * change instead (`appendAudit`).
 */
export interface AuditTrail {
  /** @returns false when no more events may wait: the release must then not happen */
  note(event: AuditEvent): boolean
  /** Appends the waiting events, and ends. */
  close(): Promise<void>
}

/** A row of the log as it is listed and exported. */
export interface AuditRow {
  readonly organizationId: string
  /** 1, 2, 3, … in each organization. */
  readonly n: number
  /** All facts of the row, as JSON. */
  readonly text: string
  /**
   * Lower-case hex SHA-256 of the previous row's hash and `text`: a copy of this hash kept elsewhere proves
   * that no earlier row was changed.
   */
  readonly hash: string
}

/** Conditions on rows; a condition that is left out matches every row. */
export interface AuditQuery {
  readonly organizationId: string
  /** UUID or slug; a deleted workspace is found by its UUID. */
  readonly workspace?: string
  readonly operation?: string
  readonly objectKind?: string
  readonly objectId?: string
  readonly actorId?: string
  readonly outcome?: AuditEvent['outcome']
  /** The first instant, as an ISO 8601 text, so that the store compares all digits that it returned. */
  readonly since?: string
  /** The instant after the last, as an ISO 8601 text. */
  readonly until?: string
  /** Only rows with a smaller number. */
  readonly before?: number
  readonly limit: number
}

export interface AuditPage {
  /** Newest first. A page of a search that finds little, or only large rows, may be short. */
  readonly rows: readonly AuditRow[]
  /** `before` of the next page; null when this page is the last. */
  readonly nextBefore: number | null
}

/** The audit log as management keys read it. */
export interface AuditLog {
  /** Failures: workspace_unknown, store_unavailable. */
  find(query: AuditQuery): Promise<Outcome<AuditPage>>
}
