/**
 * A whole node with its files seen from all sides: HTTP, the command line, its database, its storage, its
 * processes.
 */
import { readdir, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openStore, type Store } from '../../../src/server/store/base/open.ts'
import { runtimeOf } from '../../../src/server/supervisor/data-directory/data-directory.ts'
import type { Proof } from '../../prove/proof.ts'
import { connected } from '../wire/connected.ts'
import { until } from '../nodes/node.ts'
import { s3Settings, type FakeS3 } from './s3.ts'
import { clientPortsOf } from '../wire/sockets.ts'
import { startStand, type Stand } from '../nodes/stand.ts'
import { UploadClient, type UploadAnswer, type UploadPlan } from './upload-client.ts'

export interface FileStandInput {
  readonly settings?: Readonly<Record<string, string>>
  /** Where objects are when it is not the disk. */
  readonly s3?: FakeS3
}

export interface FileRowSeen {
  readonly id: string
  readonly state: 'pending' | 'ready' | 'abandoned' | 'deleted'
  readonly size_bytes: string | null
  readonly sha256: string | null
}

/** What a moment without uploads must look like. */
export interface Debris {
  /** An upload that waits for quota has neither a row nor a session, and may begin after these were read. */
  readonly calls: number
  readonly pendingRows: number
  readonly abandonedRows: number
  readonly readyWithoutObject: number
  readonly objectsWithoutRow: number
  readonly stagingFiles: number
  readonly reservedBytes: number
  readonly sessions: number
}

const OBJECT_ID = /^file_[A-Za-z0-9_-]+$/

export class FileStand {
  readonly stand: Stand
  readonly store: Store
  readonly s3: FakeS3 | null
  readonly folder: string

  constructor(
    stand: Stand,
    store: Store,
    { s3 = null, folder }: { readonly s3: FakeS3 | null; readonly folder: string },
  ) {
    this.stand = stand
    this.store = store
    this.s3 = s3
    this.folder = folder
  }

  get workspaceId(): string {
    return this.stand.keys.workspace_id
  }

  client(sizeBytes: number, more: Partial<UploadPlan> = {}): UploadClient {
    return new UploadClient({
      port: this.stand.port,
      apiKey: this.stand.keys.inference_key,
      sizeBytes,
      ...more,
    })
  }

  upload(sizeBytes: number, more: Partial<UploadPlan> = {}): Promise<UploadAnswer> {
    return this.client(sizeBytes, more).run()
  }

