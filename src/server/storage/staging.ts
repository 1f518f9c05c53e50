import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { STORAGE_SPARE_BYTES, STORAGE_SPARE_INODES } from '../../schemas/files/file-limits.ts'
import type { Staging } from '../ports/files/storage.ts'
import { codeOf, reachDisk } from './disk-failure.ts'

/** Of the inodes of a small file system. Decision. */
const SPARE_SHARE = 1 / 100
/** Between the owner, a UUID, and the name of its own. */
const OF_OWNER = '.'
const OWNED = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\./

/** Whatever the clock of the disk says. */
const AT_ONCE_MS = Number.MIN_SAFE_INTEGER

interface Admitted {
  readonly path: string
  readonly expectedBytes: number
}

/**
 * The folder in which uploads are written before they are published, and the room that they may still need
 * there.
 */
export class StagingFolder {
  readonly #folder: string
  readonly #admitted = new Set<Admitted>()

  readonly #owner: string

  /** @param owner the process whose uploads they are: what it leaves behind is found by this */
  constructor(folder: string, owner?: string) {
    this.#folder = folder
    this.#owner = owner === undefined ? '' : `${owner}${OF_OWNER}`
  }

  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
  }

  /** Failures: storage_full, storage_unavailable. */
  async stage(expectedBytes: number): Promise<Outcome<Staging>> {
    const own: Admitted = { path: join(this.#folder, `${this.#owner}${randomUUID()}`), expectedBytes }
    // Counted before anything is awaited: of two that come together, the second one sees the first.
    this.#admitted.add(own)
    const room = await reachDisk(async () => ok(await this.#hasRoom()))
    if (room.ok && room.value) return ok({ path: own.path, discard: () => this.#discard(own) })
    this.#admitted.delete(own)
    return room.ok ? fail('storage_full', { retryAfterS: 5 }) : room
  }

  owners(): Promise<Outcome<readonly string[]>> {
    return reachDisk(async () => {
      const found = (await readdir(this.#folder)).map(ownerOf).filter((owner) => owner !== null)
      return ok([...new Set(found)])
    })
  }

  /** @returns how many were removed */
  sweep(idleMs: number, gone: ReadonlySet<string>): Promise<Outcome<number>> {
    return reachDisk(async () => {
      const active = new Set([...this.#admitted].map(({ path }) => path))
      let removed = 0
      for (const name of await readdir(this.#folder)) {
        const path = join(this.#folder, name)
        const leastMs = gone.has(ownerOf(name) ?? '') ? AT_ONCE_MS : idleMs
        if (active.has(path) || Date.now() - (await fileChangedAtMs(path)) < leastMs) continue
        await rm(path, { force: true })
        removed++
      }
      return ok(removed)
    })
  }

  async #hasRoom(): Promise<boolean> {
    const { bavail, bsize, files, ffree } = await statfs(this.#folder)
    if (!hasInodes({ files, ffree }, this.#admitted.size)) return false
    const free = bavail * bsize - STORAGE_SPARE_BYTES
    let wanted = 0
    for (const { expectedBytes } of this.#admitted) wanted += expectedBytes
    if (wanted <= free) return true
    // What is written already is counted twice so far: once as used and once as wanted.
    for (const { path, expectedBytes } of this.#admitted)
      wanted -= Math.min(expectedBytes, await writtenBytes(path))
    return wanted <= free
  }

  async #discard(own: Admitted): Promise<void> {
    // A file that stays is found by the sweep.
    await rm(own.path, { force: true }).catch(() => undefined)
    this.#admitted.delete(own)
  }
}

interface Inodes {
  /** 0 where the file system makes them as it needs them. */
  readonly files: number
  readonly ffree: number
}

/**
 * A file of one byte takes an inode, and its folders one each: a disk can be full of them with all of its
 * bytes free.
 */
function hasInodes({ files, ffree }: Inodes, uploads: number): boolean {
  const spare = Math.min(STORAGE_SPARE_INODES, Math.floor(files * SPARE_SHARE))
  return files === 0 || ffree - spare >= uploads
}

/** Removes what a process has left that is gone. A folder that was never made holds nothing. */
export async function removeStagingOf(folder: string, owner: string): Promise<void> {
  const names = await readdir(folder).catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT') return []
    throw cause
  })
  for (const name of names) if (ownerOf(name) === owner) await rm(join(folder, name), { force: true })
}

/** Null: nobody's in particular, of an older version or of a process that is no front. */
function ownerOf(name: string): string | null {
  return OWNED.exec(name)?.[1] ?? null
}

async function writtenBytes(path: string): Promise<number> {
  return (await lstat(path).catch(() => null))?.size ?? 0
}

/** A file that is gone meanwhile was just changed; what is no file is not ours. */
async function fileChangedAtMs(path: string): Promise<number> {
  try {
    const stats = await lstat(path)
    return stats.isFile() ? stats.mtimeMs : Number.POSITIVE_INFINITY
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return Number.POSITIVE_INFINITY
    throw cause
  }
}
