import t from 'tap'
import type { FrontLoad } from '../../../src/server/observe/load-advice.ts'
import { foundOf, type Found } from '../../../bench/sweep/load.ts'
import { highestHeld, isInTime, type Ceiling } from '../../../bench/sweep/measure.ts'
import { readSweepOptions } from '../../../bench/sweep/options.ts'
import { pairsOf } from '../../../bench/sweep/pairs.ts'
import { doctorText, limitText, recommend, type PairFound } from '../../../bench/sweep/recommend.ts'
import { curvesOf, rowsOf } from '../../../bench/sweep/rows.ts'
import type { LoadResult } from '../../support/load/load-plan.ts'

const latency = { p50: 1, p90: 2, p99: 3, p99_9: 4, max: 5, mean: 1, byPercent: {} }
const found: Found = { ratePerS: 100, latency, requests: 100, failed: 0, failures: [], generatorCores: 0.4 }
const quiet: FrontLoad = {
  slot: 0,
  loopShare: 0.3,
  loopDelayMs: 1,
  sessionWaitMs: 1,
  sessionShare: 0.1,
  shortWaitMs: 1,
}

interface Given {
  readonly held?: number | null
  readonly ownMb?: number
  readonly ceiling?: Partial<Ceiling>
}

function pair(fronts: number, workers: number, { held = 100, ownMb = 300, ceiling }: Given = {}): PairFound {
  const of: Ceiling = {
    ...found,
    ratePerS: 200,
    cpuUs: 900,
    serverCores: 1.2,
    mockCores: 0.2,
    cores: { all: 2, idle: 0.1 },
    rssMb: 400,
    ownMb,
    load: { fronts, workers, runners: 1, each: [quiet] },
    ...ceiling,
  }
  return {
    pair: { fronts, workers },
    repeats: [{ ceiling: of, held: held === null ? null : { ...found, ratePerS: held } }],
  }
}

t.test('lists each effective pair of fronts and workers once', async (t) => {
  t.same(
    pairsOf([1, 2, 4], [1, 2, 4]).map(({ fronts, workers }) => [fronts, workers]),
    [
      [1, 1],
      [1, 2],
      [1, 4],
      [2, 2],
      [2, 4],
      [4, 4],
    ],
  )
})

t.test('recommends the smaller pair when more fronts add almost nothing, and shows the cost', async (t) => {
  const all = [pair(1, 1, { held: 70 }), pair(1, 2), pair(2, 2, { held: 103, ownMb: 420 })]
  t.match(recommend(all, 2), {
    pair: { fronts: 1, workers: 2 },
    sentence:
      'On this machine of 2 cores this mix wants SLUICE_FRONTS=1 SLUICE_WORKERS=2: 2 × 2 gives only 3 % more and costs 120 MB',
  })
})

t.test('recommends the larger pair when it gains more, and states the loss of the smaller', async (t) => {
  t.match(
    recommend([pair(1, 1, { held: 70 }), pair(2, 2)], 2)?.sentence,
    /SLUICE_FRONTS=2 SLUICE_WORKERS=2: 1 × 1 gives 30 % less$/,
  )
  t.match(recommend([pair(1, 1)], 1)?.sentence, /^On this machine of 1 core .*: no other pair was tried$/)
  t.match(
    recommend([pair(1, 1), pair(1, 2, { held: null })], 2)?.sentence,
    /: no other pair that fits its cores answers in time$/,
  )
})

t.test(
  'never recommends more fronts than cores, as doctor does, and nothing when nothing answers',
  async (t) => {
    t.match(recommend([pair(1, 1, { held: 50 }), pair(4, 4, { held: 100 })], 2), {
      pair: { fronts: 1, workers: 1 },
    })
    t.equal(recommend([pair(1, 1, { held: null, ceiling: { ratePerS: 0 } })], 2), null)
    t.match(
      recommend([pair(1, 1, { held: null }), pair(2, 2, { held: null, ceiling: { ratePerS: 400 } })], 2),
      { pair: { fronts: 2, workers: 2 } },
    )
  },
)

