import { ok, type Outcome } from '../../schemas/failures.ts'
import type { ByteReader, Content } from '../ports/byte-streams.ts'
import type { FileRecord } from '../ports/files/files.ts'
import type { StoredObject } from '../ports/files/storage.ts'
import type { ContainerPath, OpenContainerFile } from '../ports/files/transfer.ts'
import type { TransferDeps } from './transfer-deps.ts'

/** A stored file, unsealed in a worker as it is read. */
export async function openFile(
  deps: TransferDeps,
  file: FileRecord,
  signal: AbortSignal,
): Promise<Outcome<Content>> {
  const { storage, keyRing, unsealing } = deps
  const object = await storage.open(file.id, signal)
  if (!object.ok) return object
  let lent: Promise<unknown> = Promise.resolve()
  const read = async (from: number, to: number): Promise<Outcome<ByteReader>> => {
    const dataKey = await keyRing.byId(file.workspaceId, 'files', file.dataKeyId)
    if (!dataKey.ok) return dataKey
    const onLent = (released: Promise<void>): void => void (lent = released)
    return unsealing.open({ file, object: object.value, dataKey: dataKey.value, from, to, signal, onLent })
  }
  return ok({
    sizeBytes: file.sizeBytes,
    etag: `sha256-${file.sha256}`,
    read,
    close: () => void lent.then(() => release(object.value)),
  })
}

/** A container file, as its sandbox wrote it. */
export async function openContainerFile(
  { storage }: TransferDeps,
  from: ContainerPath,
  signal: AbortSignal,
): Promise<Outcome<OpenContainerFile>> {
  const opened = await storage.containers.open(from.container, from.path, signal)
  if (!opened.ok) return opened
  const object = opened.value
  const { sizeBytes, changedAt, version } = object
  const content: Content = {
    sizeBytes,
    etag: version,
    read: (start, to) => Promise.resolve(ok(object.read(start, to, { signal }))),
    close: () => release(object),
  }
  return ok({ content, file: { path: from.path, sizeBytes, changedAt, version } })
}

/** No caller waits for the close, and nothing can be done when the system refuses it. */
function release(object: StoredObject): void {
  object.close().catch(() => undefined)
}
