import { randomBytes } from 'node:crypto'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ok } from '../../../src/schemas/failures.ts'
import {
  KEEPING_UP_MS,
  LARGE_PIECE_BYTES,
  STORAGE_PIECE_BYTES,
} from '../../../src/schemas/files/file-limits.ts'
import type { ByteReader } from '../../../src/server/ports/byte-streams.ts'
import type { StoredObject } from '../../../src/server/ports/files/storage.ts'
import {
  READ_AHEAD_BYTES_MAX,
  PieceBuffers,
  PieceReader,
  type PieceSource,
  storedFile,
} from '../../../src/server/storage/stored-file.ts'
import { drain, leftOpen, openFolder, openStoredFiles } from '../../support/files/storage.ts'
import { must, present } from '../../support/must.ts'
import { KEEPING_UP_BYTES } from '../../../src/schemas/files/keeping-up.ts'

const CONTENT = randomBytes(KEEPING_UP_BYTES + 10 * LARGE_PIECE_BYTES + 77)

/** Knows which buffers are out. */
class Counted extends PieceBuffers {
  readonly lent = new Set<Buffer>()

  override small(): Buffer {
    const buffer = super.small()
    this.lent.add(buffer)
    return buffer
  }

  override large(): Buffer | null {
    const buffer = super.large()
    if (buffer !== null) this.lent.add(buffer)
    return buffer
  }

  override giveBack(buffer: Buffer): void {
    if (!this.lent.delete(buffer)) throw new Error('given back twice')
    super.giveBack(buffer)
  }
}

interface Stand {
  readonly path: string
  readonly buffers: Counted
  readonly clock: { ms: number }
  file(): Promise<StoredObject>
}

async function stand(t: Test): Promise<Stand> {
  const path = join(await openFolder(t), 'file')
  await writeFile(path, CONTENT)
  const buffers = new Counted()
  const clock = { ms: 0 }
  const file = async (): Promise<StoredObject> => {
    const handle = await open(path)
    return storedFile(handle, await handle.stat({ bigint: true }), { buffers, now: () => clock.ms })
  }
  return { path, buffers, clock, file }
}

/** Lets the reader keep up until it has a large piece. @returns the bytes that it gave out by then */
async function hurry(reader: ByteReader): Promise<number> {
  for (let bytes = 0; ;) {
    const { length } = present(must(await reader.next()))
    bytes += length
    if (length > STORAGE_PIECE_BYTES || bytes > KEEPING_UP_BYTES + 2 * STORAGE_PIECE_BYTES) return bytes
  }
}

t.test('a fast reader gets larger pieces, and every byte of its range', async (t) => {
  const { file, buffers } = await stand(t)
  const object = await file()
  for (const [from, to] of [
    [0, CONTENT.length],
    [1, CONTENT.length - 1],
    [300_000, KEEPING_UP_BYTES + 2 * LARGE_PIECE_BYTES],
  ] as const) {
    t.ok((await drain(object.read(from, to))).equals(CONTENT.subarray(from, to)), `${from} to ${to}`)
  }
  const reader = object.read(0, CONTENT.length)
  t.equal(await hurry(reader), KEEPING_UP_BYTES + LARGE_PIECE_BYTES)
  reader.close()
  await object.close()
  t.equal(buffers.lent.size, 0)
})

t.test('a slow reader holds one small piece, however far it has read', async (t) => {
  const { file, buffers, clock } = await stand(t)
  const object = await file()
  const reader = object.read(0, CONTENT.length)
  for (let bytes = 0; bytes < KEEPING_UP_BYTES + LARGE_PIECE_BYTES; bytes += STORAGE_PIECE_BYTES) {
    t.equal(must(await reader.next())?.length, STORAGE_PIECE_BYTES)
    clock.ms += KEEPING_UP_MS + 1
  }
  t.same(
    [...buffers.lent].map(({ length }) => length),
    [STORAGE_PIECE_BYTES],
  )
  reader.close()
  await object.close()
})