t.test('names the limiting resource, by the bounds of doctor', async (t) => {
  t.equal(
    limitText(pair(1, 1)),
    '1 × 1: 1.20 of 2 cores for the node, 0.20 for the provider, generator 0.40; no core was idle',
  )
  const load = { fronts: 1, workers: 1, runners: 1, each: [{ ...quiet, loopShare: 0.9 }] }
  const limited = { serverCores: 3, generatorCores: 0.95, mockCores: 0.97, cores: { all: 8, idle: 3 }, load }
  const text = limitText(pair(1, 1, { ceiling: limited }))
  t.match(
    text,
    /; the generator was the limit, the provider .* was the limit, its busiest event loop was busy 90 % of the time$/,
  )
  t.match(limitText(pair(1, 1, { ceiling: { cores: { all: 4, idle: 2 } } })), /; 2\.0 cores idle$/)
  t.match(
    limitText(pair(1, 1, { ceiling: { cores: { all: 4, idle: 0.2 } } })),
    /; no core was idle, other programs had 2\.0 cores, and these figures/,
  )
  t.match(
    doctorText(pair(1, 1, { ceiling: limited })),
    /^doctor at the ceiling of 1 × 1: the event loop of front 0 is busy 90 .*\(run `sluice scale --fronts 2`, and /,
  )
})

t.test('a rate is held when 99 of 100 calls are in time, none fails and all are answered', async (t) => {
  const offered = { ratePerS: 100, p99Ms: 3 }
  t.ok(isInTime(found, offered))
  t.notOk(isInTime({ ...found, failed: 1 }, offered))
  t.notOk(isInTime(found, { ...offered, p99Ms: 2 }))
  t.notOk(isInTime({ ...found, ratePerS: 90 }, offered))
})

t.test('finds the highest rate by bisection from two fifths of the ceiling to the ceiling', async (t) => {
  const asked: number[] = []
  const upTo = (most: number) =>
    highestHeld(1_000, (ratePerS) => {
      asked.push(Math.round(ratePerS))
      return Promise.resolve(ratePerS <= most ? Math.round(ratePerS) : null)
    })
  t.equal(await upTo(800), 775)
  t.same(asked, [700, 850, 775, 813])
  t.same([await upTo(10_000), await upTo(100)], [963, null])
})

t.test('a load without an answer has failed, and refusals are not part of the rate', async (t) => {
  const figures = { requests: 100, measuredMs: 1_000, failures: ['cut'], generatorCores: 0.1, latency }
  const result = { ...figures, statuses: { 200: 40, 202: 10, 503: 50 } } as unknown as LoadResult
  t.match(foundOf(result, { latency }), {
    ratePerS: 50,
    failed: 50,
    failures: ['status 503, 50 times', 'cut'],
  })
  t.match(foundOf({ ...result, statuses: {}, requests: 0 }, { latency }), { ratePerS: 0, failed: 1 })
})

t.test('each pair has a row for its ceiling, a row for its held rate, and a point on its line', async (t) => {
  const all = [pair(1, 1), pair(1, 2, { held: null }), pair(2, 2)]
  const rows = all.flatMap((one) => rowsOf(one, { connections: 48, p99Ms: 50 }))
  t.same(
    rows.map((row) => [row.case, row.pace]),
    [
      ['1 × 1, ceiling', 'closed'],
      ['1 × 1, p99 within 50 ms', 'open'],
      ['1 × 2, ceiling', 'closed'],
      ['2 × 2, ceiling', 'closed'],
      ['2 × 2, p99 within 50 ms', 'open'],
    ],
  )
  t.same(curvesOf(all, 50)[0]?.lines, [
    {
      name: '1 front',
      points: [
        [1, 100],
        [2, 0],
      ],
    },
    { name: '2 fronts', points: [[2, 100]] },
  ])
})

t.test('a sweep accepts lists of counts and one mix', async (t) => {
  t.match(readSweepOptions([]), { fronts: [1, 2, 4], workers: [1, 2, 4], mix: 'mixed' })
  t.match(readSweepOptions(['--fronts', '2,1', '--only', 'embeddings']), {
    fronts: [1, 2],
    mix: 'embeddings',
  })
  t.type(readSweepOptions(['--only', 'embeddings,mixed']), 'string')
  t.type(readSweepOptions(['--fronts', '0']), 'string')
})
