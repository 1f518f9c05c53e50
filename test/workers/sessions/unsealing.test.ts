import { randomBytes } from 'node:crypto'
import { open, readFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { fail, ok } from '../../../src/schemas/failures.ts'
import { LARGE_PIECE_BYTES, STORAGE_PIECE_BYTES } from '../../../src/schemas/files/file-limits.ts'
import type { ByteReader } from '../../../src/server/ports/byte-streams.ts'
import type { FileRecord } from '../../../src/server/ports/files/files.ts'
import type { StoredObject } from '../../../src/server/ports/files/storage.ts'
import { HEADER_BYTES, SEGMENT_BYTES, TAG_BYTES } from '../../../src/workers/seal/format.ts'
import { chunks } from '../../support/wire/chunks.ts'
import { must } from '../../support/must.ts'
import {
  dataKey,
  openSealed,
  openSessions,
  pushAll,
  recordOf,
  type SessionStand,
} from '../../support/files/sessions.ts'
import { drain } from '../../support/files/storage.ts'
import { KEEPING_UP_BYTES } from '../../../src/schemas/files/keeping-up.ts'
import { OPENED_PIECES_MAX } from '../../../src/workers/sessions/unsealing.ts'

/** Starting and ending threads is slow on a machine that does ten other things. */
t.setTimeout(600_000)

const SEALED_SEGMENT_BYTES = SEGMENT_BYTES + TAG_BYTES
const CONTENT = randomBytes(900_000)

interface Sealed {
  readonly stand: SessionStand
  readonly file: FileRecord
  readonly bytes: Buffer
}

async function seal(t: Test, content = CONTENT): Promise<Sealed> {
  const stand = await openSessions(t)
  const verdict = must(
    await pushAll(openSealed(stand, 'file_a', { content: 'any' }), chunks(content, [100_000])),
  )
  return { stand, file: recordOf('file_a', verdict), bytes: await readFile(join(stand.folder, 'file_a')) }
}

/** As storage elsewhere gives an object: in pieces of odd sizes, without a descriptor. */
function remote(bytes: Buffer, reported = { pulledBytes: 0 }): StoredObject {
  return {
    descriptor: null,
    sizeBytes: bytes.length,
    changedAt: new Date(0),
    version: 'v',
    read(from, to) {
      const pieces = [...chunks(bytes.subarray(from, to), [100, STORAGE_PIECE_BYTES, 1, 70_000])]
      const next = async () => {
        const piece = pieces.shift() ?? null
        reported.pulledBytes += piece?.length ?? 0
        return ok(piece)
      }
      return { next, close: () => {} }
    },
    isUnchanged: () => Promise.resolve(ok(true)),
    close: () => Promise.resolve(),
  }
}

async function local(t: Test, { stand }: Sealed, bytes: Buffer): Promise<StoredObject> {
  const handle: FileHandle = await open(join(stand.folder, `copy-${Math.random()}`), 'wx+')
  t.teardown(() => handle.close())
  await handle.writeFile(bytes)
  return { ...remote(bytes), descriptor: handle.fd }
}

/** Waits until no session is under way: where one is left, the test never ends. */
async function ended({ sessions }: SessionStand): Promise<void> {
  while (sessions.count('unseal') + sessions.count('intake') > 0)
    await new Promise((resolve) => setImmediate(resolve))
}

/** What was given out before the end, and the failure's name. */
async function outcomeOf(reader: ByteReader): Promise<{ bytes: Buffer; failure: string | null }> {
  const pieces: Uint8Array[] = []
  for (;;) {
    const piece = await reader.next()
    if (!piece.ok || piece.value === null) {
      reader.close()
      return { bytes: Buffer.concat(pieces), failure: piece.ok ? null : piece.failure.name }
    }
    pieces.push(Buffer.from(piece.value))
  }
}

t.test('every range opens to its bytes, from a file descriptor and from remote storage', async (t) => {
  const sealed = await seal(t)
  const { stand, file, bytes } = sealed
  for (const object of [remote(bytes), await local(t, sealed, bytes)]) {
    for (const [from, to] of [
      [0, CONTENT.length],
      [0, 1],
      [200_000, 200_000],
      [131_072, 900_000],
      [65_535, 65_537],
      [900_000, 900_000],
    ] as const) {
      const reader = must(await stand.unsealing.open({ file, object, dataKey: dataKey(), from, to }))
      t.ok((await drain(reader)).equals(CONTENT.subarray(from, to)), `${from} to ${to}`)
    }
  }
  await ended(stand)
})

/** Waits for the next piece without asking for it: if none comes, the test never ends. */
async function arrived(reader: ByteReader): Promise<Uint8Array> {
  for (;;) {
    const piece = reader.ready?.() ?? null
    if (piece !== null) return piece
    await new Promise((resolve) => setImmediate(resolve))
  }
}

t.test('a fast reader gets large pieces, and does not request pieces that have arrived', async (t) => {
  const content = randomBytes(KEEPING_UP_BYTES + 8 * LARGE_PIECE_BYTES + 1)
  const sealed = await seal(t, content)
  const object = await local(t, sealed, sealed.bytes)
  const { file, stand } = sealed
  const range = { from: 0, to: content.length }
  // A reader that a busy machine delays by a tenth of a second has not kept up, and reads again.
  for (let lengths = new Set<number>(); !lengths.has(LARGE_PIECE_BYTES);) {
    const reader = must(await stand.unsealing.open({ file, object, dataKey: dataKey(), ...range }))
    lengths = new Set()
    for (let at = 0; at < content.length;) {
      const piece = await arrived(reader)
      t.ok(content.subarray(at, at + piece.length).equals(piece), `the piece at ${at}`)
      at += piece.length
      lengths.add(piece.length)
    }
    t.ok(lengths.has(STORAGE_PIECE_BYTES), [...lengths].join())
    t.equal(reader.ready?.(), null)
    t.equal(must(await reader.next()), null)
  }
})

/**
 * Each makes another object of a good one; the number of the segment from which on nothing may be given out.
 */
const DAMAGES: Readonly<Record<string, { segment: number; make: (bytes: Buffer) => Buffer }>> = {
  'a flipped byte in the header': { segment: 0, make: (bytes) => flipped(bytes, 40) },
  'a flipped byte in the first segment': { segment: 0, make: (bytes) => flipped(bytes, HEADER_BYTES) },
  'a flipped byte in a later segment': {
    segment: 6,
    make: (bytes) => flipped(bytes, HEADER_BYTES + 6 * SEALED_SEGMENT_BYTES + 70),
  },
  'a flipped byte in the last tag': { segment: 13, make: (bytes) => flipped(bytes, bytes.length - 1) },
  'segments swapped': { segment: 2, make: (bytes) => swapped(bytes, 2, 9) },
  'its end cut off': { segment: 0, make: (bytes) => bytes.subarray(0, -1) },
  'its last segment dropped': {
    segment: 0,
    make: (bytes) => bytes.subarray(0, HEADER_BYTES + 13 * SEALED_SEGMENT_BYTES),
  },
}

function flipped(bytes: Buffer, at: number): Buffer {
  const other = Buffer.from(bytes)
  other[at] = (other[at] ?? 0) ^ 1
  return other
}

function swapped(bytes: Buffer, one: number, other: number): Buffer {
  const segment = (index: number) => HEADER_BYTES + index * SEALED_SEGMENT_BYTES
  const copy = Buffer.from(bytes)
  bytes.copy(copy, segment(one), segment(other), segment(other + 1))
  bytes.copy(copy, segment(other), segment(one), segment(one + 1))
  return copy
}

for (const [what, { segment, make }] of Object.entries(DAMAGES)) {
  t.test(`an object with ${what} is damaged, and gives no bytes from there on`, async (t) => {
    const sealed = await seal(t)
    const { stand, file } = sealed
    const bytes = make(sealed.bytes)
    for (const object of [remote(bytes), await local(t, sealed, bytes)]) {
      const opened = await stand.unsealing.open({
        file,
        object,
        dataKey: dataKey(),
        from: 0,
        to: CONTENT.length,
      })
      const outcome = opened.ok
        ? await outcomeOf(opened.value)
        : { bytes: Buffer.alloc(0), failure: opened.failure.name }
      t.equal(outcome.failure, 'content_damaged')
      t.ok(outcome.bytes.length <= segment * SEGMENT_BYTES, `${outcome.bytes.length} bytes`)
      t.ok(outcome.bytes.equals(CONTENT.subarray(0, outcome.bytes.length)))
    }
  })
}

t.test('damage at the beginning is reported before a reader exists, and no other key is tried', async (t) => {
  const { stand, file, bytes } = await seal(t)
  const object = remote(flipped(bytes, HEADER_BYTES))
  const input = { file, object, from: 0, to: 1 }
  t.match(await stand.unsealing.open({ ...input, dataKey: dataKey() }), {
    ok: false,
    failure: { name: 'content_damaged' },
  })
  const other = { ...dataKey(), id: '11111111-1111-4111-8111-111111111111' }
  t.match(await stand.unsealing.open({ ...input, dataKey: other }), {
    ok: false,
    failure: { name: 'data_key_unavailable' },
  })
  t.ok(
    other.key.every((byte) => byte === 0),
    'and its bytes are cleared',
  )
})

t.test('a file that shrinks while it is read is damaged', async (t) => {
  const sealed = await seal(t)
  const object = await local(t, sealed, sealed.bytes.subarray(0, HEADER_BYTES + 3 * SEALED_SEGMENT_BYTES))
  const input = {
    file: sealed.file,
    object: { ...object, sizeBytes: sealed.bytes.length },
    dataKey: dataKey(),
    from: 0,
    to: CONTENT.length,
  }
  const outcome = await outcomeOf(must(await sealed.stand.unsealing.open(input)))
  t.equal(outcome.failure, 'content_damaged')
  t.ok(outcome.bytes.equals(CONTENT.subarray(0, 3 * SEGMENT_BYTES)))
})

t.test('a reader that does not request more gets at most two opened pieces', async (t) => {
  const { stand, file, bytes } = await seal(t)
  const reported = { pulledBytes: 0 }
  const reader = must(
    await stand.unsealing.open({
      file,
      object: remote(bytes, reported),
      dataKey: dataKey(),
      from: 0,
      to: CONTENT.length,
    }),
  )
  // Another session of the same thread runs from its begin to its end meanwhile, several times.
  for (let nth = 0; nth < 3; nth++)
    await drain(
      must(await stand.unsealing.open({ file, object: remote(bytes), dataKey: dataKey(), from: 0, to: 1 })),
    )
  t.ok(reported.pulledBytes <= (OPENED_PIECES_MAX + 1) * STORAGE_PIECE_BYTES, `${reported.pulledBytes} bytes`)
  t.ok((await drain(reader)).equals(CONTENT))
})

t.test('a reader that is closed ends its session and its source, and gives nothing more', async (t) => {
  const { stand, file, bytes } = await seal(t)
  const reader = must(
    await stand.unsealing.open({
      file,
      object: remote(bytes),
      dataKey: dataKey(),
      from: 0,
      to: CONTENT.length,
    }),
  )
  t.match(await reader.next(), { ok: true })
  reader.close()
  reader.close()
  t.match(await reader.next(), { failure: { name: 'client_gone' } })
  await ended(stand)
})

t.test('remote reads end with the call, and a lent buffer returns when the thread releases it', async (t) => {
  const sealed = await seal(t)
  const { stand, file, bytes } = sealed
  const { signal } = new AbortController()
  const signals: unknown[] = []
  const elsewhere = remote(bytes)
  const object: StoredObject = {
    ...elsewhere,
    read(from, to, options) {
      signals.push(options?.signal)
      return elsewhere.read(from, to)
    },
  }
  await drain(
    must(
      await stand.unsealing.open({ file, object, dataKey: dataKey(), from: 0, to: CONTENT.length, signal }),
    ),
  )
  t.same([...new Set(signals)], [signal])
  const lent: Promise<void>[] = []
  const onLent = (released: Promise<void>) => void lent.push(released)
  const reader = must(
    await stand.unsealing.open({
      file,
      object: await local(t, sealed, bytes),
      dataKey: dataKey(),
      from: 0,
      to: CONTENT.length,
      onLent,
    }),
  )
  reader.close()
  t.equal(lent.length, 1)
  await Promise.all(lent)
  t.equal(stand.sessions.load.unsealings, 0)
})

t.test('storage that fails midway fails the reader with its own failure', async (t) => {
  const { stand, file, bytes } = await seal(t)
  const good = remote(bytes)
  let reads = 0
  const failing = {
    ...good,
    read(from: number, to: number): ByteReader {
      const reader = good.read(from, to)
      return { ...reader, next: async () => (++reads > 4 ? fail('storage_unavailable') : reader.next()) }
    },
  }
  const outcome = await outcomeOf(
    must(
      await stand.unsealing.open({ file, object: failing, dataKey: dataKey(), from: 0, to: CONTENT.length }),
    ),
  )
  t.equal(outcome.failure, 'storage_unavailable')
  t.ok(outcome.bytes.equals(CONTENT.subarray(0, outcome.bytes.length)))
})

t.test('storage that throws midway ends its reader, and nothing else', async (t) => {
  const { stand, file, bytes } = await seal(t)
  const good = remote(bytes)
  let reads = 0
  const throwing = {
    ...good,
    read(from: number, to: number): ByteReader {
      const reader = good.read(from, to)
      return {
        ...reader,
        next: async () => (++reads > 4 ? Promise.reject(new Error('a bug')) : reader.next()),
      }
    },
  }
  const outcome = await outcomeOf(
    must(
      await stand.unsealing.open({ file, object: throwing, dataKey: dataKey(), from: 0, to: CONTENT.length }),
    ),
  )
  t.equal(outcome.failure, 'internal')
})

t.test('a thread that dies fails its readers as busy', async (t) => {
  const threads: Worker[] = []
  const born = (thread: Worker): void => void threads.push(thread)
  process.on('worker', born)
  t.teardown(() => process.off('worker', born))
  const { stand, file, bytes } = await seal(t)
  const reader = must(
    await stand.unsealing.open({
      file,
      object: remote(bytes),
      dataKey: dataKey(),
      from: 0,
      to: CONTENT.length,
    }),
  )
  await threads[0]?.terminate()
  t.equal((await outcomeOf(reader)).failure, 'busy')
})

t.test('the buffer of a processed piece is returned to its thread', async (t) => {
  const sealed = await seal(t)
  const { stand, file, bytes } = sealed
  const reader = must(
    await stand.unsealing.open({
      file,
      object: remote(bytes),
      dataKey: dataKey(),
      from: 0,
      to: CONTENT.length,
    }),
  )
  const piece = must(await reader.next())
  t.not(piece?.length, 0)
  await reader.next()
  t.equal(piece?.length, 0)
  reader.close()
  await ended(stand)
})
