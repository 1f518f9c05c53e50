import t from 'tap'
import { HISTORY_DIMENSIONS, type HistoryData } from '../../../../src/schemas/operator/history.ts'
import { HISTORY_CANDIDATES, History, HISTORY_BYTES } from '../../../../src/server/observe/history/history.ts'
import { askedFor, came } from '../../../support/operator/history.ts'
import { CALL_BUCKETS } from '../../../../src/server/observe/durations.ts'
import {
  HISTORY_EVENTS_MAX,
  HISTORY_KEYS_MAX,
  HISTORY_LINES_MAX,
  HISTORY_MINUTES_KEPT,
  HISTORY_MODELS_MAX,
  HISTORY_OPERATIONS_MAX,
  HISTORY_PROVIDERS_MAX,
  HISTORY_QUANTILE_S,
  HISTORY_SECONDS_KEPT,
} from '../../../../src/schemas/operator/admin-port-limits.ts'

/** A whole hour of the year 2027. */
const START_S = 1_800_000_000
const MINUTE_S = 60
const MAX_OF = {
  operation: HISTORY_OPERATIONS_MAX,
  provider: HISTORY_PROVIDERS_MAX,
  model: HISTORY_MODELS_MAX,
  key: HISTORY_KEYS_MAX,
}

const valuesOf = ({ lines }: HistoryData, name = 'all', quantile: string | null = null) =>
  lines.find((line) => line.name === name && line.quantile === quantile)?.values
const total = ({ lines, grain_seconds: grainS }: HistoryData): number =>
  Math.round(
    lines.flatMap(({ values }) => values).reduce<number>((sum, value) => sum + (value ?? 0) * grainS, 0),
  )

t.test('many names use no more memory than the stated bytes, and no call is lost', async (t) => {
  const history = new History(START_S)
  const names = 5_000
  for (let name = 0; name < names; name++)
    for (const by of HISTORY_DIMENSIONS)
      history.take(came(by, { [`n${name}`]: { calls: 1 } }), START_S + (name % (2 * MINUTE_S)))
  t.ok(names > HISTORY_CANDIDATES * Math.max(...Object.values(MAX_OF)))
  t.equal(history.bytes, HISTORY_BYTES)
  t.ok(HISTORY_BYTES <= 20_000_000, `${HISTORY_BYTES} bytes`)
  const range = { grainS: MINUTE_S, sinceS: START_S, untilS: START_S + 2 * MINUTE_S }
  for (const by of HISTORY_DIMENSIONS) {
    const data = history.read(askedFor({ by, ...range }), range.untilS)
    t.equal(total(data), names, by)
    t.ok(data.lines.length <= HISTORY_LINES_MAX + 1)
    t.same(data.lines.at(-1)?.is_others, true)
  }
})

t.test(
  'a clock set back by days starts a new history, and a clock set far ahead drops the old one',
  async (t) => {
    const history = new History(START_S - 10 * HISTORY_MINUTES_KEPT * MINUTE_S)
    history.take(came('operation', { a: { calls: 5 } }), START_S)
    const backS = START_S - 3 * HISTORY_MINUTES_KEPT * MINUTE_S
    history.take(came('operation', { a: { calls: 3 } }), backS)
    t.same(valuesOf(history.read(askedFor({ sinceS: backS, untilS: backS + 2 }), backS + 2)), [3, 0])
    t.same(valuesOf(history.read(askedFor({ sinceS: START_S, untilS: START_S + 1 }), START_S + 1)), [0])
    history.take(came('operation', { a: { calls: 7 } }), START_S)
    t.same(valuesOf(history.read(askedFor({ sinceS: START_S, untilS: START_S + 1 }), START_S + 1)), [7])
    t.same(valuesOf(history.read(askedFor({ sinceS: backS, untilS: backS + 1 }), START_S)), [0])
  },
)