  async ask(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await fetch(`http://127.0.0.1:${this.stand.port}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.stand.keys.inference_key}`, connection: 'close', ...headers },
    })
    return { status: answer.status, text: await answer.text() }
  }

  /** True when a front answers a read of files. */
  serves(): Promise<boolean> {
    return this.ask('GET', '/files').then(
      ({ status }) => status === 200,
      () => false,
    )
  }

  async remove(id: string): Promise<number> {
    return (await this.ask('DELETE', `/files/${id}`)).status
  }

  /** Writes a container file and promotes it; @returns the id of the stored file, which may be downloaded */
  async promoted(sizeBytes: number, name: string): Promise<string> {
    const path = `/containers/sess_prove/files/${name}`
    const put = await this.upload(sizeBytes, { put: `/api/v1${path}` })
    const id = `cfile_${Buffer.from(name).toString('base64url')}`
    const answer = await this.ask('POST', `/containers/sess_prove/files/${id}/promote`)
    const found = (JSON.parse(answer.text) as { readonly id?: string }).id
    if (put.status !== 200 || found === undefined)
      throw new Error(`no promoted file: ${put.status} ${put.type}, ${answer.text}`)
    return found
  }

  async rows(): Promise<readonly FileRowSeen[]> {
    return this.store.sql<FileRowSeen[]>`SELECT id, state, size_bytes, sha256 FROM files ORDER BY id`
  }

  async usage(): Promise<{ readonly usedBytes: number; readonly reservedBytes: number }> {
    const [row] = await this.store.sql<{ used_bytes: string; reserved_bytes: string }[]>`
      SELECT used_bytes, reserved_bytes FROM workspace_storage WHERE workspace_id = ${this.workspaceId}`
    return { usedBytes: Number(row?.used_bytes ?? 0), reservedBytes: Number(row?.reserved_bytes ?? 0) }
  }

  /** Paths of sealed objects by id. In S3 the paths are keys. */
  async objects(): Promise<ReadonlyMap<string, string>> {
    if (this.s3 !== null) {
      const keys = [...this.s3.objects.keys()].filter((key) => key.startsWith('node/objects/'))
      return new Map(keys.map((key) => [key.slice('node/objects/'.length), key]))
    }
    const found = await promisify(readdir)(join(this.folder, 'objects'), {
      recursive: true,
      withFileTypes: true,
    })
    return new Map(
      found
        .filter((entry) => entry.isFile() && OBJECT_ID.test(entry.name))
        .map((entry) => [entry.name, join(entry.parentPath, entry.name)]),
    )
  }

  get stagingFolder(): string {
    return this.s3 === null ? join(this.folder, 'staging') : join(this.stand.dataDir, 'staging')
  }

  staging(): readonly string[] {
    return readdirSync(this.stagingFolder).map((name) => join(this.stagingFolder, name))
  }

  async metric(name: string): Promise<number> {
    const { text } = await this.stand.admin('/metrics')
    const rows = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+-]+)$`, 'gm'))]
    return rows.reduce((sum, [, value]) => sum + Number(value), 0)
  }

  /** Calls under way, with those whose client has left. */
  calls(): Promise<number> {
    return this.metric('sluice_requests_in_flight')
  }

  async debris(): Promise<Debris> {
    const calls = await this.calls()
    const [rows, objects] = [await this.rows(), await this.objects()]
    const known = new Set(rows.filter(({ state }) => state === 'ready').map(({ id }) => id))
    return {
      calls,
      pendingRows: rows.filter(({ state }) => state === 'pending').length,
      abandonedRows: rows.filter(({ state }) => state === 'abandoned').length,
      readyWithoutObject: [...known].filter((id) => !objects.has(id)).length,
      objectsWithoutRow: [...objects.keys()].filter((id) => !known.has(id)).length,
      stagingFiles: this.staging().length,
      reservedBytes: (await this.usage()).reservedBytes,
      sessions: (await this.metric('sluice_intakes')) + (await this.metric('sluice_unsealings')),
    }
  }

  /** Lets the leases of all uploads run out now, as a minute without their front would. */
  async expireLeases(): Promise<void> {
    await this.store
      .sql`UPDATE files SET lease_until = clock_timestamp() - interval '1 s' WHERE state IN ('pending', 'abandoned')`
  }

  sweep(): Promise<Record<string, unknown>> {
    return this.stand.cli('sweep', '--min-age', '0')
  }

  async untilRow(state: FileRowSeen['state']): Promise<void> {
    await until(`a row is ${state}`, async () => (await this.rows()).some((row) => row.state === state))
  }
}

export function isClean(debris: Debris): boolean {
  return Object.values(debris).every((count) => count === 0)
}

export function textOfDebris(debris: Debris): string {
  const found = Object.entries(debris)
    .filter(([, count]) => count !== 0)
    .map(([what, count]) => `${what} ${count}`)
  return found.length === 0 ? 'nothing left' : found.join(', ')
}

/** Files and client connections that the fronts hold while there are no transfers. */
export function heldBy(node: FileStand): readonly string[] {
  const places = [node.folder, node.stand.dataDir]
  return node.stand
    .fronts()
    .flatMap((pid) => [
      ...filesOf(pid).filter(
        (path) =>
          /\/(?:staging|objects|containers)(?:\/| |$)/.test(path) &&
          places.some((place) => path.startsWith(place)),
      ),
      ...[...clientPortsOf(pid, node.stand.port)].map((port) => `the connection of port ${port}`),
    ])
}

function filesOf(pid: number): readonly string[] {
  const found: string[] = []
  try {
    for (const name of readdirSync(`/proc/${pid}/fd`)) found.push(pathAt(`/proc/${pid}/fd/${name}`))
  } catch {
    // It ended while we looked: it holds nothing.
  }
  return found
}

function pathAt(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    // Closed since.
    return ''
  }
}

export async function startFileStand(
  proof: Proof,
  { settings = {}, s3 }: FileStandInput = {},
): Promise<FileStand> {
  const stand = await startStand({
    settings: s3 === undefined ? settings : { ...settings, ...s3Settings(s3) },
  })
  proof.after(() => stand.stop())
  const runtime = runtimeOf(stand.dataDir)
  if (runtime === null) throw new Error(`the node published nothing:\n${stand.output()}`)
  const store = await connected(
    openStore({ url: runtime.databaseUrl, poolMax: 4, applicationName: 'sluice-prove' }),
  )
  proof.after(() => store.close())
  return new FileStand(stand, store, {
    s3: s3 ?? null,
    folder: settings['SLUICE_OBJECTS'] ?? join(stand.dataDir, 'files'),
  })
}
