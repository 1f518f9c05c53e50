import type { Outcome } from '../../../schemas/failures.ts'

/** Objects of files, or signing secrets of webhooks; vaults have keys of their own. */
export type DataKeyPurpose = 'files' | 'webhooks'

/** The bytes are a copy: the caller clears them after use (`key.fill(0)`). */
export interface DataKey {
  /** Lower-case UUID. */
  readonly id: string
  /** 32 bytes in an ArrayBuffer of their own, so that it can be transferred. */
  readonly key: Uint8Array<ArrayBuffer>
}

/** Wrapped by the root keys. Failures of both: data_key_unavailable (no root key, or the row does not open), store_unavailable. */
export interface KeyRing {
  /** Seals new objects; made at the first call. */
  current(workspaceId: string, purpose: DataKeyPurpose): Promise<Outcome<DataKey>>
  byId(workspaceId: string, purpose: DataKeyPurpose, id: string): Promise<Outcome<DataKey>>
}

export interface WrappedDataKey {
  readonly id: string
  readonly workspaceId: string
  readonly purpose: DataKeyPurpose
  readonly rootKeyId: string
  readonly wrapped: Uint8Array
}

/** Failures of all: store_unavailable. */
export interface DataKeys {
  current(workspaceId: string, purpose: DataKeyPurpose): Promise<Outcome<WrappedDataKey | null>>
  byId(workspaceId: string, purpose: DataKeyPurpose, id: string): Promise<Outcome<WrappedDataKey | null>>
  /** @returns the row that is current now: of many processes that race, all get the same row */
  addFirst(row: WrappedDataKey): Promise<Outcome<WrappedDataKey>>
}
