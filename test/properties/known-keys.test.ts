import fc from 'fast-check'
import t from 'tap'
import { KeyModel } from '../support/keys/key-model.ts'
import { turnOfLoop } from '../support/nodes/scripted-fleet.ts'

const KEYS = 6

type Step = readonly [
  kind: 'call' | 'commit' | 'hint' | 'poll' | 'blind' | 'answer' | 'turn' | 'wait',
  at: number,
  what: number,
]

/** Most steps are those of the store and of changes, because errors arise where the two interleave. */
const STEPS: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.tuple(
    fc.constantFrom(
      'call',
      'call',
      'commit',
      'commit',
      'hint',
      'hint',
      'poll',
      'poll',
      'blind',
      'answer',
      'answer',
      'answer',
      'turn',
      'turn',
      'wait',
    ),
    fc.nat(999),
    fc.nat(999),
  ),
  { minLength: 20, maxLength: 120 },
)

async function run(steps: readonly Step[]): Promise<readonly string[]> {
  const model = new KeyModel(KEYS)
  for (const [kind, at, what] of steps) {
    if (kind === 'turn') await turnOfLoop()
    else if (kind === 'wait') model.wait(at * 10)
    else if (kind === 'poll') model.poll(true)
    else if (kind === 'blind') model.poll(false)
    else if (kind === 'call') model.call(at)
    else if (kind === 'answer') model.answer(at)
    else model[kind](at, what)
    // Lets the front take the answer of the store.
    await Promise.resolve()
  }
  for (let turns = 0; model.open > 0 && turns < 1_000; turns++) {
    await turnOfLoop()
    model.answer(0)
  }
  model.lookAtAll()
  return [...model.wrong, ...(model.open > 0 ? [`${model.open} calls were never answered`] : [])]
}

t.test(
  'a front never keeps a key, known or unknown, that is older than the last change it received',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(STEPS, async (steps) => {
        const wrong = await run(steps)
        if (wrong.length > 0) throw new Error(wrong.join('; '))
      }),
      { numRuns: 300 },
    )
    t.pass('whatever order things happened in')
  },
)