t.test('a clock set back by seconds adds to the same seconds again', async (t) => {
  const history = new History(START_S)
  for (const second of [0, 1, 2, 1, 2, 3])
    history.take(came('operation', { a: { calls: 1 } }), START_S + second)
  const data = history.read(askedFor({ sinceS: START_S, untilS: START_S + 4 }), START_S + 4)
  t.same(valuesOf(data), [1, 2, 2, 1])
})

t.test('keeps an hour in seconds and a day in minutes, and drops older figures', async (t) => {
  const history = new History(START_S)
  const daysEndS = START_S + HISTORY_MINUTES_KEPT * MINUTE_S
  for (let second = START_S; second < daysEndS; second += 30)
    history.take(came('operation', { a: { calls: 3 } }), second)
  const seconds = history.read(
    askedFor({ sinceS: daysEndS - HISTORY_SECONDS_KEPT, untilS: daysEndS }),
    daysEndS,
  )
  t.equal(total(seconds), (HISTORY_SECONDS_KEPT / 30) * 3)
  t.same(valuesOf(seconds)?.slice(0, 2), [3, 0])
  const day = askedFor({ grainS: MINUTE_S, sinceS: START_S, untilS: daysEndS })
  t.same(new Set(valuesOf(history.read(day, daysEndS))), new Set([6 / MINUTE_S]))
  history.take(came('operation', { a: { calls: 1 } }), daysEndS + 2 * HISTORY_MINUTES_KEPT * MINUTE_S)
  t.same(new Set(valuesOf(history.read(day, daysEndS))), new Set([0]))
})

t.test('times before the start are unknown (null), not zero', async (t) => {
  const history = new History(START_S)
  history.take(came('operation', { a: { calls: 60 } }), START_S)
  const data = history.read(
    askedFor({ grainS: MINUTE_S, sinceS: START_S - 2 * MINUTE_S, untilS: START_S + MINUTE_S }),
    START_S + 30,
  )
  t.same(valuesOf(data), [null, null, 2], 'over the half minute that has passed')
})

t.test('quantiles are computed from merged histograms, not averaged', async (t) => {
  const history = new History(START_S)
  // A slow call in a quiet minute, and a thousand fast ones in the next.
  history.take(came('operation', { a: { calls: 1, durations: { 9: 1 } } }), START_S)
  history.take(came('operation', { a: { calls: 1_000, durations: { 0: 1_000 } } }), START_S + MINUTE_S)
  const read = (grainS: number) =>
    history.read(
      askedFor({ metric: 'latency', grainS, sinceS: START_S, untilS: START_S + 10 * MINUTE_S }),
      START_S + 10 * MINUTE_S,
    )
  const [slow = 0, fast = 0] = [CALL_BUCKETS[9], CALL_BUCKETS[0]]
  const minutes = valuesOf(read(MINUTE_S), 'all', 'p99') ?? []
  t.ok((minutes[0] ?? 0) > (CALL_BUCKETS[8] ?? 0) * 1_000 && (minutes[0] ?? 0) <= slow * 1_000)
  t.ok((minutes[1] ?? 0) <= fast * 1_000)
  t.same(minutes.slice(2), new Array(8).fill(null))
  const [merged = 0] = valuesOf(read(10 * MINUTE_S), 'all', 'p99') ?? []
  t.ok((merged ?? 0) <= fast * 1_000, 'one call of 1,001 is above the p99')
})

t.test('the quantiles of a second cover the ten seconds around it', async (t) => {
  const history = new History(START_S)
  history.take(came('operation', { a: { calls: 1, firsts: { 0: 1 } } }), START_S + 3)
  const data = history.read(
    askedFor({ metric: 'first_output', sinceS: START_S, untilS: START_S + 2 * HISTORY_QUANTILE_S }),
    START_S + 60,
  )
  t.equal(data.quantile_seconds, HISTORY_QUANTILE_S)
  t.same(
    valuesOf(data, 'all', 'p50')?.map((value) => value !== null),
    [...new Array(HISTORY_QUANTILE_S).fill(true), ...new Array(HISTORY_QUANTILE_S).fill(false)],
  )
})

