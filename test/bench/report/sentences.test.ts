import t from 'tap'
import { scenarioComparisons, type Comparison } from '../../../bench/report/comparisons.ts'
import { sentences } from '../../../bench/report/sentences.ts'
import { ratioOf, scenarioRecord } from '../../support/load/results-file.ts'

const ratio = (median: number): Comparison['ratio'] => ({ median, low: median * 0.95, high: median * 1.05 })
const comparisons = (...ratios: readonly ReturnType<typeof ratioOf>[]): readonly Comparison[] =>
  scenarioComparisons(scenarioRecord({ scenario: 'embeddings', ratios }))

t.test('a sentence gives the winner, the factor, the figure, the case and the confidence', async (t) => {
  t.same(sentences(comparisons(ratioOf({ ratio: ratio(1.6) }))), [
    {
      scenario: 'embeddings',
      metric: 'cpu_us_per_request',
      text: 'sluice needs 1.60 × the CPU per request of nginx',
      detail: '48 connections; interval 1.52–1.68',
    },
  ])
})

t.test('each figure has its own wording', async (t) => {
  const of = (metric: Comparison['metric']): string | undefined =>
    sentences(comparisons(ratioOf({})).map((one) => ({ ...one, metric })))[0]?.text
  t.equal(of('cpu_s_per_gb'), 'sluice needs 1.60 × the CPU per GB of nginx')
  t.equal(of('requests_per_second'), 'sluice serves 1.60 × the requests per second of nginx')
  t.equal(of('mb_per_second'), 'sluice moves 1.60 × the MB per second of nginx')
  t.equal(of('latency_p50'), 'sluice has 1.60 × the median latency of nginx')
  t.equal(of('latency_p99'), 'sluice has 1.60 × the p99 latency of nginx')
  t.equal(of('rss_mb'), 'sluice holds 1.60 × the memory of nginx')
})

t.test(
  'cases with the same finding share one sentence, which names some and counts the others',
  async (t) => {
    const all = comparisons(
      ...[1.4, 1.6, 1.7, 1.8, 0.5].map((median, at) => ratioOf({ case: `case ${at}`, ratio: ratio(median) })),
    )
    const behind = all.filter(({ verdict }) => verdict === 'behind')
    t.same(sentences(behind, all), [
      {
        scenario: 'embeddings',
        metric: 'cpu_us_per_request',
        text: 'sluice needs 1.40 to 1.80 × the CPU per request of nginx',
        detail: '4 of 5 cases: “case 0”, “case 1”, “case 2” and 1 more; intervals within 1.33–1.89',
      },
    ])
    t.match(sentences(all.slice(4), all), [{ detail: 'case 4, 1 of 5 cases; interval 0.47–0.53' }])
  },
)

t.test('does not join findings of different scenarios, figures or peers', async (t) => {
  const all = comparisons(
    ratioOf({}),
    ratioOf({ under: 'portkey' }),
    ratioOf({ metric: 'requests_per_second' }),
    ratioOf({ scenario: 'uploads' }),
  )
  t.equal(sentences(all).length, 4)
})
