/** A front with every operation over real files: database, storage, session threads and key ring. */
import { ok } from '../../../src/schemas/failures.ts'
import type { ProviderFiles } from '../../../src/server/ports/files/file-hosts.ts'
import type { Ports } from '../../../src/server/ports/ports.ts'
import type { ContainerRef } from '../../../src/server/ports/files/storage.ts'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import { openContainerUses } from '../../../src/server/store/containers/container-uses.ts'
import { openIdempotency } from '../../../src/server/store/base/idempotency.ts'
import { accessTo, AUTHORIZATION, keyRecords, openFront, type TestFront } from '../front.ts'
import { SILENT } from '../log.ts'
import { must } from '../must.ts'
import { NO_FILES } from './no-files.ts'
import { staged } from './storage.ts'
import { openTransfers, type TransferOptions, type TransferStand } from './transfers.ts'

export interface FilesFront extends Omit<TransferStand, 'front' | 'port'> {
  readonly front: TestFront
  /** Of `/api/v1`. */
  readonly url: string
  readonly container: ContainerRef
  /** As the inference key of the test's workspace, unless `headers` say otherwise. */
  call(path: string, init?: RequestInit): Promise<Response>
  /** Writes a container file as a sandbox does, past the gateway. */
  write(path: string, content: string | Buffer): Promise<string>
}

export interface FilesFrontOptions extends TransferOptions {
  readonly providerFiles?: ProviderFiles
  readonly ports?: (ports: Ports) => Ports
}

export async function openFilesFront(
  t: Parameters<typeof openTransfers>[0],
  options: FilesFrontOptions = {},
): Promise<FilesFront> {
  const stand = await openTransfers(t, options)
  const { workspaceId, store, storage, transfers, files } = stand
  const records = new Map(
    [...keyRecords()].map(([hash, record]) => [
      hash,
      {
        ...record,
        workspaceId: record.kind === 'management' ? null : workspaceId,
        defaultWorkspaceId: workspaceId,
      },
    ]),
  )
  const unused = (): never => {
    throw new Error('this test calls no model')
  }
  const idempotency = openIdempotency({ store, now: () => performance.now(), random: Math.random })
  t.teardown(() => idempotency.close())
  const ports: Ports = {
    ...NO_FILES,
    models: { resolve: () => null } as unknown as Ports['models'],
    embedder: { answer: unused },
    observer: { log: SILENT, settled: () => undefined, trace: () => undefined },
    files,
    transfers,
    providerFiles: options.providerFiles ?? { of: () => Promise.resolve(ok(unused())) },
    containers: storage.containers,
    containerUses: openContainerUses(store),
    idempotency,
  }
  const front = await openFront(t, OPERATIONS, {
    access: accessTo(records),
    ports: options.ports?.(ports) ?? ports,
  })
  const url = `${front.url}/api/v1`
  const container = { workspaceId, containerId: 'sess_abc' }
  return {
    ...stand,
    front,
    url,
    container,
    call: (path, init = {}) =>
      fetch(url + path, {
        ...init,
        headers: { authorization: AUTHORIZATION, ...(init.headers as Record<string, string> | undefined) },
      }),
    async write(path, content) {
      const id = `cfile_${Buffer.from(path).toString('base64url')}`
      must(await storage.containers.publish(container, path, await staged(storage, Buffer.from(content))))
      return `/containers/${container.containerId}/files/${id}`
    },
  }
}
