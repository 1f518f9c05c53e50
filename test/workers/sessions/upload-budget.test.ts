import t from 'tap'
import {
  COALESCED_BYTES_MAX,
  COALESCED_BYTES_MIN,
  TRANSFERS_MAX,
  UPLOADS_BYTES_MAX,
  UPLOAD_BYTES_MAX,
  UPLOAD_WINDOW_BYTES_MAX,
  UPLOAD_WINDOW_BYTES_MIN,
} from '../../../src/schemas/files/file-limits.ts'
import { SEGMENT_BYTES } from '../../../src/workers/seal/format.ts'
import { UploadBudget, type Share } from '../../../src/workers/sessions/intake.ts'

/** Bytes that the library reads from a socket at once. */
const LIBRARY_BYTES = 524_288

const join = (budget: UploadBudget, count: number): Share[] =>
  Array.from({ length: count }, () => budget.join())

/** Takes buffers until the share is full. @returns them */
function fill(budget: UploadBudget, share: Share): ArrayBuffer[] {
  const buffers = []
  share.pushBytes = COALESCED_BYTES_MAX
  do {
    buffers.push(budget.buffer(share))
    share.freeBytes = 0
  } while (budget.fits(share))
  return buffers
}

t.test('the window is an equal share of the running uploads, between its minimum and maximum', async (t) => {
  const budget = new UploadBudget()
  join(budget, 1)
  t.equal(budget.windowBytes, UPLOAD_WINDOW_BYTES_MAX)
  join(budget, 99)
  t.equal(budget.windowBytes, Math.floor(UPLOADS_BYTES_MAX / 100))
  join(budget, TRANSFERS_MAX - 100)
  t.equal(budget.windowBytes, UPLOAD_WINDOW_BYTES_MIN)
})

t.test('a buffer is a quarter of the window in whole segments, and is reused', async (t) => {
  const budget = new UploadBudget()
  const [share] = join(budget, 1)
  if (share === undefined) return
  const buffer = budget.buffer(share)
  t.equal(buffer.byteLength, COALESCED_BYTES_MAX)
  budget.giveBack(share, buffer)
  t.equal(budget.buffer(share), buffer)
  join(budget, 99)
  t.equal(budget.buffer(share).byteLength, 2 * SEGMENT_BYTES)
  join(budget, TRANSFERS_MAX - 100)
  t.equal(budget.buffer(share).byteLength, COALESCED_BYTES_MIN)
})

t.test(
  'all uploads of a front together stay within their total, and freed room is given to the longest waiting',
  async (t) => {
    const budget = new UploadBudget()
    const early = join(budget, UPLOADS_BYTES_MAX / UPLOAD_WINDOW_BYTES_MAX)
    const buffers = early.map((share) => fill(budget, share))
    t.equal(budget.heldBytes, UPLOADS_BYTES_MAX)
    const late = join(budget, 2)
    const reported: number[] = []
    for (const [nth, share] of late.entries()) {
      share.pushBytes = COALESCED_BYTES_MIN
      t.notOk(budget.fits(share), 'though it holds nothing itself')
      share.hasRoom = () => {
        reported.push(nth)
        budget.buffer(share)
      }
    }
    for (const [nth, share] of early.slice(0, 2).entries())
      budget.giveBack(share, buffers[nth]?.[0] ?? new ArrayBuffer(0))
    t.same(reported, [0, 1])
    t.equal(budget.heldBytes, UPLOADS_BYTES_MAX)
  },
)

t.test('a push that is larger than the window uses the whole window alone', async (t) => {
  const budget = new UploadBudget()
  const [share] = join(budget, 1)
  if (share === undefined) return
  const buffers = Array.from({ length: 12 }, () => budget.buffer(share))
  share.freeBytes = 0
  share.pushBytes = UPLOAD_WINDOW_BYTES_MAX
  for (const buffer of buffers) {
    t.notOk(budget.fits(share))
    budget.giveBack(share, buffer)
  }
  t.ok(budget.fits(share))
})

t.test('uploads whose threads accept nothing hold at most one window and one push each', async (t) => {
  for (const count of [1, 8, 32, 100, TRANSFERS_MAX]) {
    const budget = new UploadBudget()
    const shares = join(budget, count)
    for (let turn = 0; turn < 64; turn++) {
      for (const [nth, share] of shares.entries()) {
        if (!budget.fits(share)) continue
        // As many bytes as the library reads at once, or fewer, which fill no whole buffer.
        share.pushBytes = nth % 2 === 0 ? LIBRARY_BYTES : 5_000
        for (let left = share.pushBytes; left > 0;) {
          if (share.freeBytes === 0) budget.buffer(share)
          const part = Math.min(left, share.freeBytes)
          share.freeBytes -= part
          left -= part
        }
      }
    }
    const most = Math.max(budget.windowBytes, LIBRARY_BYTES) + COALESCED_BYTES_MAX
    t.ok(most <= UPLOAD_BYTES_MAX)
    t.ok(shares.every(({ heldBytes }) => heldBytes <= most))
    t.ok(
      budget.bufferBytes <= Math.min(count * most, UPLOADS_BYTES_MAX + LIBRARY_BYTES),
      `${budget.bufferBytes} of ${count}`,
    )
  }
})

t.test('an upload that ends releases its share, and spare buffers are freed with the uploads', async (t) => {
  const budget = new UploadBudget()
  const [first, second] = join(budget, 2)
  if (first === undefined || second === undefined) return
  const [ofFirst, ofSecond] = [fill(budget, first), fill(budget, second)]
  for (const buffer of ofFirst) budget.giveBack(first, buffer)
  for (const buffer of ofSecond) budget.giveBack(second, buffer)
  t.equal(budget.bufferBytes, 2 * UPLOAD_WINDOW_BYTES_MAX)
  budget.leave(first)
  budget.leave(first)
  t.equal(budget.bufferBytes, UPLOAD_WINDOW_BYTES_MAX)
  budget.leave(second)
  t.equal(budget.bufferBytes, 0)
  t.ok(
    [...ofFirst, ...ofSecond].every(({ byteLength }) => byteLength === 0),
    'freed',
  )
})
