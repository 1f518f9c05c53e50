import type { Outcome } from '../../../schemas/failures.ts'

/**
 * The purpose of a data key: objects of files, or signing secrets of webhooks. Secrets of vaults are sealed
 * with keys of their vault.
 */
export type DataKeyPurpose = 'files' | 'webhooks'

/** An unwrapped data key. The bytes are a copy: the caller clears them after use (`key.fill(0)`). */
export interface DataKey {
  /** Lower-case UUID. */
  readonly id: string
  /** 32 bytes in an ArrayBuffer of their own, so that it can be transferred. */
  readonly key: Uint8Array<ArrayBuffer>
}

/**
 * Data keys of workspaces, wrapped by the root keys of this installation. Design §8. Failures of both:
 * data_key_unavailable (the root key is not present, or the row does not open), store_unavailable.
 */
export interface KeyRing {
  /** The key that seals new objects of a workspace; made at the first call. */
  current(workspaceId: string, purpose: DataKeyPurpose): Promise<Outcome<DataKey>>
  /** The key with this id, which sealed an object. */
  byId(workspaceId: string, purpose: DataKeyPurpose, id: string): Promise<Outcome<DataKey>>
}

export interface WrappedDataKey {
  readonly id: string
  readonly workspaceId: string
  readonly purpose: DataKeyPurpose
  readonly rootKeyId: string
  readonly wrapped: Uint8Array
}

/** Rows of wrapped data keys. Failures of all: store_unavailable. */
export interface DataKeys {
  current(workspaceId: string, purpose: DataKeyPurpose): Promise<Outcome<WrappedDataKey | null>>
  byId(workspaceId: string, purpose: DataKeyPurpose, id: string): Promise<Outcome<WrappedDataKey | null>>
  /** @returns the row that is current now: of many processes that race, all get the same row */
  addFirst(row: WrappedDataKey): Promise<Outcome<WrappedDataKey>>
}
