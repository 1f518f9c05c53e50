import t, { type Test } from 'tap'
import {
  HISTORY_FRONT_LABELS_MAX,
  COLUMN,
  DURATIONS_AT,
  FIRSTS_AT,
} from '../../../../src/server/observe/history/columns.ts'
import type { FrontFigures } from '../../../../src/server/observe/history/figure-reader.ts'
import { History } from '../../../../src/server/observe/history/history.ts'
import { createMetrics, type Metrics } from '../../../../src/server/observe/metrics.ts'
import { createObserver } from '../../../../src/server/observe/observer.ts'
import type { BreakerReading, CallNotes } from '../../../../src/server/ports/observe.ts'
import { SILENT } from '../../../support/log.ts'
import { askedFor } from '../../../support/operator/history.ts'
import { settledCall } from '../../../support/requests/settled-call.ts'

const START_S = 1_800_000_000
const KEY = 'f'.repeat(64)

/** A front's metrics, and its finished calls. */
function front(t: Test) {
  const metrics = createMetrics(0)
  t.teardown(() => metrics.close())
  const observer = createObserver({ log: SILENT, metrics, random: () => 1 })
  const call = (status: number, notes: CallNotes = {}, keyHash: string | null = KEY): void =>
    observer.settled(settledCall({ operation: 'chat.create', durationMs: 2, status, keyHash, notes }))
  return { metrics, call }
}

const columnsOf = (figures: FrontFigures | null, by: keyof FrontFigures['counts'], name: string) =>
  figures?.counts[by].find((one) => one.name === name)?.columns

t.test('a restarted front does not reduce the sums, and causes no gap', async (t) => {
  const history = new History(START_S)
  const tell = ({ figures }: Metrics, second: number): void => {
    const grown = figures.read()
    if (grown !== null) history.take(grown.counts, START_S + second)
  }
  const first = front(t)
  for (let nth = 0; nth < 4; nth++) first.call(200)
  tell(first.metrics, 0)
  for (let nth = 0; nth < 3; nth++) first.call(200)
  tell(first.metrics, 1)
  const second = front(t)
  second.call(200)
  tell(second.metrics, 2)
  first.call(200)
  tell(first.metrics, 2)
  for (const by of ['all', 'operation', 'key'] as const) {
    const data = history.read(askedFor({ by, sinceS: START_S, untilS: START_S + 3 }), START_S + 3)
    t.same(data.lines[0]?.values, [4, 3, 2], by)
  }
})

t.test('a front without calls reports nothing', async (t) => {
  const { metrics, call } = front(t)
  t.equal(metrics.figures.read(), null)
  call(200)
  t.not(metrics.figures.read(), null)
  t.equal(metrics.figures.read(), null)
})

t.test('excess keys and models are counted under one name, without losing any call', async (t) => {
  const { metrics, call } = front(t)
  const all = 3 * HISTORY_FRONT_LABELS_MAX
  for (let nth = 0; nth < all; nth++) call(200, { model: `m${nth}` }, `k${nth}`)
  const figures = metrics.figures.read()
  for (const by of ['key', 'model'] as const) {
    const named = figures?.counts[by] ?? []
    t.equal(named.length, HISTORY_FRONT_LABELS_MAX + 1)
    t.equal(
      named.reduce((sum, { columns }) => sum + (columns[COLUMN.calls] ?? 0), 0),
      all,
    )
  }
})

t.test(
  'a call is counted by its operation, provider, model and key, with its result and its cost',
  async (t) => {
    const { metrics, call } = front(t)
    call(200, { model: 'acme/one', provider: 'acme', costUsd: 0.5 })
    call(429, { model: 'acme/one' })
    call(500)
    metrics.upstream('acme', 'ok', 2)
    metrics.upstream('acme', 'deadline_exceeded', 2)
    const figures = metrics.figures.read()
    for (const [by, name, wanted] of [
      ['operation', 'chat.create', [3, 1, 1, 0, 5e8]],
      ['provider', 'acme', [2, 0, 1, 0, 5e8]],
      ['model', 'acme/one', [2, 1, 0, 0, 5e8]],
      ['key', KEY, [3, 1, 1, 0, 5e8]],
    ] as const) {
      const columns = columnsOf(figures, by, name)
      t.same(columns?.slice(0, DURATIONS_AT), wanted, by)
      t.same(columns?.slice(DURATIONS_AT, DURATIONS_AT + 2), [0, wanted[0]], `${by}: all took 2 ms`)
    }
  },
)

t.test('streams report their tokens and first outputs, also for a call without an answer yet', async (t) => {
  const { metrics } = front(t)
  const by = { operation: 'chat.create', provider: 'acme', model: 'acme/one' }
  metrics.streams.of(by).committed({ ms: 20, ownMs: 1, failed: 0 })
  metrics.streams.of(by).wrote(7)
  metrics.streams.of({ ...by, provider: '' }).wrote(1)
  const figures = metrics.figures.read()
  t.equal(columnsOf(figures, 'operation', 'chat.create')?.[COLUMN.tokens], 8)
  t.equal(columnsOf(figures, 'model', 'acme/one')?.[COLUMN.tokens], 8)
  t.equal(columnsOf(figures, 'provider', 'acme')?.[COLUMN.tokens], 7)
  t.equal(columnsOf(figures, 'provider', 'acme')?.[FIRSTS_AT + 1], 1)
  t.equal(columnsOf(figures, 'provider', ''), undefined)
})

t.test('breakers are reported when they change, and when the last one closes', async (t) => {
  const { metrics } = front(t)
  let open: BreakerReading['open'] = []
  metrics.live.add({ breakers: () => [{ provider: 'acme', openings: 1, open }] })
  t.equal(metrics.figures.read(), null)
  open = [{ endpoint: 'acme/one', openForMs: 1, probeInMs: 0 }]
  t.same(metrics.figures.read()?.breakers, ['acme acme/one'])
  t.equal(metrics.figures.read(), null)
  open = []
  t.same(metrics.figures.read()?.breakers, [])
})
