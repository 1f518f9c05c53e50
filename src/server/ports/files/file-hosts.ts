import type { Outcome } from '../../../schemas/failures.ts'
import type { ShownFile } from '../../../schemas/files/files.ts'
import type { FileProvider } from '../../../schemas/workspaces/provider-keys.ts'
import type { Content, Upload } from '../byte-streams.ts'
import type { StoreInput } from './transfer.ts'
import type { ChangedBy, VaultScope } from '../vault/vault.ts'

/** Where one workspace's files are stored: Sluice's own storage, or a provider, with the workspace's key for it. */
export interface FileHost {
  /** Failures: those of the upload and of the host. */
  store(upload: Upload, input: StoreInput): Promise<Outcome<HostedUpload>>
  /** Failures: query_invalid (the host does not support the query), and those of the host. */
  list(input: HostedPageInput): Promise<Outcome<HostedPage>>
  /** Failures: file_unknown, and those of the host. */
  get(id: string, signal: AbortSignal): Promise<Outcome<ShownFile>>
  /** Failures: file_unknown, file_not_downloadable, and those of the host. The caller closes the content. */
  open(id: string, signal: AbortSignal): Promise<Outcome<HostedContent>>
  /** Failures: file_unknown, and those of the host. */
  remove(id: string, signal: AbortSignal): Promise<Outcome<null>>
}

export interface HostedUpload {
  readonly file: ShownFile
  readonly sha256: string
  readonly isReplay: boolean
}

export interface HostedContent {
  readonly content: Content
  readonly file: ShownFile
}

export interface HostedPageInput {
  /** Id of the last file of the previous page; null: the first page. */
  readonly after: string | null
  /** Id of the first file of the following page; null: the caller does not page backwards. */
  readonly before: string | null
  /** Name of the parameter that gave the place, for messages. */
  readonly placeName: string
  /** Only these files; excludes a place. Null for all. */
  readonly ids: readonly string[] | null
  /** Null: the host's own order. */
  readonly order: 'asc' | 'desc' | null
  /** Only files of this purpose; null for all. */
  readonly purpose: string | null
  /** 1 to FILES_PAGE_MAX. */
  readonly limit: number
  readonly signal: AbortSignal
}

export interface HostedPage {
  readonly files: readonly ShownFile[]
  readonly hasMore: boolean
}

/** The provider's key is taken from the effective secrets of `scope`. */
export interface FilesCaller {
  readonly scope: VaultScope
  readonly operation: string
  readonly by: ChangedBy
}

export interface ProviderFiles {
  /** Failures: provider_key_missing, provider_key_unfit, busy, store_unavailable. */
  of(caller: FilesCaller, provider: FileProvider): Promise<Outcome<FileHost>>
}
