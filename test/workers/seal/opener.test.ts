import { randomBytes, randomInt } from 'node:crypto'
import t from 'tap'
import type { Outcome } from '../../../src/schemas/failures.ts'
import { HEADER_BYTES, SEGMENT_BYTES, TAG_BYTES } from '../../../src/workers/seal/format.ts'
import { createOpener, type Opener } from '../../../src/workers/seal/opener.ts'
import { openRange } from '../../../src/workers/seal/range-opener.ts'
import { must } from '../../support/must.ts'
import { sealPlainly, type PlainSeal } from '../../support/files/plain-seal.ts'

const WHOLE = SEGMENT_BYTES + TAG_BYTES
const SEAL: PlainSeal = {
  dataKey: randomBytes(32),
  dataKeyId: '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b',
  objectId: 'file_a',
  salt: randomBytes(32),
}
const CONTENT = randomBytes(3 * SEGMENT_BYTES + 100)
const OBJECT = sealPlainly(SEAL, CONTENT)

type More = Partial<PlainSeal> & { readonly sizeBytes?: number }

function open(object: Buffer, more: More = {}): Outcome<Opener> {
  return createOpener({
    ...SEAL,
    sizeBytes: CONTENT.length,
    ...more,
    objectBytes: object.length,
    header: object.subarray(0, HEADER_BYTES),
  })
}

/** @returns what was released before the refusal, or null when nothing was refused */
function released(object: Buffer, more: More = {}): Buffer | null {
  const opener = open(object, more)
  if (!opener.ok) return Buffer.alloc(0)
  const range = openRange(opener.value, 0, more.sizeBytes ?? CONTENT.length)
  const plain: Uint8Array[] = []
  for (let at = range.plan.from; at < range.plan.to; at += 100_000) {
    const pushed = range.push(object.subarray(at, Math.min(at + 100_000, range.plan.to)))
    if (!pushed.ok) return Buffer.concat(plain)
    plain.push(...pushed.value)
  }
  return range.isComplete ? null : Buffer.concat(plain)
}

/** Only whole true segments may have been given out, up to the first wrong one. */
function isHonest(bytes: Buffer | null, segmentsMax: number): boolean {
  return (
    bytes !== null &&
    bytes.length <= segmentsMax * SEGMENT_BYTES &&
    CONTENT.subarray(0, bytes.length).equals(bytes)
  )
}

function segment(object: Buffer, index: number): Buffer {
  return object.subarray(HEADER_BYTES + index * WHOLE, HEADER_BYTES + (index + 1) * WHOLE)
}

function assembled(...indices: readonly number[]): Buffer {
  return Buffer.concat([OBJECT.subarray(0, HEADER_BYTES), ...indices.map((index) => segment(OBJECT, index))])
}

t.test('opens sealed objects', async (t) => {
  t.equal(released(OBJECT), null)
  for (const size of [0, 1, SEGMENT_BYTES - 1, SEGMENT_BYTES, SEGMENT_BYTES + 1]) {
    const content = randomBytes(size)
    const object = sealPlainly(SEAL, content)
    const range = openRange(must(open(object, { sizeBytes: size })), 0, size)
    const plain = Buffer.concat(must(range.push(object.subarray(range.plan.from, range.plan.to))))
    t.ok(plain.equals(content) && range.isComplete, `${size} bytes`)
  }
})

t.test('a flipped bit at any byte is refused, and nothing of its segment is released', async (t) => {
  const dense = [...Array(HEADER_BYTES + 40).keys()]
  const borders = [1, 2, 3].flatMap((nth) =>
    Array.from({ length: 40 }, (_, near) => HEADER_BYTES + nth * WHOLE - 20 + near),
  )
  const tail = Array.from({ length: 40 }, (_, near) => OBJECT.length - 1 - near)
  const anywhere = Array.from({ length: 200 }, () => randomInt(OBJECT.length))
  for (const at of [...dense, ...borders, ...tail, ...anywhere]) {
    const object = Buffer.from(OBJECT)
    object[at] = (object[at] ?? 0) ^ (1 << randomInt(8))
    const before = at < HEADER_BYTES ? 0 : Math.floor((at - HEADER_BYTES) / WHOLE)
    if (!isHonest(released(object), before)) t.fail(`byte ${at} may be flipped`)
  }
  t.pass('every one refused')
})

t.test('dropped, repeated, swapped and moved segments are refused', async (t) => {
  const cases: readonly (readonly number[])[] = [
    [1, 2, 3],
    [0, 2, 3],
    [0, 1, 3],
    [0, 1, 2],
    [0, 0, 1, 2, 3],
    [0, 0, 2, 3],
    [1, 0, 2, 3],
    [0, 2, 1, 3],
    [3, 1, 2, 0],
    [0, 1, 2, 2],
    [0, 1, 3, 2],
  ]
  for (const order of cases) {
    const firstWrong = order.findIndex((index, at) => index !== at)
    t.ok(isHonest(released(assembled(...order)), firstWrong < 0 ? order.length : firstWrong), order.join(' '))
  }
})

