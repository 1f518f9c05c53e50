import type { Outcome } from '../../../schemas/failures.ts'
import type { ToldFile } from '../../../schemas/files/files.ts'
import type { FileProvider } from '../../../schemas/workspaces/provider-keys.ts'
import type { Content, Upload } from '../byte-streams.ts'
import type { StoreInput } from './transfer.ts'
import type { ChangedBy, VaultScope } from '../vault/vault.ts'

/**
 * Where the files of one workspace live: our own storage, or a provider under the workspace's key for it.
 * B1.7, B2.7.
 */
export interface FileHost {
  /** Failures: those of the upload and of where it goes. */
  store(upload: Upload, input: StoreInput): Promise<Outcome<HostedUpload>>
  /** Failures: query_invalid (what this host cannot do), and those of the host. */
  list(input: HostedPageInput): Promise<Outcome<HostedPage>>
  /** Failures: file_unknown, and those of the host. */
  get(id: string, signal: AbortSignal): Promise<Outcome<ToldFile>>
  /**
   * Failures: file_unknown, file_not_downloadable, and those of the host. The content is the caller's to
   * close.
   */
  open(id: string, signal: AbortSignal): Promise<Outcome<HostedContent>>
  /** Failures: file_unknown, and those of the host. */
  remove(id: string, signal: AbortSignal): Promise<Outcome<null>>
}

export interface HostedUpload {
  readonly file: ToldFile
  /** Lower-case hex, of the bytes of the file. */
  readonly sha256: string
  readonly isReplay: boolean
}

export interface HostedContent {
  readonly content: Content
  readonly file: ToldFile
}

export interface HostedPageInput {
  /** Id of the last file of the page before; null for the first page. */
  readonly after: string | null
  /** Id of the first file of the page behind; null unless asked for. */
  readonly before: string | null
  /** The parameter of the call that named the place, for messages. */
  readonly placeName: string
  /** Only these, which exclude places; null for all. */
  readonly ids: readonly string[] | null
  /** Null: the host's own order. */
  readonly order: 'asc' | 'desc' | null
  /** Only files of that one; null for all. */
  readonly purpose: string | null
  /** 1 to FILES_PAGE_MAX. */
  readonly limit: number
  readonly signal: AbortSignal
}

export interface HostedPage {
  readonly files: readonly ToldFile[]
  readonly hasMore: boolean
}

/** Who asks for files at a provider: the key for it is released from what that one's vault has. */
export interface FilesCaller {
  readonly scope: VaultScope
  /** Id of the operation, for the audit log. */
  readonly operation: string
  readonly by: ChangedBy
}

/** Files at providers. */
export interface ProviderFiles {
  /** Failures: provider_key_missing, provider_key_unfit, busy, store_unavailable. */
  of(caller: FilesCaller, provider: FileProvider): Promise<Outcome<FileHost>>
}
