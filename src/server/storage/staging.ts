import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, rm, statfs, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type { Staging } from '../ports/files/storage.ts'
import { codeOf, reachDisk } from './disk-failure.ts'
import { MIB } from '../../schemas/limits/limits.ts'

/** Bytes that uploads leave free on the disk. Decision. */
export const STORAGE_SPARE_BYTES = 64 * MIB
/**
 * Inodes that uploads leave free on the disk, when the file system has a fixed number of inodes; on a small
 * file system a hundredth of them. C33; Decision.
 */
export const STORAGE_SPARE_INODES = 10_000

/** Share of the inodes of a small file system that stays free. Decision. */
const SPARE_SHARE = 1 / 100
/** Separates the owner, a UUID, from the rest of the file's name. */
const OF_OWNER = '.'
/** The name of a file with an owner; the first group is the owner. */
const OWNED = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\./

/** Removes files regardless of the disk's clock. */
const AT_ONCE_MS = Number.MIN_SAFE_INTEGER

interface Admitted {
  readonly path: string
  readonly expectedBytes: number
}

/**
 * The folder to which uploads are written before they are published, and the accounting of the space that they
 * still need there.
 */
export class StagingFolder {
  readonly #folder: string
  readonly #admitted = new Set<Admitted>()

  readonly #owner: string

  /** @param owner the process that writes the uploads: its abandoned files are found by this id */
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
    // Counted before the first await, so that of two simultaneous uploads the second one sees the first.
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

  /** @returns the number of removed files */
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
    // Written bytes are counted twice until here: as used and as expected.
    for (const { path, expectedBytes } of this.#admitted)
      wanted -= Math.min(expectedBytes, await writtenBytes(path))
    return wanted <= free
  }

  async #discard(own: Admitted): Promise<void> {
    // The sweep removes a file that could not be removed here.
    await unlink(own.path).catch(() => undefined)
    this.#admitted.delete(own)
  }
}

interface Inodes {
  /** 0 for a file system that creates inodes when needed. */
  readonly files: number
  readonly ffree: number
}

/** Even a file of one byte takes an inode, and so does each of its folders: a disk can run out of inodes while most of its bytes are free. */
function hasInodes({ files, ffree }: Inodes, uploads: number): boolean {
  const spare = Math.min(STORAGE_SPARE_INODES, Math.floor(files * SPARE_SHARE))
  return files === 0 || ffree - spare >= uploads
}

export async function removeStagingOf(folder: string, owner: string): Promise<void> {
  const names = await readdir(folder).catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT') return []
    throw cause
  })
  for (const name of names) if (ownerOf(name) === owner) await rm(join(folder, name), { force: true })
}

/** Null: without an owner, from an older version or from a process that is not a front. */
function ownerOf(name: string): string | null {
  return OWNED.exec(name)?.[1] ?? null
}

async function writtenBytes(path: string): Promise<number> {
  return (await lstat(path).catch(() => null))?.size ?? 0
}

/** A file that disappeared meanwhile counts as just changed; entries that are not files are skipped. */
async function fileChangedAtMs(path: string): Promise<number> {
  try {
    const stats = await lstat(path)
    return stats.isFile() ? stats.mtimeMs : Number.POSITIVE_INFINITY
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return Number.POSITIVE_INFINITY
    throw cause
  }
}
