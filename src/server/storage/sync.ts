import { open, type FileHandle } from 'node:fs/promises'
import { FSYNCS_MAX } from '../../schemas/files/file-limits.ts'
import { Semaphore } from '../structures/semaphore.ts'

/** Shared by the whole process, because sixty concurrent syncs on the thread pool delayed an unrelated `stat` by 172 ms. Design §2. */
const turns = new Semaphore(FSYNCS_MAX)

/** Syncs a file, or the entries of a folder, to the disk. Throws the system's error. */
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

/** As `sync`, but for an open file, which stays open. */
export async function syncOpen(handle: FileHandle): Promise<void> {
  await turns.run(() => handle.sync())
}
