import t from 'tap'
import { HISTORY_POINTS_WANTED, historyInput } from '../../src/schemas/operator/history-range.ts'
import type { GetHistoryQuery } from '../../src/schemas/operator/history.ts'
import {
  HISTORY_HOURS_KEPT,
  HISTORY_MINUTES_KEPT,
  HISTORY_POINTS_MAX,
  HISTORY_SECONDS_KEPT,
} from '../../src/schemas/operator/admin-port-limits.ts'

const NOW_S = 1_800_000_000
const DAY_S = HISTORY_MINUTES_KEPT * 60
const MONTH_S = HISTORY_HOURS_KEPT * 3_600
const at = (second: number): string => new Date(second * 1_000).toISOString()
const ask = (query: GetHistoryQuery) => historyInput(query, NOW_S * 1_000)

t.test('refuses an impossible query with the path of its wrong member', async (t) => {
  for (const [query, path] of [
    [{ from: 'yesterday' }, '/from'],
    [{ to: '2027-02-30T00:00:00Z' }, '/to'],
    [{ from: at(NOW_S), to: at(NOW_S) }, '/from'],
    [{ from: at(NOW_S + 60) }, '/from'],
    [{ from: at(NOW_S - 2 * HISTORY_SECONDS_KEPT), grain: 'second' }, '/from'],
    [{ from: at(NOW_S - 2 * DAY_S), grain: 'minute' }, '/from'],
    [{ from: at(NOW_S - 2 * MONTH_S) }, '/from'],
    [{ by: 'status', metric: 'latency' }, '/metric'],
    [{ by: 'key', metric: 'tokens' }, '/metric'],
    [{ name: 'a' }, '/name'],
    [{ by: 'status', name: '2xx' }, '/name'],
  ] as const)
    t.match(ask(query), { path, message: String, expected: String }, JSON.stringify(query))
})

t.test('defaults are the last hour, requests, no breakdown, and a grain that suits a line', async (t) => {
  t.same(ask({}), {
    metric: 'requests',
    by: 'all',
    grainS: 10,
    sinceS: NOW_S - HISTORY_SECONDS_KEPT,
    untilS: NOW_S,
  })
  const grainOf = (seconds: number): unknown => {
    const input = ask({ from: at(NOW_S - seconds) })
    return 'grainS' in input ? input.grainS : input
  }
  t.equal(grainOf(HISTORY_POINTS_WANTED), 1)
  t.equal(grainOf(6 * 3_600), 60)
  t.equal(grainOf(DAY_S), 600)
  t.equal(grainOf(MONTH_S), 3_600)
})

t.test('points are whole grains, at most the maximum number, and never in the future', async (t) => {
  const input = ask({ from: at(NOW_S - HISTORY_SECONDS_KEPT - 30), grain: 'second', to: at(NOW_S + 900) })
  t.match(input, { untilS: NOW_S, sinceS: NOW_S - HISTORY_POINTS_MAX })
  t.match(ask({ from: at(NOW_S - 61), grain: 'minute' }), { sinceS: NOW_S - 120, untilS: NOW_S })
})
