import t from 'tap'
import {
  REQUESTS_FIRST_WEIGHT,
  REQUESTS_FIRST_WEIGHT_MAX,
  REQUESTS_KINDS_MAX,
  REQUESTS_LAST_WEIGHT,
  REQUESTS_WHOLE_MAX,
} from '../../../../src/schemas/requests/request-limits.ts'
import { Sampling } from '../../../../src/server/observe/requests/sampling.ts'

function weights(sampling: Sampling, calls: number, organization: string | null = 'o'): readonly number[] {
  const found = Array.from({ length: calls }, () => sampling.weightOf(1_000, organization, 'rate_limited'))
  return found.filter((weight) => weight > 0)
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

t.test('a flood of equal refusals leaves a few rows whose weights come to the number of calls', async (t) => {
  const rows = weights(new Sampling(), 10_020)
  t.equal(sumOf(rows), 10_020)
  t.equal(rows.filter((weight) => weight === 1).length, REQUESTS_WHOLE_MAX)
  t.equal(
    rows.filter((weight) => weight === REQUESTS_FIRST_WEIGHT).length,
    (REQUESTS_FIRST_WEIGHT_MAX - REQUESTS_WHOLE_MAX) / REQUESTS_FIRST_WEIGHT,
  )
  t.equal(rows.at(-1), REQUESTS_LAST_WEIGHT)
  t.ok(rows.length < 200, `${rows.length} rows`)
})

t.test('a flood takes no row of another organization, another end or the next second', async (t) => {
  const sampling = new Sampling()
  weights(sampling, 5_000)
  t.equal(sampling.weightOf(1_999, 'other', 'rate_limited'), 1)
  t.equal(sampling.weightOf(1_999, null, 'rate_limited'), 1)
  t.equal(sampling.weightOf(1_999, 'o', 'upstream_failed'), 1)
  t.equal(sampling.weightOf(2_000, 'o', 'rate_limited'), 1)
  t.equal(sampling.weightOf(1_000, 'o', 'rate_limited'), 1, 'also where the clock is set back')
})

t.test('very many kinds of calls share one count: memory has a bound', async (t) => {
  const sampling = new Sampling()
  const kept = Array.from({ length: 3 * REQUESTS_KINDS_MAX }, (_, n) =>
    sampling.weightOf(1_000, `o${n}`, 'key_unknown'),
  )
  t.same(new Set(kept.slice(0, REQUESTS_KINDS_MAX)), new Set([1]))
  const shared = kept.slice(REQUESTS_KINDS_MAX)
  t.equal(shared.filter((weight) => weight === 1).length, REQUESTS_WHOLE_MAX)
  t.ok(sumOf(shared) > shared.length - REQUESTS_LAST_WEIGHT)
})
