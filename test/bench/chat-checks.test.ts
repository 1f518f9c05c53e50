import t from 'tap'
import { checks, type Cases } from '../../bench/chat/checks.ts'
import { NATIVE, pairText, TRANSLATED, type Pair } from '../../bench/chat/forms.ts'
import type { CheckRecord, ResultRow } from '../../bench/record.ts'
import { rowRecord } from '../support/load/bench-records.ts'

const CASES: Cases = { streams: 'streams', oneStream: 'one stream', whole: 'whole' }
const [NATIVE_PAIR, TRANSLATED_PAIR] = [NATIVE, TRANSLATED].map(([pair]) => pair as Pair) as [Pair, Pair]

/** Rows of one case, with the CPU of each subject. */
function rowsOf(pair: Pair, name: string, cpuUs: Readonly<Record<string, number>>): readonly ResultRow[] {
  const head = { case: pairText(pair) + name }
  return Object.entries(cpuUs).map(([subject, us]) => rowRecord(subject, [us, us], { head }))
}

/** Rows of first outputs, with p50 and p99 of each subject. */
function firstOutputs(pair: Pair, us: Readonly<Record<string, readonly [number, number]>>) {
  const head = { case: pairText(pair) + CASES.oneStream }
  return Object.entries(us).map(([subject, [p50, p99]]) =>
    rowRecord(subject, [1, 1], { head, latency_us: { p50, p90: p99, p99, p99_9: p99, max: p99 } }),
  )
}

const boundsOf = (found: readonly CheckRecord[]) => found.map(({ at_most, is_met }) => [at_most, is_met])

t.test('native events get their bound from relay and nginx, whole answers from the relay', async (t) => {
  const peers = { relay: 10, nginx: 10, portkey: 1_000 }
  const rows = (event: number, whole: number) => [
    ...rowsOf(NATIVE_PAIR, CASES.streams, { sluice: event, ...peers }),
    ...rowsOf(NATIVE_PAIR, CASES.whole, { sluice: whole, ...peers }),
  ]
  const met = boundsOf(checks(rows(12, 30), NATIVE_PAIR, CASES))
  t.same(met, [
    [1.3, true],
    [2.2, true],
    [3, true],
  ])
  t.same(boundsOf(checks(rows(23, 31), NATIVE_PAIR, CASES)), [
    [1.3, false],
    [2.2, false],
    [3, false],
  ])
})

t.test('translated events get their bound from nginx, whole answers from Portkey', async (t) => {
  const peers = { relay: 1, nginx: 10, portkey: 100 }
  const rows = [
    ...rowsOf(TRANSLATED_PAIR, CASES.streams, { sluice: 34, ...peers }),
    ...rowsOf(TRANSLATED_PAIR, CASES.whole, { sluice: 26, ...peers }),
  ]
  t.same(boundsOf(checks(rows, TRANSLATED_PAIR, CASES)), [
    [3.5, true],
    [0.25, false],
  ])
})

t.test('the first output of a native stream has bounds for its median and its slowest call', async (t) => {
  const native = firstOutputs(NATIVE_PAIR, { sluice: [240, 2_300], direct: [100, 200] })
  t.same(boundsOf(checks(native, NATIVE_PAIR, CASES)), [
    [150, true],
    [2_000, false],
  ])
  const translated = firstOutputs(TRANSLATED_PAIR, { sluice: [1_090, 9_000], direct: [100, 200] })
  t.same(boundsOf(checks(translated, TRANSLATED_PAIR, CASES)), [[1_000, true]])
})
