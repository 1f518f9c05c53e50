import fc from 'fast-check'
import t from 'tap'
import { RATE_SLACK_MS } from '../../src/schemas/limits/rate-limits.ts'
import { burstOf } from '../../src/schemas/values/rate-burst.ts'
import {
  excessOf,
  keyOf,
  ModelRedis,
  openFronts,
  randomOf,
  Simulation,
  whenAnswered,
} from '../support/wire/rate-simulation.ts'

interface Run {
  readonly limitRpm: number
  /** Requests at once; left out: the default. */
  readonly burst?: number
  readonly fronts: number
  readonly latencyMs: number
  /** Calls a second of all fronts together as a multiple of the limit. */
  readonly pressure: number
  /** Milliseconds of traffic and of silence, in turn; each front its own. */
  readonly onMs: number
  readonly offMs: number
  readonly seed: number
}

const RUNS: fc.Arbitrary<Run> = fc
  .record({
    limitRpm: fc.constantFrom(1, 7, 60, 600, 6_000, 60_000, 240_000),
    fronts: fc.integer({ min: 1, max: 4 }),
    latencyMs: fc.constantFrom(0, 0.2, 3, 20),
    pressure: fc.constantFrom(0.3, 0.9, 1.5, 6),
    onMs: fc.constantFrom(20, 90, 3_000),
    offMs: fc.constantFrom(0, 15, 60, 130),
    seed: fc.nat(),
    burstOf: fc.constantFrom('default', 'one', 'limit'),
  })
  .map(({ burstOf: kind, ...run }) => ({
    ...run,
    ...(kind !== 'default' && { burst: kind === 'one' ? 1 : run.limitRpm }),
  }))

t.test('no window W admits more than limit × (W + 100 ms) + burst, over several fronts', async (t) => {
  await fc.assert(
    fc.asyncProperty(RUNS, async (run) => {
      const { admitted } = await drive(run)
      const excess = excessOf(admitted, run.limitRpm, RATE_SLACK_MS, run.burst)
      if (excess > 0.001) throw new Error(`${excess} calls above the bound`)
    }),
    { numRuns: 30 },
  )
  t.pass('every window kept the bound')
})

t.test('under pressure at least 96 % of limit and burst are admitted', async (t) => {
  // Four fronts that are little over the limit use 97.7 % of it on average, and in one run of thousands 96.7
  // %. An authority 40 ms away uses up the 100 ms that a call may wait, and the fallback refuses more.
  const near = RUNS.filter((run) => run.limitRpm >= 600 && run.latencyMs <= 3)
  const steady = near.map(({ burst: _burst, ...run }) => ({
    ...run,
    pressure: Math.max(1.5, run.pressure),
    offMs: 0,
  }))
  await fc.assert(
    fc.asyncProperty(steady, async (run) => {
      const { admitted, refused, seconds } = await drive(run)
      const possible = Math.min(
        (run.limitRpm / 60) * seconds + burstOf(run.limitRpm),
        admitted.length + refused,
      )
      if (admitted.length < possible * 0.96) throw new Error(`${admitted.length} of ${possible}`)
    }),
    { numRuns: 15 },
  )
  t.pass('nothing is lost')
})

t.test('a Redis that loses its data, is unreachable or freezes adds at most one burst', async (t) => {
  const trouble = RUNS.filter((run) => run.limitRpm >= 60)
  await fc.assert(
    fc.asyncProperty(trouble, fc.constantFrom('forget', 'down', 'stalled'), async (run, kind) => {
      const { admitted } = await drive(run, (simulation, redis) => {
        simulation.after(600, () => {
          if (kind === 'forget') redis.forget()
          else redis.mode = kind
        })
        simulation.after(1_900, () => void (redis.mode = 'up'))
      })
      const burst = burstOf(run.limitRpm, run.burst)
      // Where there are more fronts than burst, each has 1 by itself.
      const excess = excessOf(admitted, run.limitRpm, RATE_SLACK_MS, burst) - Math.max(burst, run.fronts)
      if (excess > 0.001) throw new Error(`${excess} calls above the bound`)
    }),
    { numRuns: 30 },
  )
  t.pass('every window kept the bound')
})

