import t from 'tap'
import type { ResultRow, SampleRecord } from '../../../bench/record.ts'
import { distributionFigures, groupsOf } from '../../../bench/report/distributions.ts'
import { rowRecord, scenarioRecord } from '../../support/load/results-file.ts'

const latency_us = { p50: 1_000, p90: 2_000, p99: 9_000, p99_9: 20_000, max: 80_000 }
const row = (subject: string, of: Partial<SampleRecord> = { latency_us }, name = 'a case'): ResultRow =>
  rowRecord({ subject, case: name }, of)
const groups = (...rows: readonly ResultRow[]) => groupsOf(scenarioRecord({ scenario: 'a', rows }))

t.test('a case with two subjects is one figure, with a line for each', async (t) => {
  t.match(groups(row('sluice'), row('nginx'), row('sluice', { latency_us }, 'alone')), [
    { title: 'a case', curves: [{ name: 'sluice' }, { name: 'nginx' }] },
  ])
})

t.test('the cases of a lone subject share one figure, and too many cases get none', async (t) => {
  const cases = (count: number) =>
    Array.from({ length: count }, (_, at) => row('sluice', { latency_us }, `case ${at}`))
  t.match(groups(...cases(3)), [{ title: 'a, sluice', curves: [{ name: 'case 0' }, {}, {}] }])
  t.same(groups(...cases(9)), [])
})

t.test('a distribution uses the measured shares, or else the percentiles of the row', async (t) => {
  const [few] = groups(row('sluice'))
  t.same(
    few?.curves[0]?.shares.map(({ percent, ms }) => [percent, ms.median]),
    [
      [50, 1],
      [90, 2],
      [99, 9],
      [99.9, 20],
      [100, 80],
    ],
  )
  const latency_by_percent_us = { 1: 200, 50: 1_000, 99.99: 60_000, 100: 80_000, 42: 7 }
  const [many] = groups(row('sluice', { latency_us, latency_by_percent_us }))
  t.same(
    many?.curves[0]?.shares.map(({ percent }) => percent),
    [1, 50, 90, 99, 99.9, 99.99, 100],
  )
})

t.test('does not draw single measurements, missing values or invalid times', async (t) => {
  const flat = { p50: 5, p90: 5, p99: 5, p99_9: 5, max: 5 }
  const hole = { p50: Number.NaN, p90: 0, p99: -1, p99_9: Number.NaN, max: Number.NaN }
  t.same(groups(row('sluice', { latency_us: flat }), row('nginx', { latency_us: null })), [])
  t.same(groups(row('sluice', { latency_us: hole }), row('nginx', { latency_us: hole })), [])
  t.equal(distributionFigures(scenarioRecord({ scenario: 'a', rows: [row('sluice', {})] })), null)
})

t.test('repeats that differ have a band around the median, and the drawing has alt text', async (t) => {
  const fast = row('sluice', { latency_us })
  const samples = fast.samples.map((one, at) => ({
    ...one,
    latency_us: { ...latency_us, p99: 9_000 + at * 1_000 },
  }))
  const text = distributionFigures(
    scenarioRecord({ scenario: 'a', rows: [{ ...fast, samples }, row('nginx')] }),
  )?.text
  t.match(text, /<polygon class="band l0" points="(?:[\d.]+,[\d.]+ ?){2,}"/)
  t.match(text, 'aria-label="Latency, a case: sluice 50 % within 1.00 ms')
  t.match(text, '99 % within 11.0 ms')
  t.notMatch(text, /NaN|Infinity|undefined/)
})

t.test('more than six figures are collapsed', async (t) => {
  const rows = Array.from({ length: 8 }, (_, at) => [
    row('sluice', { latency_us }, `case ${at}`),
    row('nginx', { latency_us }, `case ${at}`),
  ]).flat()
  t.match(distributionFigures(scenarioRecord({ scenario: 'a', rows }))?.text, '<summary>2 more</summary>')
})