t.test('a reader that becomes slow uses up the pieces read ahead, and gets small pieces again', async (t) => {
  const { file, buffers, clock } = await stand(t)
  const object = await file()
  const reader = object.read(0, CONTENT.length)
  await hurry(reader)
  clock.ms += KEEPING_UP_MS + 1
  t.equal(must(await reader.next())?.length, LARGE_PIECE_BYTES, 'it was read by then')
  t.equal(buffers.lent.size, 1, 'and nothing more is read ahead')
  t.equal(must(await reader.next())?.length, STORAGE_PIECE_BYTES)
  reader.close()
  await object.close()
  t.equal(buffers.lent.size, 0)
})

t.test('fast readers share READ_AHEAD_BYTES_MAX, and the others continue with small pieces', async (t) => {
  const { file, buffers } = await stand(t)
  const object = await file()
  const fits = READ_AHEAD_BYTES_MAX / LARGE_PIECE_BYTES / 2
  const readers = Array.from({ length: fits + 3 }, () => object.read(0, CONTENT.length))
  for (const reader of readers) await hurry(reader)
  const large = [...buffers.lent].filter(({ length }) => length === LARGE_PIECE_BYTES)
  t.equal(large.length * LARGE_PIECE_BYTES, READ_AHEAD_BYTES_MAX)
  t.equal(buffers.lent.size - large.length, 3, 'each of the others has one')
  for (const reader of readers) reader.close()
  await object.close()
  t.equal(buffers.lent.size, 0)
})

t.test('a closed reader returns its buffers, and its file closes after the running read', async (t) => {
  const { file, buffers } = await stand(t)
  const before = await openStoredFiles()
  const object = await file()
  const reader = object.read(0, CONTENT.length)
  await hurry(reader)
  t.equal(buffers.lent.size, 2, 'one piece is worked off, one is read')
  reader.close()
  reader.close()
  await object.close()
  t.equal(buffers.lent.size, 0)
  t.same(await leftOpen(before), [])
})

t.test('a reader that is closed while it waits for a piece read ahead fails with client_gone', async (t) => {
  const { file, buffers } = await stand(t)
  const object = await file()
  const reader = object.read(0, CONTENT.length)
  await hurry(reader)
  const waiting = reader.next()
  reader.close()
  t.match(await waiting, { ok: false, failure: { name: 'client_gone' } })
  await object.close()
  t.equal(buffers.lent.size, 0)
})

t.test('a failed read ahead is reported when its piece is requested, after earlier pieces', async (t) => {
  const { file, path, buffers } = await stand(t)
  const object = await file()
  const reader = object.read(0, CONTENT.length)
  let bytes = await hurry(reader)
  // What is read ahead was there before; the piece after it is not.
  const ahead = must(await reader.next())?.length ?? 0
  bytes += ahead
  await writeFile(path, CONTENT.subarray(0, bytes + 10))
  const kept: number[] = []
  for (;;) {
    const piece = await reader.next()
    if (!piece.ok) {
      t.equal(piece.failure.name, 'content_damaged')
      break
    }
    kept.push(piece.value?.length ?? 0)
  }
  t.ok(kept.length <= 2, 'at most what was read before and the ten bytes')
  reader.close()
  await object.close()
  t.equal(buffers.lent.size, 0)
})

t.test('reads that return fewer bytes than requested skip nothing, whether read ahead or not', async (t) => {
  const buffers = new Counted()
  let reads = 0
  const read: PieceSource['read'] = (buffer, { at, wanted }) => {
    const bytes = reads++ % 3 === 0 ? Math.ceil(wanted / 2) : wanted
    return Promise.resolve(ok(CONTENT.copy(buffer, 0, at, at + bytes)))
  }
  const reader = new PieceReader({ read, buffers, now: () => 0 }, { from: 5, to: CONTENT.length - 5 }, {})
  t.ok((await drain(reader)).equals(CONTENT.subarray(5, -5)))
  t.equal(buffers.lent.size, 0)
})

t.test('two hundred slow readers and the fast readers hold less than 120 MB together', async (t) => {
  t.ok(200 * STORAGE_PIECE_BYTES + READ_AHEAD_BYTES_MAX < 120e6)
})
