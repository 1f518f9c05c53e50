import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { REQUESTS_FILE_BYTES_MAX } from '../../../schemas/requests/request-limits.ts'
import { FIGURE, FIGURES, type Reason, type RequestBatch } from '../../../schemas/requests/request-record.ts'
import type { RequestSpill } from '../../ports/requests/request-log.ts'

/**
 * Files in the spill of a node, each up to REQUESTS_FILE_BYTES_MAX; when all are full, further calls are lost,
 * and counted. Decision.
 */
export const REQUESTS_SPILL_FILES_MAX = 256
/** Number of files in the spill at which each front merges its own files. Decision. */
export const REQUESTS_JOINED_FILES = 64
/** Number of files in the spill at which each organization is limited to a share of the rest. Decision. */
export const REQUESTS_SHARED_FILES = 128
/** That share, as a number of waiting calls for one organization and front; further calls are lost, and counted. Decision. */
export const REQUESTS_ORGANIZATION_SPILLED_MAX = 16_384

const FOLDER = 'requests'
/** Number of characters of the time in a file name. */
const STAMP_CHARS = 12
/** Milliseconds in hex, so that names sort by time; then the id of the newest batch. */
const NAME = /^[0-9a-f]{12}-\d{1,18}\.requests$/
const DRAFT = '.new'
/** Milliseconds that the write of a batch may take. Decision. */
const DRAFT_MS_MAX = 60_000
/** File mode: only the user that runs the node may read and write. */
const MODE = 0o600
const FOLDER_MODE = 0o700

export function spillFolder(dataDir: string): string {
  return join(dataDir, FOLDER)
}

/**
 * Writes each batch into the folder as a file, which gets its name once it is complete. When many files wait,
 * a batch is merged with earlier ones of the same front: many small batches must not use up the number of
 * files. The operating system writes the bytes to the disk later, so only a crash of the machine loses them.
 * @returns function that writes one batch at a time, and returns the number of its calls for which there was
 * room
 */
export function openSpillWriter(folder: string, now = Date.now): (batch: RequestBatch) => Promise<number> {
  const own = new WaitingFiles()
  let isMade = false
  return async (batch) => {
    const stamp = now().toString(16).padStart(STAMP_CHARS, '0')
    const draft = join(folder, nameOf(stamp, batch) + DRAFT)
    try {
      if (!isMade) await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
      isMade = true
      const names = await readdir(folder)
      own.keepOnly(names)
      const kept = names.length < REQUESTS_SHARED_FILES ? batch : own.withinShares(batch)
      const bytes = batchBytes(kept)
      const isFull = names.length >= REQUESTS_SPILL_FILES_MAX
      const joined = names.length < REQUESTS_JOINED_FILES ? [] : own.joinedBy(sizeOf(bytes), isFull)
      if (kept.requestIds.length === 0 || (isFull && joined.length === 0)) return 0
      const parts = [...(await readAll(folder, joined)), ...bytes]
      // The time of the oldest batch keeps the merged file's place in the order.
      const name = nameOf(joined[0]?.name.slice(0, STAMP_CHARS) ?? stamp, batch)
      await writeWhole(draft, parts)
      await rename(draft, join(folder, name))
      own.add({ name, bytes: sizeOf(parts), calls: callsOf(kept, joined) }, joined)
      // A batch that is in two files for a while is still stored only once.
      await removeAll(folder, joined).catch(() => undefined)
      return kept.requestIds.length
    } catch (cause) {
      isMade = false
      await rm(draft, { force: true }).catch(() => undefined)
      throw cause
    }
  }
}

function nameOf(stamp: string, { id }: RequestBatch): string {
  return `${stamp}-${id}.requests`
}

function sizeOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}

/** The bytes of files; files that the runner has stored and removed meanwhile are skipped. */
async function readAll(folder: string, files: readonly WaitingFile[]): Promise<readonly Uint8Array[]> {
  const parts = await Promise.all(files.map(({ name }) => readFile(join(folder, name)).catch(gone)))
  return parts.filter((part) => part !== null)
}

