import t from 'tap'
import { FIGURE, FIGURES, type RequestBatch } from '../../../../src/schemas/requests/request-record.ts'
import { keptLog } from '../../../support/log.ts'
import { settledCall } from '../../../support/requests/settled-call.ts'
import { until } from '../../../support/wait.ts'
import {
  REQUESTS_FLUSH_MS,
  REQUESTS_GATHERED_SHARE,
  RequestRecorder,
} from '../../../../src/server/observe/observer.ts'
import { REQUESTS_GATHERED_MAX } from '../../../../src/server/observe/requests/gathered-calls.ts'

const PAID = { notes: { costUsd: 0.001 } }

function open(spill: (batch: RequestBatch) => Promise<number>) {
  const counts = { spilled: 0, written: 0, recovered: 0, lost: 0 }
  const log = keptLog()
  const recorder = new RequestRecorder({ spill, log, count: (outcome, calls) => (counts[outcome] += calls) })
  return { recorder, counts, log }
}

const all = ({ requestIds }: RequestBatch): Promise<number> => Promise.resolve(requestIds.length)

t.test('drops and counts calls while the disk is full or refuses writes; keeps later ones', async (t) => {
  const answers = [() => Promise.resolve(0), () => Promise.reject(new Error('ENOSPC'))]
  const { recorder, counts, log } = open((batch) => answers.shift()?.() ?? all(batch))
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

t.test('while a batch hangs one more is gathered; later calls are dropped to limit memory', async (t) => {
  const waiting: (() => void)[] = []
  const batches: number[] = []
  const { recorder, counts } = open(async ({ requestIds }) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return batches.push(requestIds.length) && requestIds.length
  })
  for (let n = 0; n < 2 * REQUESTS_GATHERED_MAX + 5; n++)
    recorder.settled(settledCall({ ...PAID, organizationId: `o${n % 8}` }))
  t.same([waiting.length, counts.lost], [1, 5])
  waiting.shift()?.()
  await until(() => waiting.length === 1)
  waiting.shift()?.()
  await until(() => counts.spilled === 2 * REQUESTS_GATHERED_MAX)
  t.same(batches, [REQUESTS_GATHERED_MAX, REQUESTS_GATHERED_MAX])
  await recorder.close()
})

t.test(
  `calls are written REQUESTS_FLUSH_MS (${REQUESTS_FLUSH_MS}) after the first one, and at the end`,
  async (t) => {
    const written: string[][] = []
    const { recorder } = open(async ({ requestIds }) => {
      return written.push([...requestIds]) && requestIds.length
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

t.test('keeps every paid call, and a sample of the refused ones', async (t) => {
  const rows = { paid: 0, refused: 0, weight: 0 }
  const { recorder } = open(async ({ figures, requestIds }) => {
    requestIds.forEach((id, nth) => {
      const isPaid = id === 'paid'
      rows[isPaid ? 'paid' : 'refused']++
      if (!isPaid) rows.weight += figures[(nth * figures.length) / requestIds.length + FIGURE.weight] ?? 0
    })
    return requestIds.length
  })
  for (let n = 0; n < 1_000; n++) {
    recorder.settled(settledCall({ ...PAID, requestId: 'paid' }))
    recorder.settled(settledCall({ requestId: 'refused', status: 429, failure: 'rate_limited' }))
  }
  await recorder.close()
  t.equal(rows.paid, 1_000)
  t.ok(rows.refused < 200 && rows.weight > 800, `${rows.refused} rows stand for ${rows.weight}`)
})

t.test('an unknown requested model is recorded for a call only when no model is known', async (t) => {
  const models: (string | undefined)[] = []
  const { recorder } = open(async ({ figures, requestIds, names }) => {
    requestIds.forEach((_, nth) => models.push(names[(figures[nth * FIGURES + FIGURE.model] ?? 0) - 1]))
    return requestIds.length
  })
  const call = settledCall({ organizationId: 'o', status: 404, askedModel: 'a/oen' })
  recorder.settled(call)
  recorder.settled({ ...call, notes: { model: 'a/one' } })
  recorder.settled({ ...call, askedModel: undefined })
  await recorder.close()
  t.same(models, ['a/oen', 'a/one', undefined])
})

t.test('keeps a sample of the calls with cost 0, as of those without a cost', async (t) => {
  let rows = 0
  const { recorder } = open(({ requestIds }) => Promise.resolve((rows += requestIds.length)))
  for (let n = 0; n < 1_000; n++) recorder.settled(settledCall({ notes: { costUsd: 0 } }))
  await recorder.close()
  t.ok(rows < 200, `${rows} rows`)
})

t.test('while a batch hangs, one organization leaves room for calls of other organizations', async (t) => {
  let release = (): void => undefined
  const hung = new Promise<void>((resolve) => (release = resolve))
  const written: string[] = []
  const { recorder, counts } = open(async ({ requestIds }) => {
    await hung
    return written.push(...requestIds) && requestIds.length
  })
  for (let n = 0; n < 2 * REQUESTS_GATHERED_MAX; n++)
    recorder.settled(settledCall({ ...PAID, organizationId: 'a', requestId: 'flood' }))
  t.equal(counts.lost, REQUESTS_GATHERED_MAX / 2)
  for (let n = 0; n < REQUESTS_GATHERED_MAX / 2; n++)
    recorder.settled(settledCall({ ...PAID, organizationId: 'b', requestId: 'paid' }))
  release()
  await recorder.close()
  const paid = written.filter((id) => id === 'paid').length
  t.equal(paid, Math.ceil(REQUESTS_GATHERED_MAX / 2 / (REQUESTS_GATHERED_SHARE - 1)))
})

t.test('calls of a batch that the disk did not accept are dropped and counted', async (t) => {
  const { recorder, counts } = open(() => Promise.resolve(1))
  for (const _ of [1, 2, 3]) recorder.settled(settledCall(PAID))
  await recorder.close()
  t.match(counts, { spilled: 1, lost: 2 })
})
