import t from 'tap'
import {
  PROGRESS_AHEAD_MS,
  PROGRESS_MS,
  PROGRESS_RATE_MS_MIN,
} from '../../../src/schemas/inference/stream-limits.ts'
import { type AskedText, TextRates } from '../../../src/server/inference/charge.ts'
import {
  PROGRESS_BEAT_MS,
  PROGRESS_BEAT_STREAMS_MAX,
  OpenStreams,
  StreamRate,
  type OpenStream,
} from '../../../src/server/inference/meter.ts'

const stream = (report: () => unknown): OpenStream => ({ dueAt: 0, report: () => void report() })

t.test('a stream reports soon after its start, then each second, all due streams in one turn', (t) => {
  let now = 5_000
  const reported: string[] = []
  const streams = new OpenStreams(() => now)
  const a = stream(() => reported.push('a'))
  streams.add(a)
  now += 50
  const b = stream(() => reported.push('b'))
  streams.add(b)
  const at = (ms: number): readonly string[] => {
    now = 5_000 + ms
    streams.beat()
    return reported.splice(0)
  }
  t.same(at(PROGRESS_RATE_MS_MIN - 1), [])
  t.same(at(PROGRESS_RATE_MS_MIN), ['a'])
  t.same(at(PROGRESS_RATE_MS_MIN + 50), ['b'])
  t.same(at(PROGRESS_MS), [])
  t.same(at(PROGRESS_MS + PROGRESS_RATE_MS_MIN + 50), ['a', 'b'])
  streams.delete(a)
  streams.delete(a)
  t.same(at(10 * PROGRESS_MS), ['b'])
  streams.delete(b)
  t.same(at(20 * PROGRESS_MS), [])
  t.end()
})

t.test('very many streams that began together report over several turns, each once', (t) => {
  let now = 0
  const reported = new Map<number, number>()
  const streams = new OpenStreams(() => now)
  const count = 2 * PROGRESS_BEAT_STREAMS_MAX + 1
  const open = Array.from({ length: count }, (_, nth) =>
    stream(() => reported.set(nth, (reported.get(nth) ?? 0) + 1)),
  )
  for (const one of open) streams.add(one)
  now = PROGRESS_RATE_MS_MIN
  for (const expected of [PROGRESS_BEAT_STREAMS_MAX, 2 * PROGRESS_BEAT_STREAMS_MAX, count, count]) {
    streams.beat()
    t.equal(reported.size, expected)
    now += PROGRESS_BEAT_MS
  }
  t.ok([...reported.values()].every((times) => times === 1))
  for (const one of open) streams.delete(one)
  t.end()
})

t.test('the report timer stops with the last stream', async (t) => {
  const startedAt = performance.now()
  const streams = new OpenStreams(() => performance.now())
  await new Promise<void>((resolve) => {
    // Its clock keeps no process alive.
    const held = setInterval(() => undefined, 1_000)
    const one = stream(() => {
      clearInterval(held)
      streams.delete(one)
      resolve()
    })
    streams.add(one)
  })
  t.ok(performance.now() - startedAt >= PROGRESS_BEAT_MS - 1, 'at its first beat')
})

const ASKED: AskedText = {
  text: { bytes: 400, mediaTokens: 0 },
  ...{ contextTokens: null, outputTokensMax: Infinity, reasons: false, seconds: 10, isTeaching: true },
}

/** A stream that had so many bytes with its first output, and then grows. */
function grown(first: number, bytes: number): StreamRate {
  const seen = { usage: null, outputBytes: first, upstreamId: null, reported: {} }
  const rate = new StreamRate(seen)
  seen.outputBytes = bytes
  return rate
}

t.test('the usage of a stream is its delivered output plus two seconds at its rate', (t) => {
  const rates = new TextRates()
  const ahead = (rate: StreamRate, openMs: number) => rate.ahead(rate.usage(ASKED, rates), openMs)
  // A quarter of a token for each byte: 100 tokens in 10 s are 20 in two.
  t.match(ahead(grown(0, 400), 10_000), { input: 100, output: 120, reasoning: 0 })
  t.match(ahead(grown(0, 0), 10_000), { input: 100, output: 0 })
  // A first event of many words does not make a rate.
  t.equal(ahead(grown(400, 400), 300).output, 100)
  t.equal(ahead(grown(200, 400), 10_000).output, 110)
  t.equal(ahead(grown(0, 400), 1).output, 100 + (100 * PROGRESS_AHEAD_MS) / PROGRESS_RATE_MS_MIN)
  const thinking = grown(0, 400)
  t.match(thinking.ahead(thinking.usage({ ...ASKED, reasons: true }, rates), 10_000), {
    output: 120,
    reasoning: 500,
  })
  t.end()
})

t.test('uses figures that the provider reports during the stream; those of Sluice are exact', (t) => {
  const usage = { input: 9, cacheRead: 4, cacheWrite: 0, output: 60, reasoning: 40 }
  const ahead = (rate: StreamRate) => rate.ahead(rate.usage(ASKED, new TextRates()), 10_000)
  const seen = { usage: null as typeof usage | null, outputBytes: 0, upstreamId: null, reported: {} }
  const rate = new StreamRate(seen)
  Object.assign(seen, { usage, outputBytes: 300 })
  t.same(ahead(rate), { ...usage, output: 80 })
  const counted = {
    usage: { ...usage, output: 0, reasoning: 0 },
    outputBytes: 0,
    upstreamId: null,
    reported: {},
    isExact: true,
  }
  const exact = new StreamRate(counted)
  counted.usage = { ...usage, output: 1, reasoning: 0 }
  t.same(ahead(exact), { ...usage, output: 2, reasoning: 0 })
  t.end()
})
