import t from 'tap'
import {
  checkRecord,
  checkResult,
  ratioRecord,
  resultRow,
  type RowHead,
  type SampleRecord,
} from '../../bench/record.ts'
import { pairedRatio, spread } from '../../bench/statistics.ts'

const head = (subject: string): RowHead => ({
  scenario: 'a',
  case: 'b',
  subject,
  pace: 'closed',
  connections: 1,
  offered_per_second: null,
  payload_bytes: null,
})
const sample = (cpuUs: number, more: Partial<SampleRecord> = {}): SampleRecord => ({
  cpu_us_per_request: cpuUs,
  cpu_s_per_gb: null,
  requests_per_second: 1,
  mb_per_second: null,
  latency_us: null,
  rss_mb: null,
  generator_cores: 0.1,
  failed: 0,
  failures: [],
  ...more,
})

t.test('an empty list has no median', async (t) => {
  t.same(spread([]), { median: NaN, min: NaN, max: NaN })
})

t.test('a ratio that is equal in all repeats has zero width, even if the repeats differ', async (t) => {
  t.same(pairedRatio([2, 20, 200], [1, 10, 100]), { median: 2, low: 2, high: 2 })
})

t.test(
  'the interval of a ratio contains its median, is within its values, and is the same each time',
  async (t) => {
    const [over, under] = [
      [1, 1.2, 0.9, 1.1, 1.4],
      [1, 1, 1, 1, 1],
    ]
    const { median, low, high } = pairedRatio(over, under)
    t.equal(median, 1.1)
    t.same([low, high], [0.9, 1.4], 'in one of 17 draws each of the outer ones is the median')
    t.same(pairedRatio(over, under), { median, low, high })
  },
)

t.test('repeats without a partner, and ratios with a zero divisor, are ignored', async (t) => {
  t.equal(pairedRatio([2, 4, 9], [1, 0]).median, 2)
  t.ok(Number.isNaN(pairedRatio([], [1]).median))
})

t.test('a repeat that lacks a figure leaves out its pair, and the other pairs stay aligned', async (t) => {
  const rows = (...values: readonly (number | null)[]) =>
    resultRow(
      head('x'),
      values.map((value) => sample(1, { mb_per_second: value })),
    )
  t.equal(ratioRecord('mb_per_second', rows(null, 20, 300), rows(1, 10, 150))?.ratio.median, 2)
  t.same(spread([3, Number.NaN, 1, 2]), { median: 2, min: 1, max: 3 })
})

t.test('a row has the median of its repeats, and no value when no repeat has the figure', async (t) => {
  const row = resultRow(head('x'), [
    sample(3, { rss_mb: 5 }),
    sample(1),
    sample(2, { generator_cores: 0.95, failed: 2, failures: ['cut', 'cut'] }),
  ])
  t.same(row.cpu_us_per_request, { median: 2, min: 1, max: 3 })
  t.same(row.rss_mb, { median: 5, min: 5, max: 5 })
  t.equal(row.mb_per_second, null)
  t.equal(row.is_generator_limit, true)
  t.equal(row.failed, 2)
  t.same(row.failures, ['cut'])
})

t.test('a figure that one side lacks has no ratio', async (t) => {
  const [over, under] = [resultRow(head('x'), [sample(4)]), resultRow(head('y'), [sample(2)])]
  t.equal(ratioRecord('cpu_us_per_request', over, under)?.ratio.median, 2)
  t.equal(ratioRecord('mb_per_second', over, under), null)
})

t.test(
  'a check is missed when its bound is exceeded, when a request failed, and when nothing was measured',
  async (t) => {
    const row = resultRow(head('x'), [sample(1)])
    const bound = { atMost: 1.2 }
    t.equal(checkRecord('f', spread([1.1]), { bound, rows: [row] }).is_met, true)
    t.equal(checkRecord('f', spread([1.3]), { bound, rows: [row] }).is_met, false)
    t.equal(checkRecord('f', spread([1.1]), { bound: { atLeast: 1.2 }, rows: [row] }).is_met, false)
    t.equal(
      checkRecord('f', spread([1, 1.3, 1.4]), { bound, rows: [row] }).is_met,
      false,
      'the median counts',
    )
    t.equal(checkRecord('f', spread([1, 1.1, 1.4]), { bound: { atLeast: 1.2 }, rows: [row] }).is_met, false)
    t.equal(checkRecord('f', spread([1.1]), { bound, rows: [{ ...row, failed: 1 }] }).is_met, false)
    t.equal(checkRecord('f', spread([1.1]), { bound, rows: [] }).is_met, false)
  },
)

t.test('a figure that varies is not judged met or missed by a single repeat', async (t) => {
  const row = (repeats: number) =>
    resultRow(
      head('x'),
      Array.from({ length: repeats }, () => sample(1)),
    )
  const result = (found: number, repeats: number, failed = 0) =>
    checkResult(
      checkRecord('f', spread([found]), {
        bound: { atMost: 1.2 },
        rows: [{ ...row(repeats), failed }, row(5)],
      }),
    )
  t.same([result(1.1, 1), result(1.3, 1)], ['not judged', 'not judged'])
  t.same([result(1.1, 2), result(1.3, 2)], ['met', 'missed'])
  t.equal(result(1.1, 1, 1), 'missed', 'a request that failed needs no second repeat')
  t.equal(result(Number.NaN, 1), 'missed', 'nor does a missing figure')
})

t.test('a count is judged by one run, and so is a check from an older version of the bench', async (t) => {
  const rows = [resultRow(head('x'), [sample(1)])]
  const count = checkRecord('f', spread([1]), { bound: { atMost: 0 }, rows, repeats: null })
  t.match(count, { repeats: null })
  t.equal(checkResult(count), 'missed')
  const { repeats: _, ...earlier } = checkRecord('f', spread([0]), { bound: { atMost: 0 }, rows })
  t.equal(checkResult(earlier), 'met')
})
