import t from 'tap'
import { AnswerBudget } from '../../../src/server/egress/answer-budget.ts'
import { HeldBody, assemble } from '../../../src/server/egress/held-body.ts'

const MIB = 1024 * 1024
const never = { granted: (): void => undefined }

/** Bytes outside the heap that making something takes. */
function taken(make: () => unknown): number {
  const before = process.memoryUsage().arrayBuffers
  const kept = make()
  const bytes = process.memoryUsage().arrayBuffers - before
  return kept === null ? 0 : bytes
}

t.test('an announced length allocates no memory until a quarter of the body has arrived', async (t) => {
  const body = new HeldBody(new AnswerBudget(256 * MIB), 128 * MIB)
  const bytes = taken(() => body.hold(128 * MIB, never))
  t.ok(bytes < MIB)
  const piece = Buffer.alloc(MIB)
  for (let nth = 0; nth < 31; nth++) t.ok(taken(() => body.push(piece, never)) < MIB)
  t.ok(taken(() => body.push(piece, never)) >= 128 * MIB)
  body.drop()
})

t.test('a body that ended while it waited for room gets none, and holds nothing', async (t) => {
  const budget = new AnswerBudget(64 * MIB)
  const [other, body] = [new HeldBody(budget, -1), new HeldBody(budget, -1)]
  t.ok(other.hold(64 * MIB, never))
  const reported: boolean[] = []
  t.notOk(body.push(Buffer.alloc(1_000), { granted: (isGranted) => void reported.push(isGranted) }))
  t.equal((await body.join()).length, 1_000)
  t.notOk(body.hold(2_000, never))
  body.drop()
  other.drop()
  t.same(reported, [])
  t.equal(budget.heldBytes, 0)
})

t.test('returns pieces of any size in order, whether they were copied into place or joined', async (t) => {
  for (const sizeBytes of [10, 4 * MIB, 4 * MIB + 1, 9 * MIB + 3]) {
    for (const pieces of [1, 2, 3, 7, 1_000]) {
      const whole = Buffer.alloc(
        sizeBytes,
        'some text that is not the same everywhere, such as a count: 0123456789',
      )
      const body = new HeldBody(new AnswerBudget(256 * MIB), sizeBytes)
      body.hold(sizeBytes, never)
      // Small pieces first, so that what was kept early is still being moved when the last large one comes.
      const cuts = Array.from({ length: pieces }, (_, nth) =>
        Math.floor(sizeBytes * ((nth + 1) / pieces) ** 3),
      )
      cuts.reduce((from, to) => (body.push(whole.subarray(from, to), never), to), 0)
      t.ok(whole.equals(await body.join()), `${sizeBytes} bytes in ${pieces} pieces`)
    }
  }
})

t.test('a dropped body releases its bytes, whether they were copied into place or not', async (t) => {
  for (const sizeBytes of [MIB, 9 * MIB]) {
    const body = new HeldBody(new AnswerBudget(256 * MIB), sizeBytes)
    body.hold(sizeBytes, never)
    body.push(Buffer.alloc(sizeBytes), never)
    body.drop()
    t.equal((await body.join()).length, 0)
  }
})

t.test('pieces of a large body leave the list as soon as they are copied', async (t) => {
  const pieces = Array.from({ length: 9 }, (_, nth) => Buffer.alloc(MIB, nth))
  const expected = Buffer.concat(pieces)
  const whole = assemble(pieces, 9 * MIB)
  t.same(
    pieces.map((piece) => piece.length),
    [0, 0, 0, 0, MIB, MIB, MIB, MIB, MIB],
  )
  t.ok(expected.equals(await whole))
  t.equal(Buffer.concat(pieces).length, 0)
})
