import { createHash, randomBytes, randomInt } from 'node:crypto'
import t from 'tap'
import { layoutOf, readHeader, SEGMENT_BYTES, writeHeader } from '../../../src/workers/seal/format.ts'
import { createSealer } from '../../../src/workers/seal/sealer.ts'
import { sealPlainly, type PlainSeal } from '../../support/files/plain-seal.ts'
import { present } from '../../support/must.ts'

const FIXED: PlainSeal = {
  dataKey: Buffer.alloc(32, 7),
  dataKeyId: '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b',
  objectId: 'file_000000000001',
  salt: Buffer.alloc(32, 9),
}

function seal(options: PlainSeal, content: Buffer, chunkBytes: () => number): Buffer {
  const sealer = createSealer(options)
  const pieces: Uint8Array[] = []
  for (let at = 0; at < content.length;) {
    const size = chunkBytes()
    // The same buffer again and again: the sealer must not keep what it is given.
    const chunk = Buffer.from(content.subarray(at, at + size))
    at += size
    const isFollowed = at < content.length && randomInt(2) === 1
    pieces.push(...sealer.push(chunk, isFollowed).map((piece) => Buffer.from(piece)))
    chunk.fill(0xff)
  }
  return Buffer.concat([...pieces, ...sealer.finish()])
}

t.test('a sealed object is byte-identical to an independent implementation of the format', async (t) => {
  for (const size of [
    0,
    1,
    15,
    16,
    SEGMENT_BYTES - 1,
    SEGMENT_BYTES,
    SEGMENT_BYTES + 1,
    2 * SEGMENT_BYTES,
    3 * SEGMENT_BYTES + 7,
  ]) {
    const content = randomBytes(size)
    const options = { ...FIXED, dataKey: randomBytes(32), salt: randomBytes(32) }
    t.ok(seal(options, content, () => 100_000).equals(sealPlainly(options, content)), `${size} bytes`)
  }
})

t.test('the format of released objects does not change', async (t) => {
  const sealed = seal(FIXED, Buffer.alloc(70_000, 'sluice'), () => 4_096)
  t.equal(sealed.subarray(0, 128).toString('hex'), HEADER_HEX)
  t.equal(createHash('sha256').update(sealed).digest('hex'), OBJECT_SHA256)
})

const HEADER_HEX = [
  '534c5331010100000190a1b2c3d47e5f8a6b7c8d9e0f1a2b000100000000000009090909090909090909090909090909',
  '09090909090909090909090909090909204f944916d371547921edf3d710a406a3bf68c1c778e70234b5f93455b1cb36',
  '0000000000000000000000000000000000000000000000000000000000000000',
].join('')
const OBJECT_SHA256 = '88bf4b7a6fed4a2e99c01911f61832f892e8e41d11f6baa99eb91411a2877609'

t.test('chunk borders do not change the object, and its length is that of the layout', async (t) => {
  for (let round = 0; round < 60; round++) {
    const border = randomInt(4) * SEGMENT_BYTES
    const size = Math.max(0, border + randomInt(-2, 3))
    const content = randomBytes(size)
    const most = [1, 7, 1_000, SEGMENT_BYTES, SEGMENT_BYTES + 1, 300_000][randomInt(6)] ?? 1
    const leastBytes = size > 20_000 ? 500 : 1
    const sealed = seal(FIXED, content, () => leastBytes + randomInt(most))
    if (!sealed.equals(sealPlainly(FIXED, content)) || sealed.length !== layoutOf(size).objectBytes) {
      t.fail(`${size} bytes in chunks of up to ${most}`)
    }
  }
  t.pass('60 sizes around the borders of segments')
})

t.test('bytes are returned as they arrive, except for the last segment', async (t) => {
  const sealer = createSealer(FIXED)
  const bytesOf = (pieces: readonly Uint8Array[]): number =>
    pieces.reduce((sum, piece) => sum + piece.length, 0)
  t.equal(bytesOf(sealer.push(Buffer.alloc(SEGMENT_BYTES))), 128)
  t.equal(bytesOf(sealer.push(Buffer.alloc(1))), SEGMENT_BYTES + 16)
  t.equal(bytesOf(sealer.push(Buffer.alloc(0))), 0)
  t.equal(bytesOf(sealer.finish()), 1 + 16)
})

t.test('returns a segment at once if more bytes are announced, which then must arrive', async (t) => {
  const sealer = createSealer(FIXED)
  const pieces = sealer.push(Buffer.alloc(2 * SEGMENT_BYTES), true)
  t.same(
    pieces.map(({ length }) => length),
    [128, SEGMENT_BYTES, 16, SEGMENT_BYTES, 16],
  )
  t.throws(() => sealer.finish(), /fewer bytes arrived/)
})

t.test('a finished sealer accepts no more bytes', async (t) => {
  const finished = createSealer(FIXED)
  finished.finish()
  t.throws(() => finished.push(Buffer.from('a')))
  t.throws(() => finished.finish())
  const discarded = createSealer(FIXED)
  discarded.discard()
  discarded.discard()
  t.throws(() => discarded.push(Buffer.alloc(0)))
})

t.test('the data key is read and left as it was', async (t) => {
  const dataKey = Buffer.alloc(32, 5)
  createSealer({ ...FIXED, dataKey }).finish()
  t.ok(dataKey.equals(Buffer.alloc(32, 5)))
})

t.test('keys, salts and ids in an invalid format are refused', async (t) => {
  t.throws(() => createSealer({ ...FIXED, dataKey: Buffer.alloc(31) }))
  t.throws(() => createSealer({ ...FIXED, salt: Buffer.alloc(16) }))
  t.throws(() => createSealer({ ...FIXED, objectId: '' }))
  t.throws(() => createSealer({ ...FIXED, objectId: 'x'.repeat(513) }))
  t.throws(() => createSealer({ ...FIXED, dataKeyId: 'not a uuid' }))
})

t.test('a header reads back as it was written, and is refused when a fixed byte differs', async (t) => {
  const header = {
    dataKeyId: FIXED.dataKeyId,
    salt: new Uint8Array(randomBytes(32)),
    commitment: new Uint8Array(randomBytes(32)),
  }
  const bytes = writeHeader(header)
  t.same(present(readHeader(bytes)), header)
  const fixed = [...Array(8).keys(), ...range(24, 32), ...range(96, 128)]
  t.same(
    fixed.filter((at) => readHeader(flipped(bytes, at)) !== null),
    [],
  )
  t.equal(readHeader(bytes.subarray(1)), null)
})

t.test('sizes that no object can have are refused', async (t) => {
  for (const size of [-1, 0.5, Number.NaN, 2 ** 53, (2 ** 32 + 1) * SEGMENT_BYTES])
    t.throws(() => layoutOf(size), String(size))
})

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, nth) => from + nth)
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}
