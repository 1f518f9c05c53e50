import t from 'tap'
import { scenarioComparisons, type Comparison } from '../../../bench/report/comparisons.ts'
import { ratioOf, rowRecord, scenarioRecord } from '../../support/load/results-file.ts'

const compared = (given: Partial<Parameters<typeof scenarioRecord>[0]>): readonly Comparison[] =>
  scenarioComparisons(scenarioRecord({ scenario: 'embeddings', ...given }))
const verdictOf = (given: Partial<Parameters<typeof ratioOf>[0]>): string | undefined =>
  compared({ ratios: [ratioOf(given)] })[0]?.verdict

t.test('more CPU than a peer means "behind", less means "ahead"', async (t) => {
  t.equal(verdictOf({ ratio: { median: 1.6, low: 1.5, high: 1.7 } }), 'behind')
  t.equal(verdictOf({ ratio: { median: 0.6, low: 0.5, high: 0.7 } }), 'ahead')
})

t.test('a higher rate than a peer means "ahead", a lower one "behind"', async (t) => {
  for (const metric of ['requests_per_second', 'mb_per_second'] as const) {
    t.equal(verdictOf({ metric, ratio: { median: 1.6, low: 1.5, high: 1.7 } }), 'ahead')
    t.equal(verdictOf({ metric, ratio: { median: 0.6, low: 0.5, high: 0.7 } }), 'behind')
  }
})

t.test('an interval around 1 is no difference, and neither is one that only just excludes it', async (t) => {
  t.equal(verdictOf({ ratio: { median: 1.3, low: 0.99, high: 1.7 } }), 'alike')
  t.equal(verdictOf({ ratio: { median: 1, low: 1, high: 1 } }), 'alike')
  t.equal(verdictOf({ ratio: { median: 1.01, low: 1.005, high: 1.015 } }), 'alike')
  t.equal(verdictOf({ ratio: { median: 1.02, low: 1.005, high: 1.03 } }), 'behind')
})

t.test('a ratio of the peer over the product is inverted, so that it describes the product', async (t) => {
  const [one] = compared({
    ratios: [ratioOf({ over: 'nginx', under: 'sluice', ratio: { median: 0.5, low: 0.4, high: 0.625 } })],
  })
  t.match(one, {
    over: 'sluice',
    under: 'nginx',
    ratio: { median: 2, low: 1.6, high: 2.5 },
    verdict: 'behind',
    kind: 'peer',
  })
})

t.test('comparisons with itself, with no gateway and between other subjects have no winner', async (t) => {
  const kindOf = (over: string, under: string): string | undefined =>
    compared({ ratios: [ratioOf({ over, under })] })[0]?.kind
  t.equal(kindOf('sluice', 'sluice-ungoverned'), 'own')
  t.equal(kindOf('sluice', 'direct'), 'own')
  t.equal(kindOf('direct', 'sluice-ungoverned'), 'own')
  t.equal(kindOf('sluice-ungoverned', 'nginx'), 'other')
  t.equal(kindOf('fastify', 'nginx'), 'other')
  t.equal(kindOf('sluiceway', 'sluice'), 'peer')
})

t.test('a failed run never wins, because refusals are quick', async (t) => {
  const rows = [
    rowRecord({ subject: 'sluice' }, { cpu_us_per_request: 10, failed: 1 }),
    rowRecord({ subject: 'nginx' }),
  ]
  t.match(compared({ rows }), [
    { verdict: 'unsure', doubt: '5 of the requests to sluice failed' },
    { verdict: 'unsure' },
  ])
})

t.test('a rate limited by the generator does not count as a loss, but CPU still counts', async (t) => {
  const held = rowRecord({ subject: 'sluice' }, { requests_per_second: 5_000, generator_cores: 0.95 })
  const rows = [held, rowRecord({ subject: 'nginx' }, { cpu_us_per_request: 20 })]
  t.match(compared({ rows }), [
    { metric: 'cpu_us_per_request', verdict: 'behind' },
    {
      metric: 'requests_per_second',
      verdict: 'unsure',
      doubt: 'the generator, not the server, was the limit',
    },
  ])
})

t.test('a product that is slower than a peer limited by the generator is still behind', async (t) => {
  const rows = [
    rowRecord({ subject: 'sluice' }, { requests_per_second: 5_000 }),
    rowRecord({ subject: 'nginx' }, { generator_cores: 0.95 }),
  ]
  t.equal(compared({ rows })[1]?.verdict, 'behind')
})

t.test('a single measurement has no interval and is not judged', async (t) => {
  const rows = [
    rowRecord({ subject: 'sluice' }, { cpu_us_per_request: 10 }, 1),
    rowRecord({ subject: 'nginx' }, {}, 1),
  ]
  t.match(compared({ rows })[0], { verdict: 'unsure', repeats: 1, doubt: 'taken once: no interval' })
})

t.test('computes from the rows the ratios that the record lacks, each once', async (t) => {
  const rows = [
    rowRecord({ subject: 'sluice' }, { rss_mb: 400 }),
    rowRecord({ subject: 'nginx' }, { rss_mb: 20 }),
    rowRecord({ subject: 'direct' }),
  ]
  const found = compared({ rows, ratios: [ratioOf({ ratio: { median: 9, low: 8, high: 10 } })] })
  t.same(
    found.map(({ metric, under }) => [metric, under]),
    [
      ['cpu_us_per_request', 'nginx'],
      ['requests_per_second', 'nginx'],
      ['rss_mb', 'nginx'],
    ],
  )
  t.match(found, [{ ratio: { median: 9 }, repeats: 5 }, {}, { ratio: { median: 20 }, verdict: 'behind' }])
})

t.test('latencies are compared only under the same fixed rate', async (t) => {
  const latency_us = { p50: 100, p90: 200, p99: 300, p99_9: 400, max: 500 }
  const open = (subject: string, offered_per_second: number, by: number) =>
    rowRecord(
      { subject, pace: 'open', offered_per_second },
      { latency_us: { ...latency_us, p50: 100 * by, p99: 300 * by } },
    )
  const metricsOf = (rate: number) =>
    compared({ rows: [open('sluice', 1_000, 2), open('nginx', rate, 1)] }).map(({ metric, ratio }) => [
      metric,
      ratio.median,
    ])
  t.same(metricsOf(1_000), [
    ['cpu_us_per_request', 1],
    ['latency_p50', 2],
    ['latency_p99', 2],
  ])
  t.same(
    metricsOf(2_000).map(([metric]) => metric),
    ['cpu_us_per_request'],
  )
})

t.test('figures that were not measured (NaN, or null in the file) are not compared', async (t) => {
  const none = [
    rowRecord({ subject: 'sluice' }, { cpu_us_per_request: Number.NaN, requests_per_second: Number.NaN }),
    rowRecord({ subject: 'nginx' }),
  ]
  t.same(compared({ rows: none }), [])
  t.same(compared({ rows: JSON.parse(JSON.stringify(none)) }), [])
  t.same(
    compared({
      ratios: [JSON.parse(JSON.stringify(ratioOf({ ratio: { median: Number.NaN, low: 1, high: 2 } })))],
    }),
    [],
  )
})
