import type { Outcome } from '../../../schemas/failures.ts'
import type { ShownFile } from '../../../schemas/files/files.ts'
import { membersOf } from '../../../schemas/values/members.ts'
import type { FileProvider } from '../../../schemas/workspaces/provider-keys.ts'
import type { HostedPage, HostedPageInput } from '../../ports/files/file-hosts.ts'

export type ProviderFile = Omit<ShownFile, 'mimeType' | 'sizeBytes'> & {
  /** Null where the provider gives none. */
  readonly mimeType: string | null
  /** Null where the provider gives none. */
  readonly sizeBytes: number | null
}

/** Fields of the uploader's form, apart from the file. */
export interface UploadFields {
  /** Null: the form has no purpose. */
  readonly purpose: string | null
  /** Seconds after its creation at which the file expires; null: never. */
  readonly expiresAfterS: number | null
}

export type FormFields = readonly (readonly [name: string, value: string])[]

/** The protocol for files of one provider. The paths of all providers are alike, their fields are not. */
export interface FilesProtocol {
  readonly provider: FileProvider
  /** The provider's name for people. */
  readonly name: string
  /** The address used when the catalogue names none, with the API's version and without a trailing slash. */
  readonly baseUrl: string
  /** Names and values of the headers of every call, including the key. */
  headers(key: string): readonly string[]
  /** Fields of an upload's form, apart from the file. Failure: form_invalid (an input that this provider does not support). */
  fields(input: UploadFields): Outcome<FormFields>
  /** The query of a page. Failure: query_invalid (an input that this provider does not support). */
  query(input: HostedPageInput): Outcome<URLSearchParams>
  /** Null for a value that is not this provider's description of a file. */
  readFile(value: unknown): ProviderFile | null
}

/** A page in the form that both providers share; null for another value. */
export function readPage(protocol: FilesProtocol, value: unknown): HostedPage | null {
  const page = membersOf(value)
  const list = page['data']
  if (!Array.isArray(list)) return null
  const files: ShownFile[] = []
  for (const item of list as readonly unknown[]) {
    const file = protocol.readFile(item)
    if (file === null) return null
    files.push(shownFile(file))
  }
  return { files, hasMore: page['has_more'] === true }
}

/** Fills in missing members: a missing type becomes the unknown type, and a missing size becomes 0, since the size has to be a number. */
export function shownFile(file: ProviderFile): ShownFile {
  return { ...file, mimeType: file.mimeType ?? UNKNOWN_TYPE, sizeBytes: file.sizeBytes ?? 0 }
}

export const UNKNOWN_TYPE = 'application/octet-stream'

export function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
