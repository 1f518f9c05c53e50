import t from 'tap'
import { after, growth, slopePerMinute, type Reading } from '../../../bench/soak/trend.ts'

/** Every two seconds of ten minutes. */
function series(of: (atS: number) => number): readonly Reading[] {
  return Array.from({ length: 300 }, (_, at) => [at * 2_000, of(at * 2)] as const)
}

const near = (found: number, wanted: number, by: number): boolean => Math.abs(found - wanted) <= by

t.test('a growing series has a positive slope, and a shrinking one the opposite slope', async (t) => {
  t.ok(near(slopePerMinute(series((s) => 100 + s / 60)), 1, 1e-9))
  t.ok(near(slopePerMinute(series((s) => 100 - (3 * s) / 60)), -3, 1e-9))
})

t.test('a flat series has no slope, and with noise around it almost none', async (t) => {
  t.equal(slopePerMinute(series(() => 42)), 0)
  t.ok(near(slopePerMinute(series((s) => 100 + 5 * Math.sin(s * 12.9898))), 0, 0.1))
})

t.test('a heap that fills and empties does not grow, and one with a rising floor does', async (t) => {
  t.ok(near(slopePerMinute(series((s) => 100 + (s % 14))), 0, 0.1))
  t.ok(near(slopePerMinute(series((s) => 100 + (s % 14) + (2 * s) / 60)), 2, 0.1))
})

t.test('outliers change a slope little and growth not at all', async (t) => {
  const odd = series((s) => (s === 60 || s === 300 || s === 540 ? 130 : 100))
  t.ok(near(slopePerMinute(odd), 0, 0.1))
  t.equal(growth(odd), 0)
})

t.test('growth is the difference between the end and the start', async (t) => {
  t.equal(growth(series((s) => (s < 300 ? 50 : 53))), 3)
  t.equal(growth([[0, 7]]), 0)
})

t.test('one instant has no slope', async (t) => {
  t.ok(Number.isNaN(slopePerMinute([])))
  t.ok(Number.isNaN(slopePerMinute([[5, 1]])))
})

t.test('leaves the settling time out', async (t) => {
  t.same(
    after(
      [
        [0, 1],
        [10, 2],
        [20, 3],
      ],
      10,
    ),
    [
      [10, 2],
      [20, 3],
    ],
  )
})
