import t from 'tap'
import { scenarioComparisons, type Comparison } from '../../../bench/report/comparisons.ts'
import { sentences } from '../../../bench/report/sentences.ts'
import { summary } from '../../../bench/report/summary.ts'
import { ratioOf, resultsFile, rowRecord, scenarioRecord } from '../../support/load/results-file.ts'

const ratio = (median: number): Comparison['ratio'] => ({ median, low: median * 0.95, high: median * 1.05 })
const comparisons = (...ratios: readonly ReturnType<typeof ratioOf>[]): readonly Comparison[] =>
  scenarioComparisons(scenarioRecord({ scenario: 'embeddings', ratios }))

t.test('a sentence says who, how much, of what, in which case and how sure', async (t) => {
  t.same(sentences(comparisons(ratioOf({ ratio: ratio(1.6) }))), [
    {
      scenario: 'embeddings',
      text: 'sluice needs 1.60 × the CPU per request of nginx',
      detail: '48 connections; interval 1.52–1.68',
    },
  ])
})

t.test('each figure has its words', async (t) => {
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
  'cases in which the same was found make one sentence, which names some and counts the rest',
  async (t) => {
    const all = comparisons(
      ...[1.4, 1.6, 1.7, 1.8, 0.5].map((median, at) => ratioOf({ case: `case ${at}`, ratio: ratio(median) })),
    )
    const behind = all.filter(({ verdict }) => verdict === 'behind')
    t.same(sentences(behind, all), [
      {
        scenario: 'embeddings',
        text: 'sluice needs 1.40 to 1.80 × the CPU per request of nginx',
        detail: '4 of 5 cases: “case 0”, “case 1”, “case 2” and 1 more; intervals within 1.33–1.89',
      },
    ])
    t.match(sentences(all.slice(4), all), [{ detail: 'case 4, 1 of 5 cases; interval 0.47–0.53' }])
  },
)

t.test('scenarios, figures and peers are kept apart', async (t) => {
  const all = comparisons(
    ratioOf({}),
    ratioOf({ under: 'portkey' }),
    ratioOf({ metric: 'requests_per_second' }),
    ratioOf({ scenario: 'uploads' }),
  )
  t.equal(sentences(all).length, 4)
})

const summaryText = (...scenarios: Parameters<typeof resultsFile>[0]): string =>
  summary(resultsFile(scenarios), scenarios.flatMap(scenarioComparisons)).text

t.test('the summary counts losses first, and lists losses, wins and what is neither apart', async (t) => {
  const text = summaryText(
    scenarioRecord({
      scenario: 'embeddings',
      ratios: [
        ratioOf({}),
        ratioOf({ under: 'portkey', ratio: ratio(0.04) }),
        ratioOf({ under: 'node', ratio: ratio(1) }),
        ratioOf({ under: 'sluice-ungoverned' }),
      ],
    }),
  )
  t.match(
    text,
    'Sluice was compared with nginx, portkey and node in 3 figures of 1 scenario: behind in 1, ahead in 1, no clear difference in 1.',
  )
  const titles = [
    'Where Sluice lost',
    'Where Sluice won',
    'No clear difference</h3>',
    'Sluice against itself',
  ]
  const [lost, won, even, own] = titles.map((title) => text.indexOf(title))
  t.same(
    [lost, won, even, own].toSorted((a, b) => (a ?? 0) - (b ?? 0)),
    [lost, won, even, own],
  )
  const at = (sentence: string): number => text.indexOf(sentence)
  t.ok(at('1.60 × the CPU per request of nginx') > (lost ?? -1) && at('of nginx</b>') < (won ?? -1))
  t.ok(at('0.040 × the CPU per request of portkey') > (won ?? -1) && at('of portkey</b>') < (even ?? -1))
  t.ok(at('1.60 × the CPU per request of sluice-ungoverned') > (own ?? -1))
})

t.test('without peers the summary does not speak of winning', async (t) => {
  const text = summaryText(
    scenarioRecord({ scenario: 'embeddings', rows: [rowRecord({ subject: 'sluice' })] }),
  )
  t.match(
    text,
    'No other product ran beside Sluice in 1 scenario, so that this page cannot tell who is ahead.',
  )
  t.notMatch(text, /Where Sluice/)
})

t.test('the summary names peers that were not there and scenarios that left nothing', async (t) => {
  const absent = [{ name: 'portkey', reason: 'not installed' }]
  const text = summaryText(
    scenarioRecord({ scenario: 'embeddings', absent, rows: [rowRecord({ subject: 'sluice' })] }),
    scenarioRecord({ scenario: 'videos', absent, notes: ['it was killed'] }),
  )
  t.match(text, 'Not there, and so not compared: portkey (embeddings, videos).')
  t.match(text, 'videos</a> left no figures: it was killed')
  t.notMatch(text, 'embeddings</a> left no figures')
})

t.test('without scenarios it says that there is nothing', async (t) => {
  t.match(summaryText(), 'No scenario was run: there is nothing to compare.')
})

t.test('few repeats and a machine that was busy are told', async (t) => {
  const rows = [rowRecord({ subject: 'sluice' }, {}, 3), rowRecord({ subject: 'nginx' }, {}, 3)]
  t.match(summaryText(scenarioRecord({ scenario: 'embeddings', rows })), 'between them in 75.0 % of all runs')
  const results = resultsFile([])
  const busy = { ...results, machine: { ...results.machine, loadBefore: 2.4, stolenPerMille: 40 } }
  t.match(
    summary(busy, []).text,
    'Load of the machine in the minute before: 2.4 on 2 cores: it was busy with something else.',
  )
  t.match(summary(busy, []).text, 'The host took 4 % of the CPU time')
})
