import { read, type BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { endedBy } from '../../schemas/values/call-ended.ts'
import { LARGE_PIECE_BYTES, STORAGE_PIECE_BYTES } from '../../schemas/files/file-limits.ts'
import { KeepingUp } from '../../schemas/files/keeping-up.ts'
import type { ObjectFacts, ReadOptions, StoredObject } from '../ports/files/storage.ts'
import type { ByteReader } from '../ports/byte-streams.ts'
import { diskFailure, reachDisk } from './disk-failure.ts'
import { MIB } from '../../schemas/limits/limits.ts'

/** Total bytes of large pieces in all readers of a process. Decision. */
export const READ_AHEAD_BYTES_MAX = 32 * MIB

export function storedFile(handle: FileHandle, stats: BigIntStats, deps: ReaderDeps = {}): StoredObject {
  const { buffers = shared, now = () => performance.now() } = deps
  let isClosed = false
  const reads = new Set<Promise<unknown>>()
  const readPiece: PieceSource['read'] = async (buffer, piece) => {
    const reading = readInto(handle.fd, buffer, piece)
    reads.add(reading)
    const got = await reading
    reads.delete(reading)
    return got
  }
  return {
    ...factsOf(stats),
    descriptor: handle.fd,
    read: (from, to, options) =>
      new PieceReader({ read: readPiece, buffers, now }, { from, to }, options ?? {}),
    // Compares only size and modification time: the other times also change when the file is removed or
    // replaced, while an open file stays complete.
    isUnchanged: () =>
      reachDisk(async () => {
        const { size, mtimeNs } = await handle.stat({ bigint: true })
        return ok(size === stats.size && mtimeNs === stats.mtimeNs)
      }),
    async close() {
      if (isClosed) return
      isClosed = true
      // Otherwise a read in progress could access another file that gets the same descriptor.
      await Promise.all(reads)
      await handle.close()
    },
  }
}

export interface ReaderDeps {
  readonly buffers?: PieceBuffers
  readonly now?: () => number
}

/** Every write changes the times, and every replacement changes the inode. */
export function factsOf(stats: BigIntStats): ObjectFacts {
  return {
    sizeBytes: Number(stats.size),
    changedAt: stats.mtime,
    version: [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].map((part) => part.toString(36)).join('-'),
  }
}

function readInto(
  descriptor: number,
  buffer: Buffer,
  { at, wanted }: Parameters<PieceSource['read']>[1],
): Promise<Outcome<number>> {
  return new Promise((resolve) => {
    read(descriptor, buffer, 0, wanted, at, (problem, bytes) => {
      resolve(problem === null ? ok(bytes) : { ok: false, failure: diskFailure(problem) })
    })
  })
}

export interface PieceSource {
  /** Reads up to `wanted` bytes from `at` into the buffer. Never rejects. */
  readonly read: (
    buffer: Buffer,
    piece: { readonly at: number; readonly wanted: number },
  ) => Promise<Outcome<number>>
  readonly buffers: PieceBuffers
  /** Milliseconds. */
  readonly now: () => number
}

interface Piece {
  readonly buffer: Buffer
  readonly got: Outcome<number>
}

/**
 * Reads a range of a file piece by piece. A fast reader gets larger pieces, and the next piece is read while
 * the caller processes the previous one, so there are fewer calls on the thread pool and the caller does not
 * wait for them. A slow reader occupies one small piece. Design §5.
 */
export class PieceReader implements ByteReader {
  readonly #source: PieceSource
  readonly #options: ReadOptions
  readonly #to: number
  #at: number
  /** Buffer of the last returned piece; null also when the caller owns it. */
  #lent: Buffer | null = null
  readonly #pace: KeepingUp
  #ahead: Promise<Piece> | null = null
  #isAsked = false
  #isClosed = false

  constructor(
    source: PieceSource,
    range: { readonly from: number; readonly to: number },
    options: ReadOptions,
  ) {
    this.#source = source
    this.#pace = new KeepingUp(source.now)
    this.#options = options
    this.#at = range.from
    this.#to = range.to
  }

  async next(): Promise<Outcome<Uint8Array | null>> {
    if (this.#isClosed || this.#isAsked)
      throw new Error('internal: a reader was read concurrently, or after its end')
    const { signal } = this.#options
    if (signal?.aborted === true) return { ok: false, failure: endedBy(signal) }
    this.#takeBack()
    const reading = this.#ahead ?? this.#read()
    this.#ahead = null
    if (reading === null) return ok(null)
    this.#isAsked = true
    const { buffer, got } = await reading
    this.#isAsked = false
    if (this.#isClosed || !got.ok || got.value === 0) return this.#nothing(buffer, got)
    this.#at += got.value
    this.#give(buffer, got.value)
    return ok(buffer.subarray(0, got.value))
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#lent !== null) this.#giveBack(this.#lent)
    this.#lent = null
    // The buffer belongs to the kernel while a read runs.
    void this.#ahead?.then(({ buffer }) => this.#giveBack(buffer))
    this.#ahead = null
  }

  #give(buffer: Buffer, bytes: number): void {
    this.#pace.given(bytes)
    if (this.#options.mayTransfer === true) return
    this.#lent = buffer
    if (this.#pace.isSteady) this.#ahead = this.#read()
  }

  #takeBack(): void {
    this.#pace.finished()
    if (this.#lent !== null) this.#giveBack(this.#lent)
    this.#lent = null
  }

  /** Starts a read. Null at the end of the range, and when there is no room to read ahead. */
  #read(): Promise<Piece> | null {
    const leftBytes = this.#to - this.#at
    if (leftBytes <= 0) return null
    const buffer = this.#buffer(leftBytes)
    if (buffer === null) return null
    const wanted = Math.min(buffer.length, leftBytes)
    return this.#source.read(buffer, { at: this.#at, wanted }).then((got) => ({ buffer, got }))
  }

  #buffer(leftBytes: number): Buffer | null {
    if (this.#options.mayTransfer === true)
      return Buffer.allocUnsafeSlow(Math.min(STORAGE_PIECE_BYTES, leftBytes))
    const { buffers } = this.#source
    const large = this.#pace.isSteady ? buffers.large() : null
    // The reader's small buffer may already be in use.
    return large ?? (this.#lent === null ? buffers.small() : null)
  }

  #nothing(buffer: Buffer, got: Outcome<number>): Outcome<never> {
    this.#giveBack(buffer)
    if (!got.ok) return got
    if (this.#isClosed) return fail('client_gone')
    return fail('content_damaged', {
      cause: new Error(`the file ends at byte ${this.#at}, expected ${this.#to}`),
    })
  }

  #giveBack(buffer: Buffer): void {
    if (this.#options.mayTransfer !== true) this.#source.buffers.giveBack(buffer)
  }
}

/** Bytes of free buffers of each size that are kept for later readers. Decision. */
const FREE_BYTES_MAX = 16 * 1_048_576

/** Buffers that readers of files share: a download then allocates no memory for its pieces. */
export class PieceBuffers {
  readonly #free = { small: [] as Buffer[], large: [] as Buffer[] }
  #largeBytesLent = 0

  /** Every reader may have one small buffer at a time. */
  small(): Buffer {
    return this.#free.small.pop() ?? Buffer.allocUnsafeSlow(STORAGE_PIECE_BYTES)
  }

  /** @returns null when READ_AHEAD_BYTES_MAX are in use */
  large(): Buffer | null {
    if (this.#largeBytesLent + LARGE_PIECE_BYTES > READ_AHEAD_BYTES_MAX) return null
    this.#largeBytesLent += LARGE_PIECE_BYTES
    return this.#free.large.pop() ?? Buffer.allocUnsafeSlow(LARGE_PIECE_BYTES)
  }

  /** @param buffer obtained from this object; to be returned exactly once */
  giveBack(buffer: Buffer): void {
    const isLarge = buffer.length === LARGE_PIECE_BYTES
    if (isLarge) this.#largeBytesLent -= LARGE_PIECE_BYTES
    const free = isLarge ? this.#free.large : this.#free.small
    if ((free.length + 1) * buffer.length <= FREE_BYTES_MAX) free.push(buffer)
  }
}

const shared = new PieceBuffers()
