/** A real loopback provider of files, in the form of OpenAI or Anthropic, that can be made to misbehave. */
import busboy from 'busboy'
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { openEgress } from '../../../src/server/egress/egress.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { fail, ok } from '../../../src/schemas/failures.ts'
import type { Egress } from '../../../src/server/ports/egress/egress.ts'
import type { FileHost, FilesCaller, ProviderFiles } from '../../../src/server/ports/files/file-hosts.ts'
import {
  FILE_PROVIDERS,
  providerKeyName,
  type FileProvider,
} from '../../../src/schemas/workspaces/provider-keys.ts'
import type { SecretReleases } from '../../../src/server/ports/vault/vault.ts'
import type { FilesTimes } from '../../../src/server/upstream/files/files-link.ts'
import { createProviderFiles } from '../../../src/server/upstream/files/provider-files.ts'
import { must } from '../must.ts'
import { openSessions, type SessionStand } from './sessions.ts'

export const PROVIDER_KEY = 'sk-own-key-of-the-workspace-0123456789'

/** Contents above this are counted and hashed only. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024

export interface KeptFile {
  readonly id: string
  readonly filename: string
  readonly type: string
  readonly fields: Readonly<Record<string, string>>
  readonly sizeBytes: number
  readonly sha256: string
  readonly content: Buffer
}

export interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Does what an honest provider does. */
  honest(): void
}

export type FilesBehaviour = (exchange: Exchange) => void

export interface FilesProvider {
  readonly baseUrl: string
  /** `METHOD path`, each when its head has come. */
  readonly calls: readonly string[]
  readonly heads: readonly IncomingMessage['headers'][]
  readonly files: Map<string, KeptFile>
  /** Bytes of file parts that have come, and requests that ended without being whole. */
  readonly seen: { fileBytes: number; broken: number }
  /** What happens to the requests from now on; an honest provider's answer at first. */
  behave(behaviour: FilesBehaviour): void
}

/** Resolves when it holds; looks once a turn. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((next) => setImmediate(next))
}

type Teardown = Parameters<typeof openSessions>[0]

export async function startFilesProvider(t: Teardown): Promise<FilesProvider> {
  const sockets = new Set<Socket>()
  const provider = {
    baseUrl: '',
    calls: [] as string[],
    heads: [] as IncomingMessage['headers'][],
    files: new Map<string, KeptFile>(),
    seen: { fileBytes: 0, broken: 0 },
    behave: (next: FilesBehaviour) => void (behaviour = next),
  }
  let behaviour: FilesBehaviour = ({ honest }) => honest()
  const server = createServer((req, res) => {
    provider.calls.push(`${req.method} ${req.url}`)
    provider.heads.push(req.headers)
    res.on('error', () => undefined)
    req.on('error', () => undefined)
    res.on('close', () => void (req.complete || provider.seen.broken++))
    behaviour({ req, res, honest: () => answer(provider, req, res) })
  })
  // Longer than any stall: no test asks for the fault of a connection that closes just as it is used again.
  server.keepAliveTimeout = 60_000
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((listening) => server.listen(0, 'localhost', listening))
  t.teardown(
    () =>
      new Promise<void>((closed) => {
        server.close(() => closed())
        for (const socket of sockets) socket.destroy()
      }),
  )
  provider.baseUrl = `http://localhost:${(server.address() as AddressInfo).port}/v1`
  return provider
}

export interface FilesStand {
  readonly provider: FilesProvider
  readonly egress: Egress
  readonly sessions: SessionStand
  readonly providerFiles: ProviderFiles
  /** Resolves when the gate and the session threads hold nothing any more. */
  rest(): Promise<void>
}

export interface StandOptions {
  /** Of the workspace, for both providers; null = it has none. */
  readonly key?: string | null
  /** Used instead of that key. */
  readonly releases?: SecretReleases
  readonly times?: Partial<FilesTimes>
}

export async function openFilesStand(
  t: Teardown,
  { key = PROVIDER_KEY, times = {}, releases = releasing(key) }: StandOptions = {},
): Promise<FilesStand> {
  const provider = await startFilesProvider(t)
  const sessions = await openSessions(t)
  const egress = openEgress()
  t.teardown(() => egress.close())
  const providers = FILE_PROVIDERS.map((slug) => ({ slug, baseUrl: provider.baseUrl }))
  const providerFiles = createProviderFiles({ egress, releases, intake: sessions.intake, providers, times })
  const rest = (): Promise<void> => until(() => egress.load.calls === 0 && sessions.intake.waitingBytes === 0)
  return { provider, egress, sessions, providerFiles, rest }
}