async function removeAll(folder: string, files: readonly WaitingFile[]): Promise<void> {
  await Promise.all(files.map(({ name }) => rm(join(folder, name), { force: true })))
}

async function writeWhole(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, 'wx', MODE)
  try {
    // `writev` may write only a part of the bytes.
    for (const part of parts) await file.writeFile(part)
  } finally {
    await file.close()
  }
}

type CallCounts = ReadonlyMap<string, number>

interface WaitingFile {
  readonly name: string
  readonly bytes: number
  /** By organization. */
  readonly calls: CallCounts
}

/** The files of one front that the runner has not stored yet. */
class WaitingFiles {
  /** Oldest first. */
  #files: readonly WaitingFile[] = []

  /** Forgets files that are not among these names any more. */
  keepOnly(names: readonly string[]): void {
    const there = new Set(names)
    this.#files = this.#files.filter(({ name }) => there.has(name))
  }

  /**
   * The newest files, to be merged into one with this many new bytes. Files of twice the size are left alone
   * unless there is no room: so each call is copied only a few times, and a front has few small files.
   * @returns oldest first
   */
  joinedBy(bytes: number, isFull: boolean): readonly WaitingFile[] {
    const joined: WaitingFile[] = []
    let sum = bytes
    for (const file of this.#files.toReversed()) {
      if (sum + file.bytes > REQUESTS_FILE_BYTES_MAX || (file.bytes >= 2 * sum && !isFull)) break
      sum += file.bytes
      joined.unshift(file)
    }
    return joined
  }

  /** Replaces the merged files by the new file, which contains their calls. */
  add(file: WaitingFile, joined: readonly WaitingFile[]): void {
    this.#files = [...this.#files.filter((one) => !joined.includes(one)), file]
  }

  /** The calls of a batch whose organizations have not used up their share of these files. */
  withinShares(batch: RequestBatch): RequestBatch {
    const over = new Set<string>()
    for (const organization of callsOf(batch).keys())
      if (this.#callsOf(organization) >= REQUESTS_ORGANIZATION_SPILLED_MAX) over.add(organization)
    if (over.size === 0) return batch
    const kept = [...batch.requestIds.keys()].filter((n) => !over.has(organizationOf(batch, n)))
    const figures = new Float64Array(kept.length * FIGURES)
    kept.forEach((n, to) => figures.set(batch.figures.subarray(n * FIGURES, (n + 1) * FIGURES), to * FIGURES))
    const places = new Map(kept.map((n, to) => [n, to]))
    const reasons = batch.reasons.flatMap(([n, text]): Reason[] => {
      const to = places.get(n)
      return to === undefined ? [] : [[to, text]]
    })
    return { ...batch, figures, reasons, requestIds: kept.map((n) => batch.requestIds[n] ?? '') }
  }

  #callsOf(organization: string): number {
    return this.#files.reduce((sum, { calls }) => sum + (calls.get(organization) ?? 0), 0)
  }
}

function callsOf(batch: RequestBatch, joined: readonly WaitingFile[] = []): CallCounts {
  const calls = new Map<string, number>()
  const add = (organization: string, more: number): unknown =>
    calls.set(organization, (calls.get(organization) ?? 0) + more)
  batch.requestIds.forEach((_, n) => add(organizationOf(batch, n), 1))
  for (const file of joined) for (const [organization, more] of file.calls) add(organization, more)
  return calls
}

/** Empty: the call had no valid key. */
function organizationOf({ figures, names }: RequestBatch, n: number): string {
  return names[(figures[n * FIGURES + FIGURE.organization] ?? 0) - 1] ?? ''
}

/** The waiting batches as the runner takes them: in their order, read once and then removed. */
export function openSpill(folder: string, now = Date.now): RequestSpill {
  const memory = new FileMemory()
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
      const bytes = await memory.read(join(folder, name)).catch(gone)
      return bytes === null ? [] : batchesOf(bytes)
    },
    remove: (name) => rm(join(folder, name), { force: true }),
  }
}

