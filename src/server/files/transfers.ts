import type { Outcome } from '../../schemas/failures.ts'
import type { FileRecord } from '../ports/files/files.ts'
import type { Transfers } from '../ports/files/transfer.ts'
import { promote, writeContainerFile } from './container-files.ts'
import { openContainerFile, openFile } from './contents.ts'
import type { TransferParts } from './parts.ts'
import { storeFile } from './store-file.ts'

/** Whole files between clients, storage and rows. */
export function createTransfers(parts: TransferParts): Transfers {
  return {
    store: (upload, wish) => storeFile(parts, upload, wish),
    promote: (from, wish) => promote(parts, from, wish),
    writeContainerFile: (upload, to, signal) => writeContainerFile(parts, upload, to, signal),
    openFile: (file, signal) => openFile(parts, file, signal),
    openContainerFile: (from, signal) => openContainerFile(parts, from, signal),
    remove: (workspaceId, id) => remove(parts, workspaceId, id),
  }
}

/** The row first: bytes that stay behind are found by the sweep. Design §5. */
async function remove({ files, storage }: TransferParts, workspaceId: string, id: string): Promise<Outcome<FileRecord>> {
  const removed = await files.remove(workspaceId, id)
  if (removed.ok) await storage.remove(id)
  return removed
}
