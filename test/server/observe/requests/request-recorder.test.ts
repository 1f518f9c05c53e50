import t from 'tap'
import { REQUESTS_FLUSH_MS, REQUESTS_GATHERED_MAX } from '../../../../src/schemas/requests/request-limits.ts'
import { FIGURE, type RequestBatch } from '../../../../src/schemas/requests/request-record.ts'
import { RequestRecorder } from '../../../../src/server/observe/requests/request-recorder.ts'
import { keptLog } from '../../../support/log.ts'
import { settledCall } from '../../../support/requests/settled-call.ts'
import { until } from '../../../support/wait.ts'

const PAID = { notes: { costUsd: 0.001 } }

function open(spill: (batch: RequestBatch) => Promise<boolean>) {
  const counts = { spilled: 0, written: 0, recovered: 0, lost: 0 }
  const log = keptLog()
  const recorder = new RequestRecorder({ spill, log, count: (outcome, calls) => (counts[outcome] += calls) })
  return { recorder, counts, log }
}

t.test('calls are lost, and counted, while the disk is full or refuses; later ones are kept', async (t) => {
  const answers = [
    () => Promise.resolve(false),
    () => Promise.reject(new Error('ENOSPC')),
    () => Promise.resolve(true),
  ]
  const { recorder, counts, log } = open(() => (answers.shift() ?? (() => Promise.resolve(true)))())
  for (const lost of [1, 2]) {
    recorder.settled(settledCall(PAID))
    await until(() => counts.lost === lost)
  }
  recorder.settled(settledCall(PAID))
  await until(() => counts.spilled === 1)
  t.same(
    log.events.map(({ event }) => event),
    ['requests.lost', 'requests.spill_failed', 'requests.lost'],
  )
  await recorder.close()
})

t.test(
  'while a batch hangs one more is gathered, and what is over is lost: memory has a bound',
  async (t) => {
    const waiting: (() => void)[] = []
    const batches: number[] = []
    const { recorder, counts } = open(async ({ requestIds }) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      batches.push(requestIds.length)
      return true
    })
    for (let n = 0; n < 2 * REQUESTS_GATHERED_MAX + 5; n++) recorder.settled(settledCall(PAID))
    t.same([waiting.length, counts.lost], [1, 5])
    waiting.shift()?.()
    await until(() => waiting.length === 1)
    waiting.shift()?.()
    await until(() => counts.spilled === 2 * REQUESTS_GATHERED_MAX)
    t.same(batches, [REQUESTS_GATHERED_MAX, REQUESTS_GATHERED_MAX])
    await recorder.close()
  },
)

t.test(
  `calls are written down REQUESTS_FLUSH_MS (${REQUESTS_FLUSH_MS}) after the first, and at the end`,
  async (t) => {
    const written: string[][] = []
    const { recorder } = open(async ({ requestIds }) => {
      written.push([...requestIds])
      return true
    })
    recorder.settled(settledCall({ ...PAID, requestId: 'a' }))
    recorder.settled(settledCall({ ...PAID, requestId: 'b' }))
    t.same(written, [])
    await until(() => written.length === 1)
    recorder.settled(settledCall({ ...PAID, requestId: 'c' }))
    await recorder.close()
    t.same(written, [['a', 'b'], ['c']])
  },
)

t.test('what was paid is kept however much it is; of refusals a share is', async (t) => {
  const rows = { paid: 0, refused: 0, weight: 0 }
  const { recorder } = open(async ({ figures, requestIds }) => {
    requestIds.forEach((id, nth) => {
      const isPaid = id === 'paid'
      rows[isPaid ? 'paid' : 'refused']++
      if (!isPaid) rows.weight += figures[(nth * figures.length) / requestIds.length + FIGURE.weight] ?? 0
    })
    return true
  })
  for (let n = 0; n < 1_000; n++) {
    recorder.settled(settledCall({ ...PAID, requestId: 'paid' }))
    recorder.settled(settledCall({ requestId: 'refused', status: 429, failure: 'rate_limited' }))
  }
  await recorder.close()
  t.equal(rows.paid, 1_000)
  t.ok(rows.refused < 200 && rows.weight > 800, `${rows.refused} rows stand for ${rows.weight}`)
})
