import type { Outcome } from '../../../schemas/failures.ts'

/**
 * Who did it: an API key or a SCIM token by its hash, a user of the command line, or the node itself. Never a
 * plain key.
 */
export interface AuditActor {
  readonly kind: 'key' | 'scim_token' | 'cli' | 'system'
  /** That hash, or name of the system's user; null where there is none. */
  readonly id: string | null
}

/** One row of the log of who changed, released or was refused what. Nothing in it is secret. */
export interface AuditEvent {
  /** Its chain. */
  readonly organizationId: string
  /** Null for what belongs to the organization. */
  readonly workspaceId: string | null
  readonly actor: AuditActor
  /** Of the call; null for the command line. */
  readonly requestId: string | null
  /** Id of the operation (`vault.put_secret`), or of the verb (`cli.vault-rotate-root`). */
  readonly operation: string
  readonly outcome: 'changed' | 'released' | 'refused'
  readonly objectKind: string
  readonly objectId: string
  /**
   * What may be seen of the object before and after, as its operation answers it; null = it did not or does
   * not exist.
   */
  readonly before: unknown
  readonly after: unknown
  /**
   * Of refusals that are gathered: how many equal ones this stands for, and the instant of the first (ISO
   * 8601).
   */
  readonly count?: number
  readonly since?: string
}

/**
 * Events that are too many for a transaction each: releases and refusals. They are appended in batches, in
 * order; equal refusals are counted, and appended once a minute. Changes go into the transaction of the
 * change instead (`appendAudit`).
 */
export interface AuditTrail {
  /** @returns false when no more may wait: then what it tells of must not happen */
  note(event: AuditEvent): boolean
  /** Appends what waits, and ends. */
  close(): Promise<void>
}

/** A row of the log as it is listed and exported. */
export interface AuditRow {
  readonly organizationId: string
  /** 1, 2, 3, … in each organization. */
  readonly n: number
  /** All that the row tells, as JSON. */
  readonly text: string
  /**
   * Lower-case hex SHA-256 of the row before's and `text`: keep one elsewhere, and nobody can change what
   * came before it.
   */
  readonly hash: string
}

/** What is looked for; what is left out may be anything. */
export interface AuditQuery {
  readonly organizationId: string
  /** UUID or slug; one that was deleted is found by its UUID. */
  readonly workspace?: string
  readonly operation?: string
  readonly objectKind?: string
  readonly objectId?: string
  readonly actorId?: string
  readonly outcome?: AuditEvent['outcome']
  /**
   * Instants as ISO 8601 texts, so that the store takes all digits of what it told: the first, and the one
   * behind the last.
   */
  readonly since?: string
  readonly until?: string
  /** Rows with a smaller number only. */
  readonly before?: number
  readonly limit: number
}

export interface AuditPage {
  /** Newest first. A page of a search that finds little, or only large rows, may be short. */
  readonly rows: readonly AuditRow[]
  /** `before` of the next page; null when this is the last. */
  readonly nextBefore: number | null
}

/** The log as management keys read it. */
export interface AuditLog {
  /** Failures: workspace_unknown, store_unavailable. */
  find(query: AuditQuery): Promise<Outcome<AuditPage>>
}
