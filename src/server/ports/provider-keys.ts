import type { Outcome } from '../../schemas/failures.ts'
import type { KeyedProvider } from '../../schemas/provider-keys.ts'
import type { Secret } from '../../schemas/secret.ts'

/** The workspaces' own keys for providers, sealed under the key ring. */
export interface ProviderKeys {
  /** Null when the workspace has none. Failures: data_key_unavailable, store_unavailable. */
  get(workspaceId: string, provider: KeyedProvider): Promise<Outcome<Secret | null>>
  /** Failures: data_key_unavailable, store_unavailable. */
  put(workspaceId: string, provider: KeyedProvider, key: Secret): Promise<Outcome<null>>
  /** @returns false when there was none. Failure: store_unavailable. */
  remove(workspaceId: string, provider: KeyedProvider): Promise<Outcome<boolean>>
}

export interface SealedProviderKey {
  readonly dataKeyId: string
  readonly sealed: Uint8Array
}

/** Rows of sealed provider keys. Failures of all: store_unavailable. */
export interface ProviderKeyRows {
  get(workspaceId: string, provider: KeyedProvider): Promise<Outcome<SealedProviderKey | null>>
  put(workspaceId: string, provider: KeyedProvider, row: SealedProviderKey): Promise<Outcome<null>>
  remove(workspaceId: string, provider: KeyedProvider): Promise<Outcome<boolean>>
}
