import t from 'tap'
import { drawnLength, dueTimes, lengthsOf, randomOf } from '../../../bench/streams/draws.ts'

const DRAWS = 20_000
const first = (seed: number, kind: 'poisson' | 'uniform', count: number): readonly number[] => {
  const due = dueTimes(100, kind, randomOf(seed))
  return Array.from({ length: count }, () => due.next().value)
}

t.test('the same seed draws the same arrivals, and another seed draws different ones', async (t) => {
  t.same(first(7, 'poisson', 100), first(7, 'poisson', 100))
  t.notSame(first(7, 'poisson', 100), first(8, 'poisson', 100))
})

t.test('uniform arrivals have equal gaps', async (t) => {
  t.same(first(1, 'uniform', 4), [0, 10, 20, 30])
})

t.test('the gaps of poisson arrivals have the mean of the rate, and are spread exponentially', async (t) => {
  const at = first(3, 'poisson', DRAWS)
  const gaps = at.slice(1).map((value, nth) => value - (at[nth] ?? 0))
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
  t.ok(Math.abs(mean - 10) < 0.3, String(mean))
  const longer = gaps.filter((gap) => gap > 10).length / gaps.length
  t.ok(Math.abs(longer - Math.exp(-1)) < 0.02, String(longer))
})

t.test('lengths are fixed, drawn evenly from a range, or drawn around a median', async (t) => {
  const random = randomOf(1)
  const drawn = (text: string): readonly number[] => {
    const lengths = lengthsOf('prompt-tokens', text)
    return Array.from({ length: DRAWS }, () => drawnLength(lengths, random)).sort((a, b) => a - b)
  }
  t.same([...new Set(drawn('200'))], [200])
  const range = drawn('50-60')
  t.same([range[0], range.at(-1), new Set(range).size], [50, 60, 11])
  const [median, p84] = [0.5, 0.8413].map(
    (share) => drawn('lognormal:200:0.5')[Math.floor(share * DRAWS)] ?? 0,
  )
  t.ok(Math.abs((median ?? 0) - 200) < 6, String(median))
  t.ok(Math.abs((p84 ?? 0) / 200 - Math.exp(0.5)) < 0.06, String(p84))
})

t.test('an invalid length is refused with a list of the allowed forms', async (t) => {
  for (const text of ['', '0', '9-3', '5-', 'x', '100001', 'lognormal:200', 'lognormal:200:9', '1.5'])
    t.throws(
      () => lengthsOf('answer-tokens', text),
      { message: /^--answer-tokens takes 200, 50-500 or/ },
      text,
    )
})
