/** Who did it: an API key by its hash, a user of the command line, or the node itself. Never a plain key. */
export interface AuditActor {
  readonly kind: 'key' | 'cli' | 'system'
  /** Hash of the key, or name of the system's user; null where there is none. */
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
  /** What may be seen of the object before and after, as its operation answers it; null = it did not or does not exist. */
  readonly before: unknown
  readonly after: unknown
}

/**
 * Events that are too many for a transaction each: releases and refusals. They are appended in batches, in order;
 * changes go into the transaction of the change instead (`appendAudit`).
 */
export interface AuditTrail {
  /** @returns false when no more may wait: then what it tells of must not happen */
  note(event: AuditEvent): boolean
  /** Appends what waits, and ends. */
  close(): Promise<void>
}
