import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { ResultRow, ResultsFile } from '../../../bench/record.ts'
import { compare } from '../../../bench/suite/baseline.ts'
import { readResults } from '../../../bench/suite/shape.ts'
import { changeOf } from '../../../bench/statistics.ts'
import { resultsFile, rowRecord, scenarioRecord } from '../../support/load/bench-records.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const STEADY = [1, 1.02, 0.98, 1.01, 0.99]
/** @param cost how many times as much as nginx; @param day how slow the machine is */
const run = (cost: number, day = 1, more: Partial<ResultsFile> = {}): ResultsFile =>
  fileOf(
    [
      rowRecord(
        'sluice',
        STEADY.map((one) => one * 20 * cost * day),
        { requests_per_second: 1_000 / cost / day },
      ),
      rowRecord(
        'nginx',
        STEADY.map((one) => one * 10 * day),
        { requests_per_second: 2_000 / day },
      ),
    ],
    more,
  )
const fileOf = (rows: readonly ResultRow[], more: Partial<ResultsFile> = {}): ResultsFile => ({
  ...resultsFile([scenarioRecord(rows)]),
  ...more,
})

t.test('finds a slowdown of 30 %, by CPU and by rate, with its subject and its size', async (t) => {
  const { worse } = compare(run(1), run(1.3), 0.1)
  t.match(worse, [
    /^a, b, sluice: CPU per request, over nginx: 30 % more than before \(95 % \d+ % to \d+ %\)$/,
    /^a, b, sluice: requests per second, over nginx: 23 % less than before/,
  ])
})

t.test(
  'no slowdown is found in an equal run, on a slow day of the whole machine, or below the bound',
  async (t) => {
    for (const now of [run(1), run(1, 2), run(1.05), run(0.5)]) t.same(compare(run(1), now, 0.1).worse, [])
    t.equal(compare(run(1), run(1), 0.1).compared, 2)
  },
)

t.test('noise alone fails no row, and a slowdown is found in spite of some noise', async (t) => {
  let state = 7
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const noisy = (of: number, by: number): readonly number[] =>
    Array.from({ length: 4 }, () => of * Math.exp((random() + random() + random() - 1.5) * 2 * by))
  const found = (cost: number, by: number): number => {
    const file = (of: number): ResultsFile =>
      fileOf([rowRecord('sluice', noisy(20 * of, by)), rowRecord('nginx', noisy(10, by / 2))])
    return Array.from({ length: 60 }, () => compare(file(1), file(cost), 0.1).worse.length).reduce(
      (sum, one) => sum + one,
      0,
    )
  }
  t.same(
    [found(1, 0.03), found(1, 0.1), found(1, 0.3)].map((count) => count <= 1),
    [true, true, true],
  )
  t.ok(found(1.3, 0.03) > 54)
})

t.test('divides a row by its peer within each repeat, because both slow down together', async (t) => {
  const days = [1, 9, 2, 0.3, 5]
  const file = (cost: number): ResultsFile =>
    fileOf([
      rowRecord(
        'sluice',
        days.map((day) => 20 * cost * day),
      ),
      rowRecord(
        'nginx',
        days.map((day) => 10 * day),
      ),
    ])
  t.match(compare(file(1), file(1.3), 0.1).worse, [
    /CPU per request, over nginx: 30 % more than before \(95 % 30 % to 30 %\)$/,
  ])
})

t.test('without a peer, compares the figure itself and says so, but not on another machine', async (t) => {
  const alone = (cpuUs: number, cpu = 'a'): ResultsFile =>
    fileOf(
      [
        rowRecord(
          'sluice',
          STEADY.map((one) => one * cpuUs),
        ),
      ],
      { machine: { ...resultsFile([]).machine, cpu } },
    )
  t.match(compare(alone(10), alone(13), 0.1).worse, [
    /CPU per request, the figure itself, for want of a peer: 30 % more/,
  ])
  const { worse, remarks, compared } = compare(alone(10), alone(13, 'another'), 0.1)
  t.same([worse, compared], [[], 0])
  t.match(remarks, [/no peer in both runs, and another machine, not judged$/])
})

