import { createHash, randomBytes } from 'node:crypto'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  isProviderKey,
  providerKeyHost,
  providerKeyName,
  type FileProvider,
} from '../../../schemas/workspaces/provider-keys.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import { endedBy } from '../../../schemas/values/call-ended.ts'
import { FILE_BYTES_MAX } from '../../../schemas/files/file-limits.ts'
import type { ShownFile } from '../../../schemas/files/files.ts'
import type { Egress, EgressStream } from '../../ports/egress/egress.ts'
import type {
  FileHost,
  FilesCaller,
  HostedContent,
  HostedPage,
  HostedPageInput,
  HostedUpload,
  ProviderFiles,
} from '../../ports/files/file-hosts.ts'
import type { Intake } from '../../ports/files/intake.ts'
import type { Provider } from '../../ports/models/models.ts'
import type { SecretReleases } from '../../ports/vault/vault.ts'
import type { ByteReader, Content, Upload } from '../../ports/byte-streams.ts'
import type { StoreInput } from '../../ports/files/transfer.ts'
import { anthropicFiles } from './anthropic-files.ts'
import { FILES_TIMES, FilesLink, type FilesTimes } from './files-link.ts'
import { openAiFiles } from './openai-files.ts'
import { type FilesProtocol, type ProviderFile, readPage, shownFile } from './protocol.ts'
import { sendFile, type Sent } from './send-file.ts'

/** Characters of a provider's file id. Decision. */
export const PROVIDER_FILE_ID_CHARS_MAX = 256

const BOUNDARY_BYTES = 24

const PROTOCOLS: Readonly<Record<FileProvider, FilesProtocol>> = {
  openai: openAiFiles,
  anthropic: anthropicFiles,
}

export interface ProviderFilesOptions {
  readonly egress: Egress
  readonly releases: SecretReleases
  readonly intake: Intake
  /** Providers of the catalogue: the base URLs of its `openai` and `anthropic` replace the default ones. */
  readonly providers: readonly Pick<Provider, 'slug' | 'baseUrl'>[]
  readonly times?: Partial<FilesTimes>
  readonly random?: (count: number) => Uint8Array
}

/** Files at providers; each workspace has its files under its own key. */
export function createProviderFiles({
  egress,
  releases,
  intake,
  providers,
  times,
  random = randomBytes,
}: ProviderFilesOptions): ProviderFiles {
  const boundary = (): string => `sluice-${Buffer.from(random(BOUNDARY_BYTES)).toString('hex')}`
  return {
    async of(caller, provider) {
      const protocol = PROTOCOLS[provider]
      const baseUrl = filesAddress(provider, providers)
      const key = await keyOf(caller, { slug: provider, name: protocol.name, baseUrl }, releases)
      if (!key.ok) return key
      const link = new FilesLink({
        egress,
        protocol,
        baseUrl,
        key: key.value,
        times: { ...FILES_TIMES, ...times },
      })
      return ok(new ProviderHost({ link, intake, boundary }))
    },
  }
}

/** Address of a provider's files: that of the catalogue, or the default. */
export function filesAddress(provider: FileProvider, providers: ProviderFilesOptions['providers']): string {
  const named = providers.find(({ slug }) => slug === provider)?.baseUrl ?? ''
  return named === '' ? PROTOCOLS[provider].baseUrl : named
}

/** The workspace's key for a provider. Failures: provider_key_missing, provider_key_unfit, and those of a release. */
async function keyOf(
  { scope, operation, by }: FilesCaller,
  { slug, name, baseUrl }: Pick<Provider, 'slug' | 'name' | 'baseUrl'>,
  releases: SecretReleases,
): Promise<Outcome<Secret>> {
  const secret = providerKeyName(slug)
  const host = providerKeyHost(baseUrl)
  const missing = fail('provider_key_missing', {
    fields: { provider: name, slug, secret, host: host ?? new URL(baseUrl).hostname },
  })
  if (host === null) return missing
  const released = await releases.release({ scope, name: secret, host, operation, by })
  if (!released.ok) return released.failure.name === 'secret_not_released' ? missing : released
  return isProviderKey(released.value.reveal())
    ? released
    : fail('provider_key_unfit', { fields: { secret } })
}

