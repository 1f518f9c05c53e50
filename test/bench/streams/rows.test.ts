import t from 'tap'
import { Tally, type EndedCall } from '../../../bench/streams/tally.ts'
import type { StreamsResult } from '../../../bench/streams/cell.ts'
import { readStreamsOptions, type StreamsOptions } from '../../../bench/streams/options.ts'
import { headlineOf, notesOf, rowOf, type FoundCell } from '../../../bench/streams/rows.ts'
import { NO_SLO } from '../../../bench/streams/slo.ts'

const options = readStreamsOptions([
  '--target',
  'http://127.0.0.1',
  '--key',
  'k',
  '--stream',
  '--rates',
  '10,20',
]) as StreamsOptions
const CALL: EndedCall = {
  dueMs: 0,
  sentMs: 0,
  endedMs: 900,
  status: 200,
  outcome: 'whole',
  reason: '',
  firstMs: 100,
  tokenEvents: 9,
  tokens: null,
  meanGapMs: 100,
  maxGapMs: 100,
}

/** A cell of ten seconds with so many calls, whose first tokens took so many milliseconds. */
function cell(
  ratePerS: number,
  {
    calls,
    firstMs,
    more = {},
  }: { readonly calls: number; readonly firstMs: number; readonly more?: Partial<StreamsResult> },
): FoundCell {
  const tally = new Tally(10, NO_SLO)
  for (let nth = 0; nth < calls; nth++) {
    tally.firstToken(nth, firstMs)
    tally.end({ ...CALL, firstMs })
  }
  const result = {
    ...tally.figures(),
    sent: calls,
    unsent: 0,
    resent: 0,
    startedAtMs: 0,
    isStopped: false,
    seconds: 10,
    dueSeconds: 10,
    carriedSeconds: 10,
    cores: 0.1,
  }
  return { name: `${ratePerS} calls/s (poisson)`, ratePerS, results: [{ ...result, ...more }] }
}
const headline = (...cells: readonly FoundCell[]): string =>
  headlineOf(
    cells.map((one) => rowOf(one, options)),
    options,
  )

t.test('the headline of a single rate has the p99 of the first tokens', async (t) => {
  t.equal(
    headline(cell(10, { calls: 97, firstMs: 182 })),
    'p99 time to first token 182 ms at 10 calls/s; 0 failed',
  )
})

t.test('the knee of several rates is the last one that the target keeps up with', async (t) => {
  const [low, high] = [cell(10, { calls: 97, firstMs: 50 }), cell(20, { calls: 205, firstMs: 60 })]
  t.match(
    headline(low, high),
    /^The target keeps up at each rate; at the highest: p99 time to first token 60 ms at 20/,
  )
  t.match(
    headline(low, high, cell(40, { calls: 400, firstMs: 400 })),
    /^The target keeps up to 20 calls\/s; at 40 calls\/s it does not: p99 time to first token 400 ms/,
    'slow',
  )
  t.match(
    headline(low, cell(20, { calls: 120, firstMs: 60, more: { unsent: 80 } })),
    /keeps up to 10 calls\/s/,
    'unsent',
  )
})

t.test('leaves out p99.9 when there are few streams', async (t) => {
  t.ok(Number.isNaN(rowOf(cell(10, { calls: 9_999, firstMs: 5 }), options).latency_us?.p99_9.median))
  const { p99_9 } = rowOf(cell(10, { calls: 10_000, firstMs: 5 }), options).latency_us ?? {}
  t.ok(Math.abs((p99_9?.median ?? 0) - 5_000) < 10, 'within the three digits of a histogram')
})

t.test('a note reports a busy generator, and streams that had not ended', async (t) => {
  t.same(notesOf([cell(10, { calls: 9, firstMs: 5 })]), [])
  const { results } = cell(10, { calls: 9, firstMs: 5 })
  const ended = { whole: 9, cut: 0, limited: 0, failed: 0, open: 3 }
  const [busy, open] = notesOf([cell(10, { calls: 9, firstMs: 5, more: { cores: 0.95, ended } })])
  t.match(
    headline({ name: 'a', ratePerS: 10, results: [{ ...results[0], ended } as StreamsResult] }),
    /0 failed, 3 not ended$/,
  )
  t.match(busy, /the generator used 0\.95 of a core/)
  t.match(open, /3 streams had not ended/)
})
