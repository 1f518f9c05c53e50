import t from 'tap'
import { REQUESTS_LAST_WEIGHT } from '../../../../src/schemas/requests/request-limits.ts'
import {
  REQUESTS_FIRST_WEIGHT,
  REQUESTS_FIRST_WEIGHT_MAX,
  REQUESTS_KEY_KINDS_MAX,
  REQUESTS_KINDS_MAX,
  REQUESTS_ORGANIZATION_KINDS_MAX,
  REQUESTS_WHOLE_MAX,
  Sampling,
  type SampledCall,
} from '../../../../src/server/observe/requests/sampling.ts'

const CALL: SampledCall = { organizationId: 'o', keyHash: 'k', failure: 'rate_limited', status: 429 }

/** The weights of so many calls of one second that are kept. */
function weights(sampling: Sampling, calls: number, call: Partial<SampledCall> = {}): readonly number[] {
  const found = Array.from({ length: calls }, () => sampling.weightOf(1_000, { ...CALL, ...call }))
  return found.filter((weight) => weight > 0)
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

t.test('many equal refusals are recorded in few rows, whose weights add up to the calls', async (t) => {
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

t.test('a flood uses no rows of another organization, another result or the next second', async (t) => {
  const sampling = new Sampling()
  weights(sampling, 5_000)
  t.equal(sampling.weightOf(1_999, { ...CALL, organizationId: 'other' }), 1)
  t.equal(sampling.weightOf(1_999, { ...CALL, organizationId: null, keyHash: null }), 1)
  t.equal(sampling.weightOf(1_999, { ...CALL, failure: 'upstream_failed' }), 1)
  t.equal(sampling.weightOf(1_999, { ...CALL, failure: null }), 1)
  t.equal(sampling.weightOf(2_000, CALL), 1)
  t.equal(sampling.weightOf(1_000, CALL), 1, 'also where the clock is set back')
})

t.test('a flood of calls by one key does not use up rows of another key of its organization', async (t) => {
  const sampling = new Sampling()
  weights(sampling, 600, { keyHash: 'a', failure: 'key_limit_exceeded' })
  const other = weights(sampling, REQUESTS_WHOLE_MAX, { keyHash: 'b', failure: 'key_limit_exceeded' })
  t.same(other, Array(REQUESTS_WHOLE_MAX).fill(1))
})

t.test(
  `keys of an organization above REQUESTS_ORGANIZATION_KINDS_MAX (${REQUESTS_ORGANIZATION_KINDS_MAX}) share ` +
    'one count, and take no row of another organization',
  async (t) => {
    const sampling = new Sampling()
    const kept = Array.from({ length: 2 * REQUESTS_KINDS_MAX }, (_, n) =>
      sampling.weightOf(1_000, { ...CALL, keyHash: `k${n}` }),
    )
    t.equal(
      kept.filter((weight) => weight === 1).length,
      REQUESTS_ORGANIZATION_KINDS_MAX + REQUESTS_WHOLE_MAX,
    )
    const other = weights(sampling, REQUESTS_WHOLE_MAX, { organizationId: 'other' })
    t.same(other, Array(REQUESTS_WHOLE_MAX).fill(1))
  },
)

t.test(
  `above REQUESTS_KEY_KINDS_MAX (${REQUESTS_KEY_KINDS_MAX}) kinds of keys, each organization still has its own count`,
  async (t) => {
    const sampling = new Sampling()
    for (let n = 0; n < REQUESTS_KEY_KINDS_MAX; n++)
      sampling.weightOf(1_000, { ...CALL, organizationId: `o${n}` })
    for (const organizationId of ['a', 'b'])
      t.equal(weights(sampling, REQUESTS_WHOLE_MAX, { organizationId }).length, REQUESTS_WHOLE_MAX)
    t.equal(sampling.weightOf(1_000, { ...CALL, organizationId: 'a', keyHash: 'another' }), 0)
  },
)

t.test(
  `above REQUESTS_KINDS_MAX (${REQUESTS_KINDS_MAX}) kinds all share one count, which limits memory`,
  async (t) => {
    const sampling = new Sampling()
    const kept = Array.from({ length: 3 * REQUESTS_KINDS_MAX }, (_, n) =>
      sampling.weightOf(1_000, { ...CALL, organizationId: `o${n}` }),
    )
    t.same(new Set(kept.slice(0, REQUESTS_KINDS_MAX)), new Set([1]))
    const shared = kept.slice(REQUESTS_KINDS_MAX)
    t.equal(shared.filter((weight) => weight === 1).length, REQUESTS_WHOLE_MAX)
    t.ok(sumOf(shared) > shared.length - REQUESTS_LAST_WEIGHT)
  },
)
