import type { Outcome } from '../../schemas/failures.ts'
import type { FileRecord } from '../ports/files/files.ts'
import type { Transfers } from '../ports/files/transfer.ts'
import { promote, writeContainerFile } from './container-files.ts'
import { openContainerFile, openFile } from './contents.ts'
import type { TransferDeps } from './transfer-deps.ts'
import { storeFile } from './store-file.ts'

/** Whole files between clients, storage and rows. */
export function createTransfers(deps: TransferDeps): Transfers {
  return {
    store: (upload, input) => storeFile(deps, upload, input),
    promote: (from, input) => promote(deps, from, input),
    writeContainerFile: (upload, to, signal) => writeContainerFile(deps, upload, to, signal),
    openFile: (file, signal) => openFile(deps, file, signal),
    openContainerFile: (from, signal) => openContainerFile(deps, from, signal),
    remove: (workspaceId, id) => remove(deps, workspaceId, id),
  }
}

/** Removes the row first: the sweep finds bytes that stay behind. Design §5. */
async function remove(
  { files, storage }: TransferDeps,
  workspaceId: string,
  id: string,
): Promise<Outcome<FileRecord>> {
  const removed = await files.remove(workspaceId, id)
  if (removed.ok) await storage.remove(id)
  return removed
}