const PARTIAL = 206

interface HostDeps {
  readonly link: FilesLink
  readonly intake: Intake
  /** Creates an unpredictable text for the boundary of a form. */
  readonly boundary: () => string
}

/** The files of one workspace at a provider; Sluice stores nothing about them. */
class ProviderHost implements FileHost {
  readonly #link: FilesLink
  readonly #intake: Intake
  readonly #boundary: () => string

  constructor({ link, intake, boundary }: HostDeps) {
    this.#link = link
    this.#intake = intake
    this.#boundary = boundary
  }

  /** Each call stores a new file: a repeat with an idempotency key ends before this method. */
  async store(upload: Upload, { workspaceId, signal }: StoreInput): Promise<Outcome<HostedUpload>> {
    const session = this.#intake.open({
      holder: workspaceId,
      target: null,
      content: 'refuse',
      bytesMax: FILE_BYTES_MAX,
    })
    if (!session.ok) return session
    try {
      const sent = await sendFile({
        upload,
        session: session.value,
        link: this.#link,
        boundary: this.#boundary(),
        signal,
      })
      return sent.ok ? await this.#stored(sent.value, signal) : sent
    } finally {
      await session.value.cancel()
    }
  }

  async list(input: HostedPageInput): Promise<Outcome<HostedPage>> {
    const query = this.#link.protocol.query(input)
    if (!query.ok) return query
    const answer = await this.#link.call('GET', `?${query.value.toString()}`, {
      signal: input.signal,
      missing: 'upstream_failed',
    })
    if (!answer.ok) return answer
    const page = readPage(this.#link.protocol, answer.value)
    return page === null ? this.#link.invalid(new Error('not a page of files')) : ok(page)
  }

  async get(id: string, signal: AbortSignal): Promise<Outcome<ShownFile>> {
    const file = await this.#fileOf(id, signal)
    return file.ok ? ok(shownFile(file.value)) : file
  }

  async open(id: string, signal: AbortSignal): Promise<Outcome<HostedContent>> {
    const found = await this.#fileOf(id, signal)
    if (!found.ok) return found
    const { sizeBytes } = found.value
    if (sizeBytes === null) return this.#link.invalid(new Error('a file without a size'))
    const content: Content = {
      sizeBytes,
      etag: this.#etagOf(found.value),
      read: (from, to) => this.#read(id, { from, to, sizeBytes, signal }),
      // The body's reader closes its connection; without a reader there is no connection.
      close: () => undefined,
    }
    return ok({ content, file: shownFile(found.value) })
  }

  async remove(id: string, signal: AbortSignal): Promise<Outcome<null>> {
    const path = pathOf(id)
    if (path === null) return fail('file_unknown')
    const answer = await this.#link.call('DELETE', path, { signal, missing: 'file_unknown' })
    return answer.ok ? ok(null) : answer
  }

  async #fileOf(id: string, signal: AbortSignal): Promise<Outcome<ProviderFile>> {
    const path = pathOf(id)
    if (path === null) return fail('file_unknown')
    const answer = await this.#link.call('GET', path, { signal, missing: 'file_unknown' })
    if (!answer.ok) return answer
    const file = this.#link.protocol.readFile(answer.value)
    return file === null ? this.#link.invalid(new Error('not a file')) : ok(file)
  }

  async #stored({ answer, verdict }: Sent, signal: AbortSignal): Promise<Outcome<HostedUpload>> {
    const json = this.#link.read(answer, 'upstream_failed')
    if (!json.ok) return json
    const file = this.#link.protocol.readFile(json.value)
    if (file === null || verdict === null) return this.#link.invalid(new Error('not a file'))
    // The client disconnected after the provider had received the whole file; C24 requires that nothing stays stored.
    if (signal.aborted) {
      await this.remove(file.id, unending())
      return { ok: false, failure: endedBy(signal) }
    }
    const { mimeType, sizeBytes, sha256 } = verdict
    if (file.sizeBytes !== null && file.sizeBytes !== sizeBytes) {
      await this.remove(file.id, unending())
      return this.#link.invalid(new Error('the provider stored a different number of bytes'))
    }
    return ok({ file: { ...file, mimeType: file.mimeType ?? mimeType, sizeBytes }, sha256, isReplay: false })
  }

  async #read(id: string, { from, to, sizeBytes, signal }: Span): Promise<Outcome<ByteReader>> {
    const range = to - from === sizeBytes ? null : `bytes=${from}-${to - 1}`
    const opened = await this.#link.open(`${pathOf(id) ?? ''}/content`, { range, signal })
    if (!opened.ok) return opened
    const skipBytes = skipOf(opened.value, { from, to, sizeBytes })
    if (skipBytes !== null) return ok(new PartReader(opened.value.body, skipBytes, to - from))
    opened.value.body.close()
    return this.#link.invalid(new Error('the content differs from its record'))
  }

  /** ETag of a file. Files of providers never change: equal facts mean equal bytes. */
  #etagOf({ id, sizeBytes, createdAt }: ProviderFile): string {
    const facts = JSON.stringify([this.#link.protocol.provider, id, sizeBytes, createdAt.getTime()])
    return createHash('sha256').update(facts).digest('hex').slice(0, 32)
  }
}

