import { open, type FileHandle } from 'node:fs/promises'
import { FSYNCS_MAX } from '../../schemas/files/file-limits.ts'
import { Semaphore } from '../structures/semaphore.ts'

/**
 * Of the whole process: sixty at once on the thread pool delayed an unrelated `stat` by 172 ms. Design §2.
 */
const turns = new Semaphore(FSYNCS_MAX)

/** Brings a file, or the names in a folder, to the disk. Throws what the system says. */
export async function sync(path: string): Promise<void> {
  await turns.run(async () => {
    const handle = await open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  })
}

/** As `sync`, for what is open; it stays open. */
export async function syncOpen(handle: FileHandle): Promise<void> {
  await turns.run(() => handle.sync())
}
