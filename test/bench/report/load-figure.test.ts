import t from 'tap'
import type { CurveRecord } from '../../../bench/record.ts'
import { curvesOfResult, loadFigure } from '../../../bench/report/load-figure.ts'
import { curveOf, resultsFile, rowRecord, scenarioRecord } from '../../support/load/results-file.ts'

const titles = (...curves: readonly CurveRecord[]): readonly string[] =>
  curvesOfResult(resultsFile([scenarioRecord({ scenario: 'latency', curves })])).map(
    ({ curve }) => curve.title,
  )
const titled = (title: string): CurveRecord => curveOf({ title })

t.test('shows the median and p99 against offered load, for the first kind of call', async (t) => {
  t.same(
    titles(
      titled('embeddings: p99.9 latency against offered load'),
      titled('embeddings: p99 latency against offered load'),
      titled('embeddings: p50 latency against offered load'),
      titled('a read: p50 latency against offered load'),
    ),
    ['embeddings: p50 latency against offered load', 'embeddings: p99 latency against offered load'],
  )
})

t.test('does not show a curve without the product, without a peer or without a point', async (t) => {
  const lines = curveOf({}).lines
  t.same(
    titles(
      curveOf({ lines: lines.filter(({ name }) => name === 'sluice') }),
      curveOf({ lines: lines.filter(({ name }) => name !== 'sluice') }),
      curveOf({ lines: lines.map(({ name }) => ({ name, points: [[Number.NaN, 1]] })) }),
      curveOf({ title: 'Memory over time' }),
    ),
    [],
  )
})

t.test('leaves out points that cannot be drawn, and keeps the order of the others', async (t) => {
  const [ours, other] = [
    { name: 'sluice', points: [[2_000, 4] as const, [1_000, 2] as const, [3_000, 0] as const] },
    { name: 'nginx', points: [[1_000, Number.NaN] as const, [2_000, 1] as const] },
  ]
  const { text } = loadFigure({ curve: curveOf({ lines: [ours, other] }), isOnce: false })
  t.equal(text.match(/<circle/g)?.length, 3)
  t.match(text, /<polyline class="line l0 d0 ours" points="500\.0,[\d.]+ 1000\.0,[\d.]+"/)
  t.notMatch(text, /NaN|Infinity|undefined/)
})

t.test('marks loads that were offered once, and describes the loads that both reached', async (t) => {
  const rows = (repeats: number) =>
    ['sluice', 'nginx'].map((subject) => rowRecord({ subject, pace: 'open' }, {}, repeats))
  const figure = (repeats: number): string =>
    curvesOfResult(
      resultsFile([scenarioRecord({ scenario: 'latency', rows: rows(repeats), curves: [curveOf({})] })]),
    )
      .map((one) => loadFigure(one).text)
      .join('')
  t.match(figure(1), 'less is better, taken once, and so not judged<')
  t.notMatch(figure(2), 'taken once')
  t.match(figure(2), /At the highest load that both were offered: sluice [\d.]+ milliseconds, nginx [\d.]+/)
})
