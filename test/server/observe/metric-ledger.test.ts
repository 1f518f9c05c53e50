import t from 'tap'
import { MetricLedger } from '../../../src/server/observe/metric-ledger.ts'
import { aggregate, createMetrics, type Snapshot } from '../../../src/server/observe/metrics.ts'

const CALL = { status: 200, failure: null, durationMs: 1, overheadMs: 1 }

/** What a process with so many calls sends: plain data. */
async function snapshotOf(calls: number): Promise<Snapshot> {
  const metrics = createMetrics()
  for (let call = 0; call < calls; call++) metrics.call('model.read', CALL)
  metrics.watch({ inFlight: () => 1 })
  const snapshot = JSON.parse(JSON.stringify(await metrics.snapshot())) as Snapshot
  metrics.close()
  return snapshot
}

/** Calls counted, calls timed, and calls in flight, as a scraper reads them. */
async function read(
  ledger: MetricLedger,
  answers: Parameters<MetricLedger['read']>[0],
): Promise<readonly number[]> {
  const text = await aggregate(await ledger.read(answers))
  return [
    /^sluice_requests_total\{.*\} (\d+)$/m,
    /^sluice_request_seconds_count\{.*\} (\d+)$/m,
    /^sluice_requests_in_flight (\d+)$/m,
  ].map((line) => Number(line.exec(text)?.[1] ?? 0))
}

t.test('for a process that does not answer, its last figures count', async (t) => {
  const ledger = new MetricLedger()
  const [one, two] = [await snapshotOf(3), await snapshotOf(4)]
  t.same(
    await read(ledger, [
      { id: 'a', metrics: one },
      { id: 'b', metrics: two },
    ]),
    [7, 7, 2],
  )
  t.same(
    await read(ledger, [
      { id: 'a', metrics: null },
      { id: 'b', metrics: two },
    ]),
    [7, 7, 2],
  )
})

t.test('counters and histograms are kept after their process ends, gauges are not', async (t) => {
  const ledger = new MetricLedger()
  await read(ledger, [
    { id: 'a', metrics: await snapshotOf(3) },
    { id: 'b', metrics: await snapshotOf(4) },
  ])
  t.same(await read(ledger, [{ id: 'b', metrics: await snapshotOf(5) }]), [8, 8, 1])
  t.same(await read(ledger, [{ id: 'c', metrics: await snapshotOf(1) }]), [9, 9, 1])
  t.same(await read(ledger, []), [9, 9, 0])
})
