/** Transfers over a real database, real session threads and either storage, with a front of their own. */
import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { fail, ok, type Failure } from '../../../src/schemas/failures.ts'
import type { HttpOptions } from '../../../src/server/http/front.ts'
import type { AnyOperation, Call } from '../../../src/server/operations/define.ts'
import type { Repeatable } from '../../../src/schemas/idempotency.ts'
import type { FileSweep } from '../../../src/server/ports/files/files.ts'
import type { Storage } from '../../../src/server/ports/files/storage.ts'
import type { ContainerPath, Transfers } from '../../../src/server/ports/files/transfer.ts'
import { openContainerSizes } from '../../../src/server/store/containers/container-sizes.ts'
import { openDataKeys } from '../../../src/server/store/vault/data-keys.ts'
import { openFileSweep } from '../../../src/server/store/files/file-sweep.ts'
import type { FilesOptions } from '../../../src/server/store/files/files.ts'
import { createTransfers } from '../../../src/server/files/transfers.ts'
import { openKeyRing } from '../../../src/server/vault/key-ring.ts'
import { openRootKeys } from '../../../src/server/vault/root-keys.ts'
import type { SessionPool, SessionPoolOptions } from '../../../src/workers/sessions/session-pool.ts'
import { openFileStand, type FileStand } from './files.ts'
import { openFront, operation, tap, type TestFront } from '../front.ts'
import { must } from '../must.ts'
import { openSessions } from './sessions.ts'
import { openDisk } from './storage.ts'
import type { TransferDeps } from '../../../src/server/files/object-writing.ts'

export interface TransferStand extends FileStand {
  readonly storage: Storage
  readonly transfers: Transfers
  readonly sessions: SessionPool
  readonly sweep: FileSweep
  /** `POST /upload` stores a form, `PUT /write/{name}` the container file `out/<name>.txt`. */
  readonly front: TestFront
  readonly port: number
  /** Rows, objects and what is left of either; all zero but `ready` and `objects` when nothing leaks. */
  census(): Promise<Census>
}

export interface Census {
  readonly ready: number
  readonly pending: number
  readonly abandoned: number
  readonly objects: number
  readonly reservedBytes: number
  readonly usedBytes: number
}

export interface TransferOptions {
  readonly storage?: Storage
  /** One of its own unless given. */
  readonly rootKey?: Secret
  readonly files?: Partial<FilesOptions>
  /** Threads of its own, for what ends them or counts them; unless given, those of all stands of the process. */
  readonly sessions?: Partial<SessionPoolOptions>
  readonly http?: Partial<HttpOptions>
  /** Puts something between the transfers and a part of theirs. */
  readonly wrap?: (deps: TransferDeps) => TransferDeps
}

type Teardown = Parameters<typeof openFileStand>[0] & Parameters<typeof openFront>[0]

export async function openTransfers(t: Teardown, options: TransferOptions = {}): Promise<TransferStand> {
  const stand = await openFileStand(t, options.files)
  const storage = options.storage ?? (await openDisk(t)).storage
  const { sessions, intake, unsealing } =
    options.sessions === undefined ? await usualSessions() : await openSessions(t, options.sessions)
  const rootKeys = openRootKeys({
    setting: options.rootKey ?? new Secret(randomBytes(32).toString('hex')),
    file: null,
    dataDir: '/nowhere',
  })
  const keyRing = openKeyRing({ rootKeys, rows: openDataKeys(stand.store) })
  const deps: TransferDeps = {
    files: stand.files,
    sizes: openContainerSizes(stand.store),
    storage,
    keyRing,
    intake,
    unsealing,
  }
  const transfers = createTransfers(options.wrap?.(deps) ?? deps)
  const front = await openFront(t, operationsOf(transfers, stand.workspaceId), options.http)
  const census = async (): Promise<Census> => {
    const [row] = await stand.store.sql<Omit<Census, 'objects'>[]>`
      SELECT count(*) FILTER (WHERE state = 'ready')::int AS ready, count(*) FILTER (WHERE state = 'pending')::int AS pending,
        count(*) FILTER (WHERE state = 'abandoned')::int AS abandoned,
        coalesce((SELECT sum(reserved_bytes)::int FROM workspace_storage), 0) AS "reservedBytes",
        coalesce((SELECT sum(used_bytes)::int FROM workspace_storage), 0) AS "usedBytes"
      FROM files`
    if (row === undefined) throw new Error('a count has one row')
    return { ...row, objects: must(await storage.list(null)).objects.length }
  }
  return {
    ...stand,
    storage,
    transfers,
    sessions,
    sweep: openFileSweep(stand.store),
    front,
    port: front.port,
    census,
  }
}

let usual: ReturnType<typeof openSessions> | null = null

/** A start of their thread takes longer than most tests. */
function usualSessions(): ReturnType<typeof openSessions> {
  usual ??= openSessions({ teardown: (done) => tap?.teardown(done) })
  return usual
}

function operationsOf(transfers: Transfers, workspaceId: string): readonly AnyOperation[] {
  const upload = operation({
    path: '/upload',
    idempotent: 'own',
    input: { upload: 'form' },
    outlivesClient: true,
    async run(call: Call) {
      if (call.upload === null) throw new Error('the pipeline passed no upload')
      const stored = await transfers.store(call.upload, {
        workspaceId,
        signal: call.signal,
        idempotency: call.idempotency,
      })
      return stored.ok ? ok({ kind: 'json', value: stored.value }) : stored
    },
  })
  const write = operation({
    method: 'put',
    path: '/write/{name}',
    input: { params: Type.Object({ name: Type.String() }), upload: 'raw', hasRest: true },
    outlivesClient: true,
    async run(call: Call) {
      if (call.upload === null) throw new Error('the pipeline passed no upload')
      const written = await transfers.writeContainerFile(
        call.upload,
        inContainer(workspaceId, `out/${nameOf(call.params)}.txt`),
        call.signal,
      )
      return written.ok ? ok({ kind: 'json', value: written.value }) : written
    },
  })
  return [upload, write]
}

function nameOf(params: unknown): string {
  return String((params as { readonly name?: unknown }).name)
}

export function inputOf(key: string): Repeatable {
  return { key, apiKeyHash: 'a'.repeat(64), requestDigest: 'b'.repeat(64) }
}

export function inContainer(workspaceId: string, path: string): ContainerPath {
  return { container: { workspaceId, containerId: 'sess_abc' }, path }
}

/** Fails the so many-th call of one method, before it does anything, or after it did everything. */
export function failing<T extends object>(
  target: T,
  method: keyof T,
  failure: Failure,
  when: 'before' | 'after' = 'before',
): T {
  return new Proxy(target, {
    get(whole, name) {
      const value: unknown = Reflect.get(whole, name)
      if (name !== method) return typeof value === 'function' ? (value.bind(whole) as unknown) : value
      return async (...args: unknown[]) => {
        if (when === 'after') await (value as (...all: unknown[]) => Promise<unknown>).apply(whole, args)
        return fail(failure.name)
      }
    },
  })
}

/** What the sweep does with uploads that only it may end. */
export async function swept({ sweep, storage }: Pick<TransferStand, 'sweep' | 'storage'>): Promise<void> {
  for (const stale of must(await sweep.claimStale(100))) {
    must(await storage.remove(stale.id))
    must(await sweep.forget(stale))
  }
}
