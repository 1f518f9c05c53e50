import fc from 'fast-check'
import t from 'tap'
import { THINGS } from '../../support/caches/cache-model.ts'
import { CACHES } from '../../support/caches/cache-subjects.ts'
import { CacheWorld, type CacheSubject } from '../../support/caches/cache-world.ts'
import { turnOfLoop } from '../../support/nodes/scripted-fleet.ts'
import { BLIND_LOADS_MAX } from '../../../src/server/caches/live-loads.ts'

const RUNS = { numRuns: 500 }

/** Weights: most steps ask and answer, so that entries are there when something happens to them. */
const WEIGHTS = {
  ask: 12,
  answer: 16,
  commit: 4,
  hint: 3,
  poll: 2,
  blind: 1,
  away: 1,
  wait: 3,
  storm: 1,
} as const

type Step = readonly [kind: keyof typeof WEIGHTS | 'answerLast', given: number]

/** Reads in a row that a feed without track makes void: fewer than a load waits for, all, and one more. */
const STORMS = [1, BLIND_LOADS_MAX + 1, BLIND_LOADS_MAX + 1, BLIND_LOADS_MAX + 2]

const STEPS: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.tuple(
    fc.oneof(
      ...(['ask', 'answer', 'commit', 'hint', 'poll', 'blind', 'away', 'wait', 'storm'] as const).map(
        (kind) => ({
          weight: WEIGHTS[kind],
          arbitrary: fc.constant(kind),
        }),
      ),
    ),
    fc.nat(999),
  ),
  { minLength: 10, maxLength: 120 },
)

/** A storm: the feed loses track whenever the store has read. */
function stepsIn([kind, given]: Step): readonly Step[] {
  if (kind !== 'storm') return [[kind, given]]
  const lost: readonly Step[] = [
    ['answerLast', 0],
    ['blind', 0],
    ['answerLast', 0],
  ]
  return Array.from({ length: STORMS[given % STORMS.length] ?? 1 }, () => lost).flat()
}

function doStep(world: CacheWorld, [kind, given]: Step): void {
  switch (kind) {
    case 'poll':
    case 'blind':
      world.poll(kind === 'poll')
      return
    case 'answerLast':
      world.answerLast()
      return
    case 'away':
      world.answer(given, true)
      return
    case 'ask':
    case 'answer':
    case 'commit':
    case 'hint':
    case 'wait':
      world[kind](given)
      return
    case 'storm':
      throw new Error('a storm is many steps')
  }
}

/** Does the steps, lets the store answer all reads, and asks once more for everything. */
async function run(subject: CacheSubject, steps: readonly Step[]): Promise<readonly string[]> {
  const world = new CacheWorld(subject)
  const step = async (given: Step): Promise<void> => {
    doStep(world, given)
    // A read of keys is sent in the next turn, and a read that follows on another in the turn after that.
    await turnOfLoop()
    await turnOfLoop()
    world.look()
  }
  for (const given of steps.flatMap(stepsIn)) {
    await step(given)
    if (world.wrong.length > 0) return world.wrong
  }
  while (!world.isIdle) await step(['answer', 0])
  for (let at = 0; at < THINGS; at++) await step(['ask', at])
  while (!world.isIdle) await step(['answer', 0])
  return world.wrong
}

for (const subject of CACHES) {
  t.test(`${subject.name}: for any order of steps, the cache behaves like its model`, async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, async (steps) => {
        const wrong = await run(subject, steps)
        if (wrong.length > 0) throw new Error(wrong.join('; '))
      }),
      RUNS,
    )
  })
}