/** A vault with that key for each provider, bound to the host of the loopback provider. */
function releasing(key: string | null): SecretReleases {
  const names = FILE_PROVIDERS.map(providerKeyName)
  return {
    release: ({ name, host }) =>
      Promise.resolve(
        key !== null && names.includes(name) && host === 'localhost'
          ? ok(new Secret(key))
          : fail('secret_not_released', { fields: { name } }),
      ),
  }
}

export const CALLER: FilesCaller = {
  scope: { organizationId: 'o', workspaceId: 'w', internId: null },
  operation: 'files.get',
  by: { actor: { kind: 'key', id: 'k' }, requestId: 'r' },
}

export async function hostAt({ providerFiles }: FilesStand, provider: FileProvider): Promise<FileHost> {
  return must(await providerFiles.of(CALLER, provider))
}

function answer(provider: FilesProvider, req: IncomingMessage, res: ServerResponse): void {
  const isAnthropic = req.headers['x-api-key'] !== undefined
  const key = req.headers['x-api-key'] ?? req.headers.authorization?.replace('Bearer ', '')
  if (key !== PROVIDER_KEY)
    return send(res, 401, {
      error: { message: `Incorrect API key provided: ${String(key)}`, code: 'invalid_api_key' },
    })
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://provider')
  const [, , , id, part] = pathname.split('/').map(decodeURIComponent)
  const tell = isAnthropic ? asAnthropic : asOpenAi
  if (req.method === 'POST') return receive(provider, req, (file) => send(res, 200, tell(file)))
  if (id === undefined) {
    const all = [...provider.files.values()]
    const after = searchParams.get(isAnthropic ? 'after_id' : 'after')
    const from = all.findIndex((file) => file.id === after) + 1
    const to = from + Number(searchParams.get('limit'))
    return send(res, 200, {
      data: all.slice(from, to).map(tell),
      has_more: to < all.length,
      first_id: null,
      last_id: null,
    })
  }
  const file = provider.files.get(id)
  if (file === undefined) return send(res, 404, { error: { message: `No such File object: ${id}` } })
  if (req.method === 'DELETE') {
    provider.files.delete(id)
    return send(res, 200, { id, object: 'file', deleted: true })
  }
  if (part === undefined) return send(res, 200, tell(file))
  sendContent(file, req.headers.range, res)
}

function sendContent({ content }: KeptFile, range: string | undefined, res: ServerResponse): void {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  if (from === undefined || to === undefined) {
    res
      .writeHead(200, { 'content-length': content.length, 'content-type': 'application/octet-stream' })
      .end(content)
    return
  }
  const bytes = content.subarray(Number(from), Number(to) + 1)
  res
    .writeHead(206, {
      'content-length': bytes.length,
      'content-range': `bytes ${from}-${to}/${content.length}`,
    })
    .end(bytes)
}

function receive({ files, seen }: FilesProvider, req: IncomingMessage, done: (file: KeptFile) => void): void {
  const fields: Record<string, string> = {}
  const hash = createHash('sha256')
  const pieces: Buffer[] = []
  let filename = ''
  let type = ''
  let sizeBytes = 0
  const form = busboy({ headers: req.headers, defParamCharset: 'utf8', preservePath: true })
  form.on('field', (name, value) => void (fields[name] = value))
  form.on('error', () => undefined)
  form.on('file', (_name, stream, about) => {
    filename = about.filename ?? ''
    type = about.mimeType
    stream.on('error', () => undefined)
    stream.on('data', (piece: Buffer) => {
      sizeBytes += piece.length
      seen.fileBytes += piece.length
      hash.update(piece)
      if (sizeBytes <= KEPT_BYTES_MAX) pieces.push(piece)
    })
  })
  form.on('close', () => {
    if (!req.complete) return
    const id = `file-${files.size + 1}`
    const file = {
      id,
      filename,
      type,
      fields,
      sizeBytes,
      sha256: hash.digest('hex'),
      content: Buffer.concat(pieces),
    }
    files.set(id, file)
    done(file)
  })
  req.pipe(form)
}

function asOpenAi({ id, filename, sizeBytes, fields }: KeptFile): object {
  const expiresAfterS = Number(fields['expires_after[seconds]'] ?? NaN)
  const expiry =
    fields['expires_after[anchor]'] === 'created_at'
      ? { expires_at: 1_700_000_000 + expiresAfterS }
      : { expires_at: null }
  return {
    id,
    object: 'file',
    bytes: sizeBytes,
    created_at: 1_700_000_000,
    ...expiry,
    filename,
    purpose: fields['purpose'],
    status: 'processed',
  }
}

function asAnthropic({ id, filename, type, sizeBytes }: KeptFile): object {
  return {
    id,
    type: 'file',
    filename,
    mime_type: type,
    size_bytes: sizeBytes,
    created_at: '2025-04-15T18:37:24.100435Z',
    downloadable: false,
  }
}

export function send(res: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body)
  res
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text)
}
