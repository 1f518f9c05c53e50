import t from 'tap'
import { isVideoEnding } from '../../src/schemas/videos/video-jobs.ts'
import type { VideoEngine } from '../../src/server/runner/videos/engine.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { randomOf } from '../support/wire/rate-simulation.ts'
import { modelProvider } from '../support/videos/video-provider-model.ts'
import { videoWorld } from '../support/videos/video-world.ts'

const KINDS = ['token', 'lookup', 'blind'] as const
const RUNS = 12
const JOBS = 24

t.test(
  'under random faults of store, providers and runners every job ends, and no provider gets a forbidden call',
  { timeout: 300_000 },
  async (t) => {
    for (let run = 0; run < RUNS; run++) {
      const seed = Number(process.hrtime.bigint() % 1_000_000_007n)
      const { left, mistakes, backward } = await chaos(seed)
      if (!t.same({ left, mistakes, backward }, { left: [], mistakes: [], backward: [] }, `seed ${seed}`))
        break
    }
  },
)

/** Half a minute of faults, then calm. */
async function chaos(seed: number) {
  const random = randomOf(seed)
  const clock = fakeClock()
  const models = KINDS.map((kind) => modelProvider(kind, { kind, clock, random }))
  const world = videoWorld(
    models.map(({ provider }) => provider),
    { random, clock },
  )
  let faults = 0.1
  world.fault = () => (random() >= faults ? 'none' : random() < 0.5 ? 'lost' : 'unheard')
  const runners: VideoEngine[] = [world.runner(), world.runner()]
  const backward: string[] = []
  const states = ['accepted', 'submitting', 'running', 'storing']
  const seen = new Map<string, number>()
  for (let step = 0; step < 60; step++) {
    if (step < JOBS)
      for (const kind of KINDS)
        world.add({ id: `${kind}-${step}`, provider: kind, workspaceId: `w${step % 3}` })
    await clock.advance(500)
    const chance = random()
    // A runner stalls, or is stopped and another one starts.
    if (chance < 0.1) clock.stall(20_000 * random())
    else if (chance < 0.2) {
      void runners.shift()?.close(1_000)
      runners.push(world.runner())
    } else if (chance < 0.3) world.cancel(`${KINDS[step % 3] ?? ''}-${Math.floor(random() * JOBS)}`)
    for (const { id, state } of world.rows.values()) {
      const rank = states.includes(state) ? Math.max(1, states.indexOf(state)) : 9
      if (rank > 1 && rank < (seen.get(id) ?? 0)) backward.push(`${id}: ${state}`)
      seen.set(id, Math.max(rank, seen.get(id) ?? 0))
    }
  }
  faults = 0
  for (const model of models) model.calm()
  await clock.advance(120_000)
  const left = [...world.rows.values()]
    .filter(({ state }) => !isVideoEnding(state))
    .map(({ id, state }) => `${id}: ${state}`)
  for (const runner of runners) void runner.close(0)
  return { left, mistakes: models.flatMap((model) => model.mistakes), backward }
}
