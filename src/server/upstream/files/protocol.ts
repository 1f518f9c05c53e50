import type { Outcome } from '../../../schemas/failures.ts'
import type { ToldFile } from '../../../schemas/files/files.ts'
import type { FileProvider } from '../../../schemas/workspaces/provider-keys.ts'
import type { HostedPage, HostedPageInput } from '../../ports/files/file-hosts.ts'

/** A file as its provider tells of it. */
export type ProviderFile = Omit<ToldFile, 'mimeType' | 'sizeBytes'> & {
  /** Null where the provider does not say. */
  readonly mimeType: string | null
  readonly sizeBytes: number | null
}

/** What the uploader's form says beside the file. */
export interface UploadFields {
  /** Null: it names none. */
  readonly purpose: string | null
  /** Seconds after its creation until the file goes; null: it stays. */
  readonly expiresAfterS: number | null
}

export type FormFields = readonly (readonly [name: string, value: string])[]

/** How one provider keeps files: its paths are alike, its words are not. */
export interface FilesProtocol {
  readonly provider: FileProvider
  /** What people call it. */
  readonly name: string
  /** With the API's version and without a trailing slash; where the catalogue names none. */
  readonly baseUrl: string
  /** Names and values that every call carries, the key among them. */
  headers(key: string): readonly string[]
  /** Fields of an upload's form beside the file. Failure: form_invalid (what this provider cannot do). */
  fields(input: UploadFields): Outcome<FormFields>
  /** The query of a page. Failure: query_invalid (what this provider cannot do). */
  query(input: HostedPageInput): Outcome<URLSearchParams>
  /** Null: not a file as this provider writes one. */
  readFile(value: unknown): ProviderFile | null
}

/** A page in the form that both providers share; null when it is none. */
export function readPage(protocol: FilesProtocol, value: unknown): HostedPage | null {
  const page = membersOf(value)
  const list = page['data']
  if (!Array.isArray(list)) return null
  const files: ToldFile[] = []
  for (const item of list as readonly unknown[]) {
    const file = protocol.readFile(item)
    if (file === null) return null
    files.push(toldFile(file))
  }
  return { files, hasMore: page['has_more'] === true }
}

/** What nobody says is told as unknown, except the size, which has to be a number. */
export function toldFile(file: ProviderFile): ToldFile {
  return { ...file, mimeType: file.mimeType ?? UNKNOWN_TYPE, sizeBytes: file.sizeBytes ?? 0 }
}

export const UNKNOWN_TYPE = 'application/octet-stream'

export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

export function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
