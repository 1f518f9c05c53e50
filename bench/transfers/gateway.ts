/** Sluice as a server of files: the whole node as `npm start` runs it, with one front. */
import { containerFileId } from '../../src/schemas/containers/container-paths.ts'
import type { ProcessRow } from '../../test/support/load/process-cpu.ts'
import { startStand, type Stand } from '../../test/support/nodes/stand.ts'
import { wholeFile } from '../../test/support/files/wave-file.ts'
import type { FileKind } from './payload.ts'
import type { TransferRequest, TransferResult } from './plan.ts'
import type { FileServer, FileTarget } from './target.ts'

/** A path of the shipped catalogue: the small request beside the large ones. */
export const TINY_PATH = '/api/v1/model/openai/text-embedding-3-small'

export interface Gateway extends FileServer {
  readonly stand: Stand
  tiny(): TransferRequest
  loopP99Ms(): Promise<number | null>
}

const UNSYNCED = new URL('./unsynced.js', import.meta.url).href
const CONTAINER = 'bench'
/** Concurrent deletions. */
const DELETIONS = 8

/** The default number of workers, not the small one of tests. */
const SETTINGS = { SLUICE_FRONTS: '1', SLUICE_WORKERS: 'auto' }

export interface UploadInput {
  /** False: without fsync, as nginx and others work. */
  readonly isSynced: boolean
  /** A target for each; media when omitted. */
  readonly kinds?: readonly FileKind[]
  readonly settings?: Readonly<Record<string, string>>
}

export async function startUploadGateway(input: UploadInput): Promise<Gateway> {
  const { isSynced, kinds = ['media'], settings } = input
  const gateway = await startGateway({
    ...settings,
    ...(isSynced ? {} : { NODE_OPTIONS: `--import ${UNSYNCED}` }),
  })
  const name = isSynced ? 'sluice' : 'sluice-unsynced'
  const note = isSynced
    ? 'the whole node with one front; key check, form, sniffing, SHA-256, AES-256-GCM, quota, fsync of file and folder, a row in Postgres'
    : 'sluice, but fsync answered at once (bench/transfers/unsynced.ts); beside servers that do not call it either'
  const request = (): TransferRequest => ({
    method: 'POST',
    path: '/api/v1/files',
    headers: authorization(gateway.stand),
    body: 'form',
    status: 200,
  })
  const targets = kinds.map((file) =>
    targetOf(gateway.stand, {
      name: file === 'media' ? name : `${name}, ${file}`,
      note,
      request: () => ({ ...request(), file }),
    }),
  )
  return { ...gateway, targets }
}

/** A node with a container file and a promoted file of each size. */
export async function startDownloadGateway(sizes: readonly number[]): Promise<Gateway> {
  const gateway = await startGateway({})
  const { stand } = gateway
  try {
    const promoted = new Map<number, string>()
    for (const bytes of sizes) promoted.set(bytes, await seed(stand, bytes))
    const fetching = { method: 'GET', headers: authorization(stand), body: 'none', status: 200 } as const
    const targets = [
      targetOf(stand, {
        name: 'sluice-container',
        note: 'GET /containers/{id}/files/{id}/content, from a plain file',
        request: (bytes) => ({ ...fetching, path: `${containerPath(`${bytes}.wav`)}/content` }),
      }),
      targetOf(stand, {
        name: 'sluice-sealed',
        note: 'GET /files/{id}/content of a promoted file; each segment is verified before its first byte is sent',
        request: (bytes) => ({ ...fetching, path: `/api/v1/files/${promoted.get(bytes) ?? ''}/content` }),
      }),
    ]
    return { ...gateway, targets }
  } catch (failure) {
    await gateway.stop()
    throw failure
  }
}

/** A node with one front and the default number of workers. */
export async function startGateway(settings: Readonly<Record<string, string>>): Promise<Gateway> {
  const stand = await startStand({ settings: { ...SETTINGS, ...settings } })
  return {
    stand,
    targets: [],
    tiny: () => ({
      method: 'GET',
      path: TINY_PATH,
      headers: authorization(stand),
      body: 'none',
      status: 200,
    }),
    loopP99Ms: () => loopP99Ms(stand),
    stop: () => stand.stop(),
  }
}

/** True for a front among a node's processes. */
export function isFront({ arguments: words }: Pick<ProcessRow, 'arguments'>): boolean {
  return /(^|[ /])sluice front /.test(words.join(' '))
}

/** Milliseconds; the largest of the node's processes since the last look. */
export async function loopP99Ms(stand: Stand): Promise<number | null> {
  return loopP99Of((await stand.admin('/metrics')).text)
}

function targetOf(stand: Stand, own: Pick<FileTarget, 'name' | 'note' | 'request'>): FileTarget {
  return {
    ...own,
    pid: stand.pid,
    port: stand.port,
    serves: isFront,
    loopP99Ms: () => loopP99Ms(stand),
    clear: (result) => removeFiles(stand, result),
  }
}

/** In milliseconds. */
export function loopP99Of(metrics: string): number | null {
  const found = /^sluice_event_loop_delay_seconds\{percentile="99"[^}]*\} (\S+)$/m.exec(metrics)?.[1]
  return found === undefined ? null : Number(found) * 1_000
}

/** Puts a file into the container and promotes it. @returns the id of the promoted file */
async function seed(stand: Stand, bytes: number): Promise<string> {
  const name = `${bytes}.wav`
  const headers = authorization(stand)
  const put = await ask(stand, `/api/v1/containers/${CONTAINER}/files/${name}`, {
    method: 'PUT',
    headers,
    body: wholeFile(bytes),
  })
  if (put.status !== 200) throw new Error(`the container file was not written: ${put.status} ${put.text}`)
  const promoted = await ask(stand, `${containerPath(name)}/promote`, { method: 'POST', headers })
  if (promoted.status !== 200)
    throw new Error(`the container file was not promoted: ${promoted.status} ${promoted.text}`)
  return (JSON.parse(promoted.text) as { readonly id: string }).id
}

async function removeFiles(stand: Stand, { ids }: TransferResult): Promise<void> {
  const left = [...ids]
  const work = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const gone = await ask(stand, `/api/v1/files/${id}`, {
        method: 'DELETE',
        headers: authorization(stand),
      })
      if (gone.status !== 200)
        throw new Error(`an uploaded file was not removed: ${gone.status} ${gone.text}`)
    }
  }
  await Promise.all(Array.from({ length: DELETIONS }, work))
}

async function ask(
  stand: Stand,
  path: string,
  init: RequestInit,
): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(`http://127.0.0.1:${stand.port}${path}`, init)
  return { status: answer.status, text: await answer.text() }
}

function containerPath(name: string): string {
  return `/api/v1/containers/${CONTAINER}/files/${containerFileId(name)}`
}

function authorization({ keys }: Stand): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${keys.inference_key}` }
}