/** Memory for one file at a time: a new buffer for each would start the garbage collector each time. */
class FileMemory {
  #bytes = Buffer.allocUnsafeSlow(REQUESTS_FILE_BYTES_MAX)

  /** The bytes of a file, valid until the next file is read. */
  async read(path: string): Promise<Uint8Array> {
    const file = await open(path)
    try {
      const { size } = await file.stat()
      if (size > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(size)
      let length = 0
      while (length < size) {
        const { bytesRead } = await file.read(this.#bytes, length, size - length)
        if (bytesRead === 0) break
        length += bytesRead
      }
      return this.#bytes.subarray(0, length)
    } finally {
      await file.close()
    }
  }
}

/** True for a file that its front did not complete because the front died. */
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

const FORMAT = 2
const LINE_END = 0x0a
const NUMBER_BYTES = Float64Array.BYTES_PER_ELEMENT

interface Head extends Omit<RequestBatch, 'figures' | 'reasons'> {
  readonly format: number
  /** Absent in files of an older front version. */
  readonly reasons?: readonly Reason[]
}

/**
 * A batch in its file form: a line of JSON, then the numbers in the byte order of this machine. Spaces after
 * the JSON align the numbers, so that a file in memory can be read as numbers.
 */
export function batchBytes({ figures, ...head }: RequestBatch): readonly Uint8Array[] {
  const json = Buffer.from(JSON.stringify({ format: FORMAT, ...head } satisfies Head))
  const line = Buffer.alloc(Math.ceil((json.length + 1) / NUMBER_BYTES) * NUMBER_BYTES, ' ')
  json.copy(line)
  line[line.length - 1] = LINE_END
  return [line, new Uint8Array(figures.buffer, figures.byteOffset, figures.byteLength)]
}

/** The batches of a file, one after the other; their figures share the memory of `bytes`. Null when the bytes are not complete batches. */
export function batchesOf(bytes: Uint8Array): readonly RequestBatch[] | null {
  const batches: RequestBatch[] = []
  for (let at = 0; at < bytes.length || at === 0;) {
    const lineEnd = bytes.indexOf(LINE_END, at)
    const head = lineEnd < 0 ? null : headOf(Buffer.from(bytes.subarray(at, lineEnd)).toString())
    if (head === null) return null
    const { id, requestIds, names, failed, reasons = [] } = head
    const end = lineEnd + 1 + requestIds.length * FIGURES * NUMBER_BYTES
    if (end > bytes.length) return null
    const figures = numbersIn(bytes.subarray(lineEnd + 1, end))
    batches.push({ id, requestIds, names, failed, reasons, figures })
    at = end
  }
  return batches
}

/** Reads numbers in place when they are aligned; copies them otherwise. */
function numbersIn(bytes: Uint8Array): Float64Array {
  const isInPlace = bytes.byteOffset % NUMBER_BYTES === 0
  const { buffer, byteOffset, byteLength } = isInPlace ? bytes : new Uint8Array(bytes)
  return new Float64Array(buffer, byteOffset, byteLength / NUMBER_BYTES)
}

function headOf(line: string): Head | null {
  try {
    const head: unknown = JSON.parse(line)
    return isHead(head) ? head : null
  } catch {
    return null
  }
}

function isHead(value: unknown): value is Head {
  if (typeof value !== 'object' || value === null) return false
  const { format, id, requestIds, names, failed, reasons } = value as Partial<Record<keyof Head, unknown>>
  return (
    format === FORMAT &&
    typeof id === 'string' &&
    /^\d{1,18}$/.test(id) &&
    [requestIds, names, failed].every(isTexts) &&
    (reasons === undefined || (Array.isArray(reasons) && reasons.every(isReason)))
  )
}

function isReason(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isInteger)
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
