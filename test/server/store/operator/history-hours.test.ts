import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { HistoryInput } from '../../../../src/schemas/operator/history-range.ts'
import { must } from '../../../support/must.ts'
import { openHistory } from '../../../../src/server/main/front-ports.ts'
import { History } from '../../../../src/server/observe/history/history.ts'
import {
  keepHistoryHour,
  pruneHistoryHours,
  readHistoryHours,
} from '../../../../src/server/store/operator/history-hours.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { askedFor, came } from '../../../support/operator/history.ts'
import { HISTORY_HOURS_KEPT, HISTORY_LINES_MAX } from '../../../../src/schemas/operator/admin-port-limits.ts'

/** A whole hour of the year 2027. */
const HOUR_S = 1_800_000_000
const DAY_S = 86_400
const NODES = ['a', 'b'] as const

/** Hours of two nodes in a database of their own, read as an operation reads them. */
async function stand(t: Test) {
  const store = await openTestStore(t)
  const own = new History(HOUR_S)
  const history = openHistory({
    channel: { history: (input) => Promise.resolve(own.read(input, HOUR_S + DAY_S)) },
    store,
  })
  return {
    sql: store.sql,
    keep: (node: string, from: History, { run, hourS, nowS }: { run: string; hourS: number; nowS: number }) =>
      keepHistoryHour(store.sql, node, { ...from.hour(hourS, nowS), run }),
    read: async (more: Partial<HistoryInput> = {}) =>
      must(
        await history.read(askedFor({ grainS: 3_600, sinceS: HOUR_S, untilS: HOUR_S + 2 * 3_600, ...more })),
      ),
  }
}

t.test(
  'a supervisor that restarts within an hour adds to that hour, and earlier hours are not counted twice',
  async (t) => {
    const { keep, read } = await stand(t)
    const first = new History(HOUR_S)
    first.take(came('operation', { a: { calls: 1_800 } }), HOUR_S)
    const run = randomUUID()
    await keep('a', first, { run, hourS: HOUR_S, nowS: HOUR_S + 900 })
    first.take(came('operation', { a: { calls: 900 } }), HOUR_S + 1_000)
    for (let again = 0; again < 2; again++)
      await keep('a', first, { run, hourS: HOUR_S, nowS: HOUR_S + 1_800 })
    const second = new History(HOUR_S + 1_800)
    second.take(came('operation', { a: { calls: 900 } }), HOUR_S + 2_000)
    await keep('a', second, { run: randomUUID(), hourS: HOUR_S, nowS: HOUR_S + 3_600 })
    t.match(await read(), { scope: 'installation', lines: [{ name: 'all', values: [1, null] }] })
    t.match((await read({ by: 'operation' })).lines, [{ name: 'a', values: [1, null] }])
  },
)

t.test('sums the figures of all nodes, and takes quantiles from their merged histograms', async (t) => {
  const { keep, read } = await stand(t)
  for (const [nth, node] of NODES.entries()) {
    const history = new History(HOUR_S)
    const calls = nth === 0 ? 99 : 1
    history.take(came('operation', { a: { calls, durations: { [nth === 0 ? 0 : 14]: calls } } }), HOUR_S)
    await keep(node, history, { run: randomUUID(), hourS: HOUR_S, nowS: HOUR_S + 3_600 })
  }
  const { lines } = await read({ metric: 'latency' })
  t.same(
    lines.map(({ quantile, values: [value] }) => [quantile, (value ?? 0) <= 1]),
    [
      ['p50', true],
      ['p90', true],
      ['p99', true],
    ],
    'one slow call of a hundred is above the p99',
  )
  t.match((await read()).lines, [{ values: [0.028, null] }])
})

t.test('of many names the largest have their own line, and all others share one', async (t) => {
  const { keep, read } = await stand(t)
  const history = new History(HOUR_S)
  const names = 2 * HISTORY_LINES_MAX
  const calls = Object.fromEntries(
    Array.from({ length: names }, (_, n) => [`m${n}`, { calls: 3_600 * (n + 1) }]),
  )
  history.take(came('model', calls), HOUR_S)
  history.take(came('operation', { a: { calls: 1, refused: 1 } }), HOUR_S)
  await keep('a', history, { run: randomUUID(), hourS: HOUR_S, nowS: HOUR_S + 3_600 })
  const { lines } = await read({ by: 'model' })
  t.equal(lines.length, HISTORY_LINES_MAX + 1)
  t.match(lines[0], { name: `m${names - 1}`, values: [names, null], is_others: false })
  t.match(lines.at(-1), { name: 'others', is_others: true })
  const [all] = [lines.reduce((sum, { values: [value] }) => sum + (value ?? 0), 0)]
  t.equal(all, (names * (names + 1)) / 2)
  t.same(
    (await read({ by: 'status' })).lines.map(({ name }) => name),
    ['2xx', '4xx', '5xx'],
  )
})

t.test('reads the hours of one name alone, even if other names are larger', async (t) => {
  const { keep, read } = await stand(t)
  const history = new History(HOUR_S)
  const large = Array.from({ length: HISTORY_LINES_MAX + 1 }, (_, nth) => [`large${nth}`, { calls: 7_200 }])
  history.take(came('model', { ...Object.fromEntries(large), small: { calls: 3_600 } }), HOUR_S)
  await keep('a', history, { run: randomUUID(), hourS: HOUR_S, nowS: HOUR_S + 3_600 })
  const linesOf = async (name: string) => (await read({ by: 'model', name })).lines
  t.match(await linesOf('small'), [{ name: 'small', values: [1, null] }])
  t.equal((await linesOf('small')).length, 1)
  t.same(await linesOf('nobody'), [])
  t.same(await linesOf("' OR ''='"), [])
})

t.test('returns the events of all nodes with the hours, once each', async (t) => {
  const { keep, read } = await stand(t)
  for (const [nth, node] of NODES.entries()) {
    const history = new History(HOUR_S)
    history.note('start', `Sluice 1.${nth}`, (HOUR_S + nth) * 1_000)
    const run = randomUUID()
    for (const nowS of [HOUR_S + 60, HOUR_S + 120]) await keep(node, history, { run, hourS: HOUR_S, nowS })
  }
  t.same(
    (await read({ by: 'model' })).events.map(({ text }) => text),
    ['Sluice 1.0', 'Sluice 1.1'],
  )
})

t.test('hours older than the retention are deleted', async (t) => {
  const { sql, keep } = await stand(t)
  const nowS = Math.floor(Date.now() / 3_600_000) * 3_600
  for (const age of [0, HISTORY_HOURS_KEPT + 2]) {
    const hourS = nowS - age * 3_600
    await keep('a', new History(hourS), { run: randomUUID(), hourS, nowS: hourS + 60 })
  }
  t.equal(await pruneHistoryHours(sql), 1)
  const left = await readHistoryHours(sql, {
    dimension: 'all',
    sinceS: 0,
    untilS: nowS + 3_600,
    places: [1, 1],
    namesMax: 1,
  })
  t.same(left, { known: [{ hourS: nowS, seconds: 60 }], named: [], events: [] })
})