t.test('a truncation at a border is refused even when the row says the shorter size', async (t) => {
  for (const count of [1, 2, 3]) {
    const shorter = OBJECT.subarray(0, HEADER_BYTES + count * WHOLE)
    t.ok(isHonest(released(shorter, { sizeBytes: count * SEGMENT_BYTES }), count - 1), `${count} segments`)
  }
})

t.test('a length that differs from the row is refused before any segment is opened', async (t) => {
  const longer = Buffer.concat([OBJECT, Buffer.alloc(1)])
  const variants = [OBJECT.subarray(0, -1), longer, OBJECT.subarray(0, HEADER_BYTES), Buffer.alloc(0)]
  for (const object of variants) t.equal(open(object).ok, false, `${object.length} bytes`)
  for (const sizeBytes of [0, CONTENT.length - 1, CONTENT.length + 1, 2 * CONTENT.length]) {
    t.equal(open(OBJECT, { sizeBytes }).ok, false, `a row of ${sizeBytes}`)
  }
})

t.test('two objects that were swapped are refused, whatever key they share', async (t) => {
  const other = sealPlainly({ ...SEAL, objectId: 'file_b', salt: randomBytes(32) }, CONTENT)
  t.equal(open(other).ok, false)
  t.equal(open(OBJECT, { objectId: 'file_b' }).ok, false)
  const spliced = Buffer.concat([
    OBJECT.subarray(0, HEADER_BYTES + WHOLE),
    other.subarray(HEADER_BYTES + WHOLE),
  ])
  t.ok(isHonest(released(spliced), 1))
})

t.test('two sealings of one object cannot be mixed', async (t) => {
  const again = sealPlainly({ ...SEAL, salt: randomBytes(32) }, CONTENT)
  t.equal(released(again), null)
  t.ok(
    isHonest(
      released(
        Buffer.concat([
          OBJECT.subarray(0, HEADER_BYTES + 2 * WHOLE),
          again.subarray(HEADER_BYTES + 2 * WHOLE),
        ]),
      ),
      2,
    ),
  )
})

t.test('another key is refused by the commitment, another key id by the header', async (t) => {
  t.equal(open(OBJECT, { dataKey: randomBytes(32) }).ok, false)
  t.equal(open(OBJECT, { dataKeyId: '0190a1b2-c3d4-7e5f-8a6b-000000000000' }).ok, false)
})

t.test('a range gives exactly its bytes, whatever the pieces', async (t) => {
  const opener = must(open(OBJECT))
  for (let round = 0; round < 200; round++) {
    const near = (): number =>
      Math.min(CONTENT.length, Math.max(0, randomInt(5) * SEGMENT_BYTES + randomInt(-2, 3)))
    const [start = 0, end = 0] = [near(), near()].sort((a, b) => a - b)
    const range = openRange(opener, start, end)
    const plain: Uint8Array[] = []
    for (let at = range.plan.from; at < range.plan.to;) {
      const size = 1 + randomInt(round % 2 === 0 ? 5_000 : 300_000)
      plain.push(...must(range.push(OBJECT.subarray(at, Math.min(at + size, range.plan.to)))))
      at += size
    }
    if (!Buffer.concat(plain).equals(CONTENT.subarray(start, end)) || !range.isComplete)
      t.fail(`${start} to ${end}`)
  }
  t.pass('200 ranges')
})

t.test('a range reads no more than the segments it touches', async (t) => {
  const { plan } = openRange(must(open(OBJECT)), SEGMENT_BYTES + 5, 2 * SEGMENT_BYTES)
  t.match(plan, {
    from: HEADER_BYTES + WHOLE,
    to: HEADER_BYTES + 2 * WHOLE,
    skipBytes: 5,
    plainBytes: SEGMENT_BYTES - 5,
  })
})

t.test('bytes after the end of the range are refused', async (t) => {
  const range = openRange(must(open(OBJECT)), 0, 10)
  t.equal(range.push(OBJECT.subarray(range.plan.from, range.plan.to + 1)).ok, false)
})

t.test('a range that ends early is not complete', async (t) => {
  const range = openRange(must(open(OBJECT)), 0, CONTENT.length)
  must(range.push(OBJECT.subarray(range.plan.from, range.plan.to - 1)))
  t.equal(range.isComplete, false)
})

t.test('an opener refuses a wrong segment index or length, and opens nothing once discarded', async (t) => {
  const opener = must(open(OBJECT))
  t.equal(opener.openSegment(4, segment(OBJECT, 3)).ok, false)
  t.equal(opener.openSegment(-1, segment(OBJECT, 0)).ok, false)
  t.equal(opener.openSegment(0, segment(OBJECT, 0).subarray(1)).ok, false)
  t.ok(must(opener.openSegment(0, segment(OBJECT, 0))).equals(CONTENT.subarray(0, SEGMENT_BYTES)))
  opener.discard()
  t.throws(() => opener.openSegment(0, segment(OBJECT, 0)))
})

t.test('a range outside the file throws, because it is a bug of the caller', async (t) => {
  const opener = must(open(OBJECT))
  for (const [start, end] of [
    [-1, 2],
    [2, 1],
    [0, CONTENT.length + 1],
    [0.5, 2],
  ] as const)
    t.throws(() => opener.openRange(start, end))
})
