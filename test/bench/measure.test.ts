import t from 'tap'
import type { Repeat, Sample } from '../../bench/measure.ts'
import { spread } from '../../bench/statistics.ts'
import { check, ratio, rowOf } from '../../bench/report.ts'

const sample = (cpuUs: number): Sample => ({
  target: 'a',
  cpuUs,
  requestsPerS: 1,
  p50Ms: 1,
  p90Ms: 1,
  p99Ms: 1,
  generatorCores: 0.1,
  isGeneratorLimit: false,
  failed: 0,
  failures: [],
})
const repeat = (cpuUs: number): Repeat => ({ loaded: sample(cpuUs), alone: sample(cpuUs) })

t.test('the median of an even count is between the two in the middle', async (t) => {
  t.same(spread([4, 1, 3, 2]), { median: 2.5, min: 1, max: 4 })
  t.same(spread([3, 1, 2]), { median: 2, min: 1, max: 3 })
})

t.test('ratios are taken inside a repeat, so that a slow machine slows both sides', async (t) => {
  const [over, under] = [[10, 100, 20].map(repeat), [5, 50, 10].map(repeat)]
  t.same(
    ratio(over, under, (one) => one.loaded.cpuUs),
    { median: 2, min: 2, max: 2 },
  )
})

t.test('a figure above its bound is missed', async (t) => {
  const bound = { atMost: 1.25, rows: [{ failed: 0 }] }
  t.equal(check('a', spread([1.2]), bound).isMet, true)
  t.equal(check('a', spread([1.3]), bound).isMet, false)
})

t.test('a figure of a server that refused is missed, however cheap it was', async (t) => {
  t.equal(check('a', spread([0.1]), { atMost: 1.25, rows: [{ failed: 0 }, { failed: 7 }] }).isMet, false)
})

t.test('a generator that was the limit in one repeat marks the row', async (t) => {
  const limited = { ...repeat(1), loaded: { ...sample(1), isGeneratorLimit: true } }
  t.equal(rowOf('a', [repeat(1), limited]).isGeneratorLimit, true)
})
