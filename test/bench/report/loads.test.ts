import t from 'tap'
import { isOfLatency, latenciesAtLoad } from '../../../bench/report/loads.ts'
import { curveOf } from '../../support/load/results-file.ts'

const lines = (...all: readonly (readonly [string, readonly (readonly [number, number])[]])[]) =>
  all.map(([name, points]) => ({ name, points }))
const detail = 'p99 latency against offered load; 2,000 requests offered per second'

t.test('interpolates latencies at the highest load that was offered to both', async (t) => {
  const curve = curveOf({
    lines: lines(
      [
        'sluice',
        [
          [1_000, 1],
          [2_000, 2],
        ],
      ],
      [
        'nginx',
        [
          [4_000, 3],
          [1_000, 0.5],
        ],
      ],
      ['sluice-ungoverned', [[1_000, 1]]],
    ),
  })
  t.same(latenciesAtLoad(curve), [{ text: 'sluice 2.00 milliseconds, nginx 1.33 milliseconds', detail }])
})

t.test('does not compare peers whose loads do not overlap', async (t) => {
  const curve = curveOf({
    lines: lines(
      [
        'sluice',
        [
          [1_000, 1],
          [2_000, 2],
        ],
      ],
      ['nginx', [[3_000, 0.5]]],
      ['node', []],
      [
        'tus',
        [
          [10, 1],
          [20, 2],
        ],
      ],
    ),
  })
  t.same(latenciesAtLoad(curve), [])
})

t.test('leaves out points that were not measured', async (t) => {
  const curve = curveOf({
    lines: lines(
      [
        'sluice',
        [
          [1_000, 1],
          [2_000, 2],
          [3_000, Number.NaN],
        ],
      ],
      ['nginx', [[2_000, 1]]],
    ),
  })
  t.same(latenciesAtLoad(JSON.parse(JSON.stringify(curve))), [
    { text: 'sluice 2.00 milliseconds, nginx 1.00 milliseconds', detail },
  ])
})

t.test('curves of other figures, and figures from few requests, give no result', async (t) => {
  t.same(latenciesAtLoad(curveOf({ title: 'the slowest against offered load' })), [])
  t.same(latenciesAtLoad(curveOf({ title: 'p99.9 against offered load' })), [])
  t.same(
    latenciesAtLoad(curveOf({ title: 'Highest rate with p99 within 50 ms', y: 'requests per second' })),
    [],
  )
  t.same(latenciesAtLoad(curveOf({ lines: lines(['target', [[1, 1]]]) })), [])
})

t.test('a curve is of latency when its unit is a time and its title names a latency', async (t) => {
  t.ok(isOfLatency(curveOf({ title: 'embeddings: p99 against offered load', y: 'ms' })))
  t.notOk(isOfLatency(curveOf({ title: 'Event-loop delay over time', y: 'ms' })))
  t.notOk(isOfLatency(curveOf({ title: 'CPU against offered load', y: 'cores' })))
})