t.test('ignores a slower peer, and does not divide by a peer that failed', async (t) => {
  const portkey = (cpuUs: number, failed = 0): ResultsFile =>
    fileOf([
      rowRecord(
        'portkey',
        STEADY.map((one) => one * cpuUs),
        { failed },
      ),
      rowRecord('sluice', STEADY),
    ])
  t.same(compare(portkey(100), portkey(200), 0.1).worse, [])
  t.same(compare(portkey(100), portkey(10, 3), 0.1).worse, [])
})

t.test('requests that newly fail are worse, however quick they are', async (t) => {
  const now = fileOf([rowRecord('sluice', STEADY, { failed: 2, failures: ['503'] })])
  t.match(compare(run(1), now, 0.1).worse, [/^a, b, sluice: 10 requests failed \(503\), none before$/])
})

t.test(
  'an open-loop row is judged by its median latency, and a rate limited by the generator by CPU alone',
  async (t) => {
    const latency = (p50: number): ResultsFile =>
      fileOf([
        rowRecord('sluice', STEADY, {
          head: { pace: 'open' },
          requests_per_second: 1 / p50,
          latency_us: { p50, p90: 1, p99: 1, p99_9: 1, max: 1 },
        }),
      ])
    t.match(compare(latency(100), latency(200), 0.1).worse, [
      /median latency, the figure itself, for want of a peer: 100 % more/,
    ])
    const limited = (rate: number): ResultsFile =>
      fileOf([rowRecord('sluice', STEADY, { requests_per_second: rate, generator_cores: 0.99 })])
    t.same(compare(limited(100), limited(50), 0.1).worse, [])
  },
)

t.test('reports too few repeats, and rows that only one run has, without judging them', async (t) => {
  const few = fileOf([rowRecord('sluice', [40, 40])])
  t.match(compare(run(1), few, 0.1), {
    worse: [],
    compared: 0,
    remarks: [/fewer than 3 repeats, not judged$/],
  })
  const other = fileOf([rowRecord('sluice', STEADY, { head: { case: 'another' } })])
  t.match(compare(run(1), other, 0.1).remarks, [
    /^1 rows are in the saved run alone: a, b, sluice$/,
    /^1 rows are in this run alone: a, another, sluice$/,
  ])
})

t.test('figures that are null in the file count as missing', async (t) => {
  const file = join(temporaryFolder(t, 'baseline'), 'results.json')
  writeFileSync(
    file,
    JSON.stringify(fileOf([rowRecord('sluice', [NaN, NaN, NaN]), rowRecord('nginx', [0, 0, 0])])),
  )
  const read = readResults(file)
  if ('problem' in read) throw new Error(read.problem)
  t.same(compare(read.value, read.value, 0.1).worse, [])
})

const wrong = [
  ['nothing', null, /cannot be read: ENOENT/],
  ['half a file', '{"form":1,', /cannot be read: /],
  ['another form', JSON.stringify({ ...resultsFile([]), form: 2 }), /has form 2; this bench reads form 1$/],
  ['something else', '[]', /is no results\.json of a bench: /],
  [
    'a row without samples',
    JSON.stringify(
      resultsFile([scenarioRecord([{ ...rowRecord('a', [1]), samples: 3 } as unknown as ResultRow])]),
    ),
    /is no results\.json of a bench: \/scenarios\/0\/rows\/0\/samples /,
  ],
] as const
for (const [what, text, line] of wrong) {
  t.test(`${what} is refused in one line`, async (t) => {
    const file = join(temporaryFolder(t, 'baseline'), 'results.json')
    if (text !== null) writeFileSync(file, text)
    const read = readResults(file)
    t.match('problem' in read ? read.problem : '', line)
    t.notMatch('problem' in read ? read.problem : '', '\n')
  })
}

t.test('a change has no width when nothing varies, and no change exists without values', async (t) => {
  t.same(changeOf([2, 2, 2], [1, 1, 1]), { median: 2, low: 2, high: 2 })
  t.ok(Number.isNaN(changeOf([], [1]).low))
})