t.test('tokens that an inactive front holds do not add to the tokens granted later', async (t) => {
  const limitRpm = 6_000
  let worst = -Infinity
  for (const calls of [10, 20, 45]) {
    for (let quietMs = 5; quietMs < 1_300; quietMs += 25) {
      const admitted = await quietAndFlood({ limitRpm, calls, quietMs })
      worst = Math.max(worst, excessOf(admitted, limitRpm, RATE_SLACK_MS))
    }
  }
  t.ok(worst <= 0.001, `nearest to the bound: ${worst.toFixed(2)} calls`)
})

t.test('a busy key costs the authority almost no steps, a slow key at most one per call', async (t) => {
  const run = { fronts: 2, latencyMs: 0.2, onMs: 3_000, offMs: 0, seed: 1 }
  const busy = await drive({ ...run, limitRpm: 240_000, pressure: 0.9 })
  t.ok(busy.steps < busy.admitted.length / 20, `${busy.steps} steps for ${busy.admitted.length} calls`)
  const slow = await drive({ ...run, limitRpm: 600, pressure: 0.3 })
  t.ok(slow.steps <= slow.admitted.length, `${slow.steps} steps for ${slow.admitted.length} calls`)
})

t.test('a key over its limit costs the authority at most one step per token despite refusals', async (t) => {
  const { steps, admitted, refused } = await drive({
    fronts: 2,
    latencyMs: 0.2,
    onMs: 3_000,
    offMs: 0,
    seed: 1,
    limitRpm: 600,
    pressure: 100,
  })
  t.ok(refused > 2_000)
  t.ok(steps < admitted.length * 3, `${steps} steps for ${admitted.length} admitted`)
})

/**
 * One front uses a key for a moment and stops while it holds a block; then both ask for more than there is.
 */
async function quietAndFlood({
  limitRpm,
  calls,
  quietMs,
}: {
  limitRpm: number
  calls: number
  quietMs: number
}): Promise<readonly number[]> {
  const simulation = new Simulation()
  const [holder, other] = openFronts(simulation, new ModelRedis(simulation, () => 0.1), 2)
  if (holder === undefined || other === undefined) throw new Error('no fronts')
  const admitted: number[] = []
  const callAt = (front: typeof holder, at: number): void =>
    simulation.after(at, () => {
      whenAnswered(
        front.admit(keyOf(limitRpm)),
        ({ failure }) => void (failure === null && admitted.push(simulation.now)),
      )
    })
  for (let i = 0; i < calls; i += 1) callAt(holder, 100 + (i * 30) / calls)
  for (let i = 0; i < 700; i += 1) callAt(other, 130 + quietMs)
  for (let i = 0; i < 100; i += 1) callAt(holder, 131 + quietMs)
  await simulation.runUntil(140 + quietMs)
  return admitted
}

/**
 * Some five thousand calls of one key over all fronts, but at least three seconds and at most thirty of them.
 */
async function drive(
  run: Run,
  disturb: (simulation: Simulation, redis: ModelRedis) => void = () => undefined,
): Promise<{ admitted: readonly number[]; refused: number; steps: number; seconds: number }> {
  const simulation = new Simulation()
  const random = randomOf(run.seed)
  const redis = new ModelRedis(simulation, () => run.latencyMs * (0.5 + random()))
  const key = keyOf(run.limitRpm, undefined, run.burst)
  const admitted: number[] = []
  let refused = 0
  const meanMs = Math.max(0.3, 60_000 / run.limitRpm / run.pressure) * run.fronts
  const endMs = Math.max(3_000, Math.min(30_000, (5_000 * meanMs) / run.fronts))
  for (const front of openFronts(simulation, redis, run.fronts)) {
    const phase = random() * (run.onMs + run.offMs)
    const call = (): void => {
      const isOn = (simulation.now + phase) % (run.onMs + run.offMs) < run.onMs
      if (isOn) {
        whenAnswered(front.admit(key), ({ failure }) => {
          if (failure === null) admitted.push(simulation.now)
          else refused += 1
        })
      }
      simulation.after(-Math.log(1 - random()) * meanMs, call)
    }
    call()
  }
  disturb(simulation, redis)
  await simulation.runUntil(endMs)
  return { admitted, refused, steps: redis.steps, seconds: endMs / 1000 }
}
