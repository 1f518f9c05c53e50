import { read, type BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { ok, type Outcome } from '../../schemas/failures.ts'
import type { ObjectFacts, StoredObject } from '../ports/files/storage.ts'
import { diskFailure, reachDisk } from './disk-failure.ts'
import { PieceBuffers } from './piece-buffers.ts'
import { PieceReader, type PieceSource } from './piece-reader.ts'

/** Buffers of all readers of this process. */
const shared = new PieceBuffers()

/** An open file on this machine. */
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
    // Compares no other times: those change also when the file is removed or replaced, and an open file stays
    // complete.
    isUnchanged: () =>
      reachDisk(async () => {
        const { size, mtimeNs } = await handle.stat({ bigint: true })
        return ok(size === stats.size && mtimeNs === stats.mtimeNs)
      }),
    async close() {
      if (isClosed) return
      isClosed = true
      // A read in progress would use another file behind the same descriptor.
      await Promise.all(reads)
      await handle.close()
    },
  }
}

export interface ReaderDeps {
  readonly buffers?: PieceBuffers
  readonly now?: () => number
}

/** Any write changes the times, and any replacement the inode. */
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
