import t from 'tap'
import { comparisonsOf } from '../../../bench/report/comparisons.ts'
import { costOf, costText, type Cost } from '../../../bench/report/cost.ts'
import { costFigure, costSentence } from '../../../bench/report/cost-figure.ts'
import type { ResultRow } from '../../../bench/record.ts'
import { resultsFile, rowRecord, scenarioRecord } from '../../support/load/results-file.ts'

const row = (scenario: string, subject: string, cpu: number, name = '48 connections'): ResultRow =>
  rowRecord(
    { scenario, subject, case: name, connections: Number.parseInt(name, 10) },
    { cpu_us_per_request: cpu },
  )
const cost = (...rows: readonly ResultRow[]): Cost | null => {
  const names = [...new Set(rows.map(({ scenario }) => scenario))]
  const results = resultsFile(
    names.map((scenario) =>
      scenarioRecord({ scenario, rows: rows.filter((one) => one.scenario === scenario) }),
    ),
  )
  return costOf(results, comparisonsOf(results))
}
const both = (scenario: string, name?: string): readonly ResultRow[] => [
  row(scenario, 'sluice', 80, name),
  row(scenario, 'nginx', 40, name),
]

t.test('picks embeddings first, then the first scenario with a peer', async (t) => {
  t.match(cost(...both('uploads'), ...both('embeddings')), { scenario: 'embeddings' })
  t.match(cost(row('embeddings', 'sluice', 80), ...both('egress'), ...both('uploads')), {
    scenario: 'egress',
  })
})

t.test('shows the case with the most peers, and of two such the one with more connections', async (t) => {
  const three = row('embeddings', 'portkey', 2_000, '1 connection')
  t.match(cost(...both('embeddings', '1 connection'), three, ...both('embeddings')), {
    case: '1 connection',
  })
  t.match(cost(...both('embeddings', '1 connection'), ...both('embeddings')), { case: '48 connections' })
})

t.test('there is no result without a peer, or without a cost on either side', async (t) => {
  t.equal(cost(), null)
  t.equal(cost(row('embeddings', 'sluice', 80), row('embeddings', 'direct', 9)), null)
  t.equal(cost(row('embeddings', 'sluice', Number.NaN), row('embeddings', 'nginx', 40)), null)
  t.equal(cost(row('embeddings', 'sluice', 80), row('embeddings', 'nginx', 0)), null)
})

t.test('the sentence names the cost and each peer, dearest first, with bytes per GB', async (t) => {
  const found = cost(...both('embeddings'), row('embeddings', 'portkey', 2_000))
  const text = found === null ? '' : costSentence(found).text.replaceAll(/<[^>]+>/g, '')
  t.match(text, /^a call costs 80\.0 µs of CPU at sluice: 0\.040 × portkey, 2\.00 × nginx/)
  t.equal(found === null ? '' : costText(found), text.replaceAll(/\s+/g, ' '), 'on a terminal, too')
  const files = both('uploads').map((one, at) => ({
    ...one,
    cpu_s_per_gb: { median: 2 - at, min: 2 - at, max: 2 - at },
    samples: one.samples.map((sample) => ({ ...sample, cpu_s_per_gb: 2 - at })),
  }))
  const ofBytes = cost(...files)
  t.match(ofBytes === null ? '' : costSentence(ofBytes).text, /^a GB costs <b>2\.00 s<\/b> of CPU/)
})

t.test('rows of streams give the cost of an event, and never call an event a call', async (t) => {
  for (const name of ['100 streams, per event', 'chat from messages, one stream at a time']) {
    const found = cost(...both('chat', name))
    t.match(found === null ? '' : costSentence(found).text, /^an event of a stream costs/)
    t.match(found === null ? '' : costFigure(found).text, 'CPU of an event of a stream, µs')
  }
})

t.test('a single measurement is marked as one and never wins', async (t) => {
  const once = both('embeddings').map((one) => ({ ...one, samples: one.samples.slice(0, 1) }))
  const found = cost(...once)
  t.match(found === null ? '' : costSentence(found).text, /class="even"[\s\S]*taken once, and so not judged/)
})

t.test('all subjects are on one scale, the cheapest first', async (t) => {
  const found = cost(...both('embeddings'), row('embeddings', 'portkey', 2_000))
  const text = found === null ? '' : costFigure(found).text
  t.same(
    [...text.matchAll(/class="name">([^<]+)/g)].map(([, name]) => name),
    ['nginx', 'sluice', 'portkey'],
  )
  const places = [...text.matchAll(/cx="([\d.]+)%"/g)].map(([, place]) => Number(place))
  t.same(
    places,
    places.toSorted((a, b) => a - b),
  )
  t.ok(places.every((place) => place >= 0 && place <= 100))
  t.notMatch(text, /NaN|Infinity|undefined/)
})