t.test('the status classes add up to all calls', async (t) => {
  const history = new History(START_S)
  history.take(came('operation', { a: { calls: 10, refused: 3, failed: 2 }, b: { calls: 5 } }), START_S)
  const data = history.read(askedFor({ by: 'status', sinceS: START_S, untilS: START_S + 1 }), START_S + 1)
  t.same(
    data.lines.map(({ name, values }) => [name, values]),
    [
      ['2xx', [10]],
      ['4xx', [3]],
      ['5xx', [2]],
    ],
  )
})

t.test('a key that becomes busy replaces an idle one in the lines, and the sums stay the same', async (t) => {
  const history = new History(START_S)
  const idle = Object.fromEntries(
    Array.from({ length: HISTORY_KEYS_MAX }, (_, n) => [`idle${n}`, { calls: 1 }]),
  )
  history.take(came('key', idle), START_S)
  for (let second = 0; second < 3 * MINUTE_S; second++)
    history.take(came('key', { busy: { calls: 10 } }), START_S + second)
  const range = { by: 'key' as const, grainS: MINUTE_S, sinceS: START_S, untilS: START_S + 3 * MINUTE_S }
  const data = history.read(askedFor(range), range.untilS)
  const busy = valuesOf(data, 'busy') ?? []
  t.same(
    busy,
    [null, 10, 10].map((value) => value ?? 0),
    'from the minute on in which it was found',
  )
  t.equal(total(data), HISTORY_KEYS_MAX + 3 * MINUTE_S * 10)
  t.equal(data.lines[0]?.name, 'busy')
})

t.test('cost and tokens have their own units, and tiny costs are not rounded to zero', async (t) => {
  const history = new History(START_S)
  history.take(came('operation', { a: { costNano: 20, tokens: 90 } }), START_S)
  const range = { sinceS: START_S, untilS: START_S + 1 }
  const cost = history.read(askedFor({ metric: 'cost', ...range }), START_S + 1)
  t.match(cost, { unit: 'usd_per_minute', lines: [{ values: [1.2e-6] }] })
  const tokens = history.read(askedFor({ metric: 'tokens', ...range }), START_S + 1)
  t.match(tokens, { unit: 'per_second', lines: [{ values: [90] }] })
})

t.test('a single name returns only its line, zeros without calls, nothing without a series', async (t) => {
  const history = new History(START_S)
  for (let name = 0; name < HISTORY_KEYS_MAX + 1; name++)
    history.take(came('key', { [`k${name}`]: { calls: name + 1 } }), START_S)
  const linesOf = (name: string, sinceS = START_S) =>
    history.read(askedFor({ by: 'key', name, sinceS, untilS: sinceS + 1 }), START_S + 60).lines
  t.match(linesOf('k0'), [{ name: 'k0', is_others: false, values: [1] }])
  t.match(linesOf('k0', START_S + 30), [{ name: 'k0', values: [0] }])
  t.same([linesOf(`k${HISTORY_KEYS_MAX}`), linesOf('others'), linesOf('')], [[], [], []])
})

t.test('keeps the latest events, and a range returns only its own', async (t) => {
  const history = new History(START_S)
  for (let nth = 0; nth < HISTORY_EVENTS_MAX + 5; nth++)
    history.note('reload', String(nth), (START_S + nth) * 1_000)
  const all = history.read(askedFor({ sinceS: START_S, untilS: START_S + HISTORY_EVENTS_MAX + 5 }), START_S)
  t.equal(all.events.length, HISTORY_EVENTS_MAX)
  t.same(all.events[0]?.text, '5')
  const some = history.read(askedFor({ sinceS: START_S + 10, untilS: START_S + 12 }), START_S)
  t.same(
    some.events.map(({ text }) => text),
    ['10', '11'],
  )
})
