import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { batchBytes, batchOf } from '../../../schemas/requests/request-batch.ts'
import { REQUESTS_SPILL_FILES_MAX } from '../../../schemas/requests/request-limits.ts'
import type { RequestBatch } from '../../../schemas/requests/request-record.ts'
import type { RequestSpill } from '../../ports/requests/request-log.ts'

const FOLDER = 'requests'
/** Milliseconds in hex, so that names have the order of their instants; then the batch. */
const NAME = /^[0-9a-f]{12}-\d{1,18}\.requests$/
const DRAFT = '.new'
/** Milliseconds that the write of a batch takes at most. Decision. */
const DRAFT_MS_MAX = 60_000
const MODE = 0o600
const FOLDER_MODE = 0o700

/** The folder of the spill in a data directory. */
export function spillFolder(dataDir: string): string {
  return join(dataDir, FOLDER)
}

/**
 * Writes batches into the folder, each as a file of its own that has its name when it is whole. The bytes
 * reach the disk when the system writes them: only the end of the machine loses them.
 */
export function openSpillWriter(folder: string, now = Date.now): (batch: RequestBatch) => Promise<boolean> {
  let isMade = false
  return async (batch) => {
    const path = join(folder, `${now().toString(16).padStart(12, '0')}-${batch.id}.requests`)
    try {
      if (!isMade) await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
      isMade = true
      const waiting = await readdir(folder)
      if (waiting.length >= REQUESTS_SPILL_FILES_MAX) return false
      await writeWhole(path + DRAFT, batchBytes(batch))
      await rename(path + DRAFT, path)
      return true
    } catch (cause) {
      isMade = false
      await rm(path + DRAFT, { force: true }).catch(() => undefined)
      throw cause
    }
  }
}

async function writeWhole(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, 'wx', MODE)
  try {
    // `writev` may write a part of the bytes only.
    for (const part of parts) await file.writeFile(part)
  } finally {
    await file.close()
  }
}

export function openSpill(folder: string, now = Date.now): RequestSpill {
  return {
    async list() {
      const names = await readdir(folder).catch(withoutFolder)
      await Promise.all(
        names
          .filter((name) => isForgotten(name, now()))
          .map((name) => rm(join(folder, name), { force: true })),
      )
      return names.filter((name) => NAME.test(name)).sort()
    },
    async read(name) {
      const bytes = await readFile(join(folder, name)).catch(gone)
      return bytes === null ? null : batchOf(bytes)
    },
    remove: (name) => rm(join(folder, name), { force: true }),
  }
}

/** A batch that its front did not complete, since it died. */
function isForgotten(name: string, nowMs: number): boolean {
  return name.endsWith(DRAFT) && parseInt(name, 16) < nowMs - DRAFT_MS_MAX
}

function gone(problem: NodeJS.ErrnoException): null {
  if (problem.code === 'ENOENT') return null
  throw problem
}

function withoutFolder(problem: NodeJS.ErrnoException): readonly string[] {
  return gone(problem) ?? []
}
