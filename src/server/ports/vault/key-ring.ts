import type { Outcome } from '../../../schemas/failures.ts'

/**
 * What a data key is for: objects of files, and what webhooks are signed with. Secrets are sealed with keys
 * of their vault.
 */
export type DataKeyPurpose = 'files' | 'webhooks'

/** An unwrapped data key. The bytes are a copy: whoever got it clears it when it is done (`key.fill(0)`). */
export interface DataKey {
  /** Lower-case UUID. */
  readonly id: string
  /** 32 bytes in an ArrayBuffer of their own, so that it can be transferred. */
  readonly key: Uint8Array<ArrayBuffer>
}

/**
 * Data keys of workspaces, wrapped by the root keys of this installation. Design §8. Failures of both:
 * data_key_unavailable (its root key is not here, or the row does not open), store_unavailable.
 */
export interface KeyRing {
  /** The key that new things of a workspace are sealed with; made when there is none yet. */
  current(workspaceId: string, purpose: DataKeyPurpose): Promise<Outcome<DataKey>>
  /** The key that something was sealed with. */
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
  /** @returns the row that is current now: of many that race, all get the same one */
  addFirst(row: WrappedDataKey): Promise<Outcome<WrappedDataKey>>
}
