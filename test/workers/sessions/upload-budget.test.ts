import t from 'tap'
import {
  COALESCED_BYTES_MAX,
  COALESCED_BYTES_MIN,
  TRANSFERS_MAX,
  UPLOADS_BYTES_MAX,
  UPLOAD_WINDOW_BYTES_MAX,
  UPLOAD_WINDOW_BYTES_MIN,
} from '../../../src/schemas/files/file-limits.ts'
import { UploadBudget, type Share } from '../../../src/workers/sessions/intake.ts'

const join = (budget: UploadBudget, count: number): Share[] =>
  Array.from({ length: count }, () => budget.join())

/** Takes pieces until the share is full. */
function fill(budget: UploadBudget, share: Share, pieceBytes: number): void {
  do budget.take(share, pieceBytes)
  while (budget.fits(share))
}

t.test('the window is the share of the uploads under way, between its bounds', async (t) => {
  const budget = new UploadBudget()
  join(budget, 1)
  t.equal(budget.windowBytes, UPLOAD_WINDOW_BYTES_MAX)
  join(budget, 99)
  t.equal(budget.windowBytes, Math.floor(UPLOADS_BYTES_MAX / 100))
  join(budget, TRANSFERS_MAX - 100)
  t.equal(budget.windowBytes, UPLOAD_WINDOW_BYTES_MIN)
})

t.test('buffers are a quarter of the window, between their bounds, and are used again', async (t) => {
  const budget = new UploadBudget()
  join(budget, 1)
  const buffer = budget.buffer()
  t.equal(buffer.byteLength, COALESCED_BYTES_MAX)
  budget.recycle(buffer)
  t.equal(budget.buffer(), buffer)
  join(budget, TRANSFERS_MAX - 1)
  t.equal(budget.buffer().byteLength, COALESCED_BYTES_MIN)
})

t.test(
  'the uploads of a front hold no more than their sum, and room goes to the longest waiting',
  async (t) => {
    const budget = new UploadBudget()
    const early = join(budget, UPLOADS_BYTES_MAX / UPLOAD_WINDOW_BYTES_MAX)
    for (const share of early) fill(budget, share, 65_536)
    t.equal(budget.heldBytes, UPLOADS_BYTES_MAX)
    const late = join(budget, 2)
    const reported: number[] = []
    for (const [nth, share] of late.entries()) {
      share.pushBytes = 65_536
      t.notOk(budget.fits(share), 'though it holds nothing itself')
      share.hasRoom = () => {
        reported.push(nth)
        budget.take(share, 65_536)
      }
    }
    for (const share of early.slice(0, 2)) budget.give(share, 65_536)
    t.same(reported, [0, 1])
    t.equal(budget.heldBytes, UPLOADS_BYTES_MAX)
  },
)

t.test('a push that is larger than the window has it for itself', async (t) => {
  const budget = new UploadBudget()
  const [share] = join(budget, 1)
  if (share === undefined) return
  budget.take(share, 3 * UPLOAD_WINDOW_BYTES_MAX)
  t.notOk(budget.fits(share))
  budget.give(share, 2 * UPLOAD_WINDOW_BYTES_MAX)
  t.notOk(budget.fits(share))
  budget.give(share, UPLOAD_WINDOW_BYTES_MAX)
  t.ok(budget.fits(share))
})

t.test('an upload that ends gives back its share, and the last one frees the spare buffers', async (t) => {
  const budget = new UploadBudget()
  const [first, second] = join(budget, 2)
  if (first === undefined || second === undefined) return
  budget.take(first, 1_000)
  budget.leave(first)
  budget.leave(first)
  t.equal(budget.heldBytes, 0)
  const buffer = budget.buffer()
  budget.recycle(buffer)
  budget.leave(second)
  budget.join()
  t.not(budget.buffer(), buffer)
  t.equal(buffer.byteLength, 0, 'freed')
})
