import t from 'tap'
import { FRONT_HUNG_MS, FRONT_SILENT_MS } from '../../../../src/schemas/limits/limits.ts'
import { SILENCE_LOOK_MS } from '../../../../src/server/supervisor/fleet/silence.ts'
import {
  partsOf,
  scriptedFleet,
  turnOfLoop,
  type ScriptedFleet,
} from '../../../support/nodes/scripted-fleet.ts'
import { until } from '../../../support/wait.ts'

const LOOKS_UNTIL_SILENT = FRONT_SILENT_MS / SILENCE_LOOK_MS
const LOOKS_UNTIL_HUNG = FRONT_HUNG_MS / SILENCE_LOOK_MS

t.test(
  'a front without a heartbeat for 3 s is not ready, and is ready again with the next one',
  async (t) => {
    const { fleet, serving, log } = await twoFronts(t)
    const [still, lively] = serving()
    look({ fleet, beating: [lively] }, LOOKS_UNTIL_SILENT)
    t.equal(fleet.countReady('front'), 2, 'the first look finds where it stands')
    look({ fleet, beating: [lively] }, 1)
    t.equal(fleet.countReady('front'), 1)
    t.equal(fleet.silent, 1)
    t.equal(fleet.sessionThreads.ready, 1)
    look({ fleet, beating: [still, lively] }, 1)
    t.equal(fleet.countReady('front'), 2)
    t.same(
      log.events.map(({ event, fields }) => [event, fields['pid']]),
      [
        ['front_silent', still?.pid],
        ['front_answers', still?.pid],
      ],
    )
  },
)

t.test(
  'a front without a heartbeat for 10 s is killed and replaced, with an event and a count',
  async (t) => {
    const { fleet, serving, log } = await twoFronts(t)
    const [still, lively] = serving()
    look({ fleet, beating: [lively] }, LOOKS_UNTIL_HUNG)
    t.equal(still?.isGone, false)
    look({ fleet, beating: [lively] }, 1)
    t.equal(await still?.ended, 'SIGKILL')
    await turnOfLoop()
    t.equal(fleet.hangs, 1)
    t.equal(fleet.countReady('front'), 2)
    t.ok(log.events.some(({ event, fields }) => event === 'front_hung' && fields['pid'] === still?.pid))
    t.equal(lively?.isGone, false)
  },
)

t.test('a supervisor that stalled itself kills no front for missing heartbeats', async (t) => {
  const { fleet, serving } = await twoFronts(t)
  look({ fleet, beating: [] }, 1)
  // However long it stood: its timer comes once, before the heartbeats that wait for it.
  look({ fleet, beating: [] }, 1)
  look({ fleet, beating: serving() }, 1)
  look({ fleet, beating: [] }, LOOKS_UNTIL_SILENT - 1)
  t.equal(fleet.countReady('front'), 2)
})

t.test('a front stopped in a debugger is not ready, and is killed only after it is resumed', async (t) => {
  const { fleet, serving, log } = await twoFronts(t)
  const [still, lively] = serving()
  if (still !== undefined) still.isDebugged = true
  look({ fleet, beating: [lively] }, LOOKS_UNTIL_HUNG + 1)
  t.equal(still?.isGone, false)
  t.equal(fleet.countReady('front'), 1)
  t.ok(log.events.some(({ event }) => event === 'front_debugged'))
  if (still !== undefined) still.isDebugged = false
  look({ fleet, beating: [lively] }, LOOKS_UNTIL_HUNG)
  t.equal(still?.isGone, true)
})

t.test('a front that hangs while it is replaced is killed too: it may listen still', async (t) => {
  const { fleet, forked, serving } = await twoFronts(t)
  const [first] = serving()
  await fleet.roll(partsOf(2, 'new'))
  t.same(first?.drains, [true])
  look({ fleet, beating: forked.filter((child) => child !== first) }, LOOKS_UNTIL_HUNG + 1)
  t.equal(first?.isGone, true)
})

t.test('when no front is left, the spare takes over first and alone, and the others follow', async (t) => {
  const scripted = scriptedFleet(t)
  const { fleet, forked, serving, starting } = scripted
  const started = fleet.start(partsOf(3, 'old'))
  for (let slot = 0; slot < 3; slot++) (await starting()).ready()
  await started
  fleet.lookAtFronts()
  const spare = forked.find(({ isSpare }) => isSpare)
  const before = forked.length
  for (const front of serving()) front.end('SIGKILL')
  t.equal(await starting(), spare)
  await turnOfLoop()
  t.equal(forked.length, before, 'nothing else is loaded beside it')
  spare?.ready()
  for (let slot = 0; slot < 2; slot++) (await starting()).ready()
  await turnOfLoop()
  t.equal(fleet.countReady('front'), 3)
})

t.test('the other fronts do not wait for a first front that takes long', async (t) => {
  const { fleet, forked, serving, starting } = scriptedFleet(t)
  const started = fleet.start(partsOf(2, 'old'))
  for (let slot = 0; slot < 2; slot++) (await starting()).ready()
  await started
  for (const front of serving()) front.end('SIGKILL')
  const spare = await starting()
  spare.end('exit code 1')
  const others = (): number => forked.filter(({ part, isGone }) => part !== null && !isGone).length
  await until(() => others() >= 2)
  t.pass('both are started')
})

async function twoFronts(t: Parameters<typeof scriptedFleet>[0]): Promise<ScriptedFleet> {
  const scripted = scriptedFleet(t)
  scripted.readyAtOnce()
  await scripted.fleet.start(partsOf(2, 'old'))
  return scripted
}

interface Looked {
  readonly fleet: ScriptedFleet['fleet']
  readonly beating: readonly ({ pulses: number } | undefined)[]
}

/** Looks so many times; those that beat have done so before each look. */
function look({ fleet, beating }: Looked, times: number): void {
  for (let time = 0; time < times; time++) {
    for (const front of beating) if (front !== undefined) front.pulses++
    fleet.lookAtFronts()
  }
}