interface Span {
  readonly from: number
  readonly to: number
  readonly sizeBytes: number
  readonly signal: AbortSignal
}

/** A new signal for each call: a shared signal would count the listeners of all concurrent calls and warn of a leak. */
function unending(): AbortSignal {
  return new AbortController().signal
}

/** Path of a file below `/files`; null for a text that cannot be an id, and for a text that would leave that path. */
function pathOf(id: string): string | null {
  const isId = id.length <= PROVIDER_FILE_ID_CHARS_MAX && id.isWellFormed() && !/^\.{0,2}$/.test(id)
  return isId ? `/${encodeURIComponent(id)}` : null
}

/** Bytes in the response before the requested range; null when the response is neither the file nor the requested part of it. */
function skipOf(
  { status, header }: EgressStream,
  { from, to, sizeBytes }: Omit<Span, 'signal'>,
): number | null {
  const encoding = header('content-encoding') ?? 'identity'
  const length = header('content-length')
  if (encoding.toLowerCase() !== 'identity') return null
  const isPart = status === PARTIAL
  if (isPart && !(header('content-range') ?? '').startsWith(`bytes ${from}-${to - 1}/`)) return null
  if (length !== null && Number(length) !== (isPart ? to - from : sizeBytes)) return null
  return isPart ? 0 : from
}

/** A part of another reader's bytes: skips a number of bytes, then returns exactly the requested number. */
class PartReader implements ByteReader {
  readonly #source: ByteReader
  #skipBytes: number
  #missingBytes: number

  constructor(source: ByteReader, skipBytes: number, partBytes: number) {
    this.#source = source
    this.#skipBytes = skipBytes
    this.#missingBytes = partBytes
  }

  /** Failures: those of the source; upstream_invalid when the source ends early. */
  async next(): Promise<Outcome<Uint8Array | null>> {
    while (this.#missingBytes > 0) {
      const next = await this.#source.next()
      if (!next.ok) return next
      if (next.value === null) return fail('upstream_invalid', { cause: new Error('the file ended early') })
      const piece = next.value.subarray(this.#skipBytes, this.#skipBytes + this.#missingBytes)
      this.#skipBytes = Math.max(0, this.#skipBytes - next.value.length)
      this.#missingBytes -= piece.length
      if (piece.length > 0) return ok(piece)
    }
    return ok(null)
  }

  close(): void {
    this.#source.close()
  }
}
