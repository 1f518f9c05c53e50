import t from 'tap'
import type { ResultsFile } from '../../../bench/record.ts'
import { comparisonsOf, type Comparison } from '../../../bench/report/comparisons.ts'
import { restSection } from '../../../bench/report/rest.ts'
import { resultSection } from '../../../bench/report/result.ts'
import { sidesSection } from '../../../bench/report/sides.ts'
import { checkOf, ratioOf, resultsFile, rowRecord, scenarioRecord } from '../../support/load/results-file.ts'

const ratio = (median: number): Comparison['ratio'] => ({ median, low: median * 0.95, high: median * 1.05 })
const topOf = (results: ResultsFile): string =>
  [resultSection, sidesSection, restSection]
    .map((section) => section(results, comparisonsOf(results))?.text ?? '')
    .join('')
const summaryText = (...scenarios: Parameters<typeof resultsFile>[0]): string => topOf(resultsFile(scenarios))

t.test('the summary counts losses first, and lists losses, wins and unclear ones separately', async (t) => {
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
  const titles = ['What Sluice lost', 'What Sluice won', 'No clear difference</h3>', 'Sluice against itself']
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

t.test('losses and wins list the clearest first, and a missed check is a loss', async (t) => {
  const ratios = [1.2, 3, 1.5].map((median, at) => ratioOf({ under: `peer ${at}`, ratio: ratio(median) }))
  const checks = [checkOf({ text: 'garbage', is_met: false, failed: 2 }), checkOf({ text: 'reached' })]
  const text = summaryText(scenarioRecord({ scenario: 'embeddings', ratios, checks }))
  const lost = ['garbage: 1.60', '3.00 ×', '1.50 ×', '1.20 ×'].map((one) => text.indexOf(one))
  t.same(
    lost,
    lost.toSorted((a, b) => a - b),
  )
  t.ok((lost[0] ?? -1) > text.indexOf('What Sluice lost'))
  t.match(text, 'at most 2.2 was asked for; 2 requests failed')
  t.match(text, '2 figures had to be reached: 1 missed, 1 met.')
  t.notMatch(text.slice(0, text.indexOf('Other results')), 'reached:</b>')
})

t.test('a check that one repeat cannot judge counts as neither lost nor won', async (t) => {
  const checks = [checkOf({ text: 'cheap', is_met: false, repeats: 1 })]
  const text = summaryText(scenarioRecord({ scenario: 'embeddings', checks }))
  t.match(text, '1 figure had to be reached: 1 not judged.')
  t.notMatch(text, /What Sluice lost|missed/)
  t.match(text.slice(text.indexOf('Checks that were not judged')), /cheap[\s\S]*\? not judged, taken once/)
})

t.test('lists the clearest result of each kind of figure before any second result', async (t) => {
  const ratios = [
    ratioOf({ under: 'a', ratio: ratio(60) }),
    ratioOf({ under: 'b', ratio: ratio(50) }),
    ratioOf({ under: 'a', metric: 'requests_per_second', ratio: ratio(0.5) }),
  ]
  const text = summaryText(scenarioRecord({ scenario: 'embeddings', ratios }))
  const places = ['60.0 ×', '0.50 ×', '50.0 ×'].map((one) => text.indexOf(one))
  t.same(
    places,
    places.toSorted((a, b) => a - b),
  )
})

t.test('when no figure is judged, the summary does not claim that either side lost nothing', async (t) => {
  const rows = [rowRecord({ subject: 'sluice' }, {}, 1), rowRecord({ subject: 'nginx' }, {}, 1)]
  t.match(summaryText(scenarioRecord({ scenario: 'embeddings', rows })), 'Nothing that is judged.')
})

t.test('more than five lines of a kind are collapsed', async (t) => {
  const ratios = Array.from({ length: 7 }, (_, at) => ratioOf({ under: `peer ${at}`, ratio: ratio(2 + at) }))
  t.match(summaryText(scenarioRecord({ scenario: 'embeddings', ratios })), '<summary>2 more</summary>')
})

t.test('without peers the summary does not mention winning', async (t) => {
  const text = summaryText(
    scenarioRecord({ scenario: 'embeddings', rows: [rowRecord({ subject: 'sluice' })] }),
  )
  t.match(
    text,
    'No other product ran beside Sluice in 1 scenario, so that this page cannot tell who is ahead.',
  )
  t.notMatch(text, /What Sluice/)
})

t.test('the summary names peers that were absent and scenarios that left no results', async (t) => {
  const absent = [{ name: 'portkey', reason: 'not installed' }]
  const text = summaryText(
    scenarioRecord({ scenario: 'embeddings', absent, rows: [rowRecord({ subject: 'sluice' })] }),
    scenarioRecord({ scenario: 'videos', absent, notes: ['it was killed'] }),
  )
  t.match(text, 'Not there, and so not compared: portkey (embeddings, videos).')
  t.match(text, 'videos</a> left no figures: it was killed')
  t.notMatch(text, 'embeddings</a> left no figures')
})

t.test('without scenarios it says that there are no results', async (t) => {
  t.match(summaryText(), 'No scenario was run: there is nothing to compare.')
})

t.test('warns of few repeats and of a busy machine', async (t) => {
  const rows = [rowRecord({ subject: 'sluice' }, {}, 3), rowRecord({ subject: 'nginx' }, {}, 3)]
  t.match(summaryText(scenarioRecord({ scenario: 'embeddings', rows })), 'between them in 75.0 % of all runs')
  const results = resultsFile([])
  const busy = { ...results, machine: { ...results.machine, loadBefore: 2.4, stolenPerMille: 40 } }
  t.match(
    topOf(busy),
    'Load of the machine in the minute before: 2.4 on 2 cores: it was busy with something else.',
  )
  t.match(topOf(busy), 'The host took 4 % of the CPU time')
})
