import { read, type BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { endedBy } from '../../schemas/call-ended.ts'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { STORAGE_PIECE_BYTES } from '../../schemas/limits.ts'
import type { ByteReader } from '../ports/byte-streams.ts'
import type { ObjectFacts, ReadOptions, StoredObject } from '../ports/storage.ts'
import { diskFailure, reachDisk } from './disk-failure.ts'

/** Buffers of readers that ended, for the next ones: a download then allocates nothing per piece. */
const free: Buffer[] = []
/** Kept at once: 16 MiB. Decision. */
const FREE_BUFFERS_MAX = 64

/** An open file on this machine. */
export function storedFile(handle: FileHandle, stats: BigIntStats): StoredObject {
  let isClosed = false
  const reads = new Set<Promise<unknown>>()
  const readPiece: ReadPiece = async (buffer, piece) => {
    const reading = readInto(handle.fd, buffer, piece)
    reads.add(reading)
    const got = await reading
    reads.delete(reading)
    return got
  }
  return {
    ...factsOf(stats),
    descriptor: handle.fd,
    read: (from, to, options) => descriptorReader(readPiece, { from, to }, options ?? {}),
    // Not its other times: those change also when the file is removed or replaced, and what is open stays whole.
    isUnchanged: () => reachDisk(async () => {
      const { size, mtimeNs } = await handle.stat({ bigint: true })
      return ok(size === stats.size && mtimeNs === stats.mtimeNs)
    }),
    async close() {
      if (isClosed) return
      isClosed = true
      // A read that is still under way would find another file behind the same number.
      await Promise.all(reads)
      await handle.close()
    },
  }
}

type ReadPiece = (buffer: Buffer, piece: { readonly at: number; readonly wanted: number }) => Promise<Outcome<number>>

/** Any write changes the times, any replacement the inode. */
export function factsOf(stats: BigIntStats): ObjectFacts {
  return {
    sizeBytes: Number(stats.size),
    changedAt: stats.mtime,
    version: [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].map((part) => part.toString(36)).join('-'),
  }
}

function descriptorReader(readPiece: ReadPiece, range: { from: number; to: number }, options: ReadOptions): ByteReader {
  let at = range.from
  let isClosed = false
  let isReading = false
  let own = options.mayTransfer === true ? null : (free.pop() ?? Buffer.allocUnsafeSlow(STORAGE_PIECE_BYTES))
  const giveBack = (): void => {
    // While a read runs the buffer is the kernel's.
    if (own === null || isReading) return
    if (free.length < FREE_BUFFERS_MAX) free.push(own)
    own = null
  }
  return {
    async next() {
      if (isClosed || isReading) throw new Error('a reader is asked once at a time, and not after its end')
      if (options.signal?.aborted === true) return { ok: false, failure: endedBy(options.signal) }
      const wanted = Math.min(STORAGE_PIECE_BYTES, range.to - at)
      if (wanted <= 0) return ok(null)
      const buffer = own ?? Buffer.allocUnsafeSlow(wanted)
      isReading = true
      const got = await readPiece(buffer, { at, wanted })
      isReading = false
      if (!got.ok) return got
      if (isClosed) {
        giveBack()
        return fail('client_gone')
      }
      if (got.value === 0) return fail('content_damaged', { cause: new Error(`the file ends at ${at}, ${range.to} bytes were there`) })
      at += got.value
      return ok(buffer.subarray(0, got.value))
    },
    close() {
      isClosed = true
      giveBack()
    },
  }
}

function readInto(descriptor: number, buffer: Buffer, { at, wanted }: Parameters<ReadPiece>[1]): Promise<Outcome<number>> {
  return new Promise((resolve) => {
    read(descriptor, buffer, 0, wanted, at, (problem, bytes) => {
      resolve(problem === null ? ok(bytes) : { ok: false, failure: diskFailure(problem) })
    })
  })
}
