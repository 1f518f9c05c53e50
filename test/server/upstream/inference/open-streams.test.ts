import t from 'tap'
import {
  PROGRESS_AHEAD_MS,
  PROGRESS_BEAT_MS,
  PROGRESS_MS,
  PROGRESS_RATE_MS_MIN,
} from '../../../../src/schemas/inference/stream-limits.ts'
import { aheadOf, OpenStreams } from '../../../../src/server/upstream/inference/open-streams.ts'
import { TextRates } from '../../../../src/server/upstream/inference/text-usage.ts'

t.test('a stream tells soon after its beginning, then each second, all due ones in one turn', (t) => {
  let now = 5_000
  const told: string[] = []
  const streams = new OpenStreams(() => now)
  const endA = streams.add(() => told.push('a'))
  now += 50
  const endB = streams.add(() => told.push('b'))
  const at = (ms: number): readonly string[] => {
    now = 5_000 + ms
    streams.beat()
    return told.splice(0)
  }
  t.same(at(PROGRESS_RATE_MS_MIN - 1), [])
  t.same(at(PROGRESS_RATE_MS_MIN), ['a'])
  t.same(at(PROGRESS_RATE_MS_MIN + 50), ['b'])
  t.same(at(PROGRESS_MS), [])
  t.same(at(PROGRESS_MS + PROGRESS_RATE_MS_MIN + 50), ['a', 'b'])
  endA()
  endA()
  t.same(at(10 * PROGRESS_MS), ['b'])
  endB()
  t.same(at(20 * PROGRESS_MS), [])
  t.end()
})

t.test('a stream that tells by itself stops with the last', async (t) => {
  const startedAt = performance.now()
  const streams = new OpenStreams(() => performance.now())
  let end = (): void => undefined
  await new Promise<void>((resolve) => {
    // Its clock keeps no process alive.
    const held = setInterval(() => undefined, 1_000)
    end = streams.add(() => {
      clearInterval(held)
      resolve()
    })
  })
  end()
  t.ok(performance.now() - startedAt >= PROGRESS_BEAT_MS - 1, 'at its first beat')
})

const NOTHING = { usage: null, outputBytes: 0, upstreamId: null }

t.test('the usage of a stream is what it delivered and two seconds more of its rate', (t) => {
  const rates = new TextRates()
  const of = (outputBytes: number, openMs: number) =>
    aheadOf({ ...NOTHING, outputBytes }, { promptBytes: 400, openMs }, rates)
  // A quarter of a token for each byte: 100 tokens in 10 s are 20 in two.
  t.match(of(400, 10_000), { input: 100, output: 120, reasoning: 0 })
  t.match(of(0, 10_000), { input: 100, output: 0 })
  // A first event of many words is no rate.
  t.equal(of(400, 1).output, 100 + (100 * PROGRESS_AHEAD_MS) / PROGRESS_RATE_MS_MIN)
  t.end()
})

t.test('figures that the provider tells on the way count, and those of Sluice are exact', (t) => {
  const usage = { input: 9, cacheRead: 4, cacheWrite: 0, output: 60, reasoning: 40 }
  const seen = { usage, outputBytes: 300, upstreamId: null }
  const at = { promptBytes: 400, openMs: 10_000 }
  t.same(aheadOf(seen, at, new TextRates()), { ...usage, output: 80 })
  const exact = { ...usage, output: 1, reasoning: 0 }
  t.same(aheadOf({ ...seen, usage: exact, outputBytes: 9_999, isExact: true }, at, new TextRates()), {
    ...exact,
    output: 2,
  })
  t.end()
})
