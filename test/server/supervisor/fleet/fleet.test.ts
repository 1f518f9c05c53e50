import t from 'tap'
import {
  generationsOf,
  partsOf,
  scriptedFleet,
  turnOfLoop,
  type ScriptedFleet,
} from '../../../support/nodes/scripted-fleet.ts'
import { SPARE_REST_MS } from '../../../../src/schemas/limits/limits.ts'
import { SILENCE_LOOK_MS } from '../../../../src/server/supervisor/fleet/silence.ts'
import { pause, until } from '../../../support/wait.ts'

const REST_LOOKS = SPARE_REST_MS / SILENCE_LOOK_MS

t.test('a roll that is asked for during the start leaves one front in each slot', async (t) => {
  const { fleet, forked, serving, readyAtOnce } = scriptedFleet(t)
  const started = fleet.start(partsOf(2, 'old'))
  await turnOfLoop()
  readyAtOnce()
  const rolled = fleet.roll(partsOf(2, 'new'))
  await turnOfLoop()
  for (const child of forked) if (!child.isReady && child.part !== null) child.ready()
  await Promise.all([started, rolled])
  t.same(generationsOf(serving()), ['0:new', '1:new'])
  t.same(
    forked.filter(({ part }) => part?.settings['SLUICE_CATALOG'] === 'old').map(({ drains }) => drains),
    [[true], [true]],
  )
})

t.test(
  'a new front begins with the keys of its predecessor, or without keys when it reports none',
  async (t) => {
    const { fleet, forked, readyAtOnce } = scriptedFleet(t)
    const newest = (slot: number) => forked.findLast(({ part }) => part?.slot === slot)
    readyAtOnce()
    await fleet.start(partsOf(2, 'old'))
    t.same([newest(0)?.begunWith, newest(1)?.begunWith], [[''], ['']])
    for (const slot of [0, 1]) Object.assign(newest(slot) ?? {}, { keys: `keys-of-${slot}` })
    await fleet.roll(partsOf(2, 'new'))
    t.same([newest(0)?.begunWith, newest(1)?.begunWith], [['keys-of-0'], ['keys-of-1']])
    for (const child of forked) if (child.drains.length > 0) child.end()
    await fleet.roll(partsOf(2, 'newer'))
    t.same([newest(0)?.begunWith, newest(1)?.begunWith], [[''], ['']])
  },
)

t.test(
  'a front that replaces a dead one, or is added, begins with the keys of one that serves',
  async (t) => {
    const { fleet, forked, readyAtOnce } = scriptedFleet(t)
    const newest = (slot: number) => forked.findLast(({ part }) => part?.slot === slot)
    readyAtOnce()
    await fleet.start(partsOf(2, 'old'))
    for (const slot of [0, 1]) Object.assign(newest(slot) ?? {}, { keys: `keys-of-${slot}` })
    const dead = newest(0)
    dead?.end('SIGKILL')
    for (let turn = 0; turn < 100 && newest(0) === dead; turn++) await turnOfLoop()
    await turnOfLoop()
    t.same(newest(0)?.begunWith, ['keys-of-1'])
    await fleet.roll(partsOf(3, 'new'), { isSparing: true })
    t.not(newest(2)?.begunWith[0], undefined)
  },
)

t.test('a roll stops at a front that has not reached Postgres, and the others stay', async (t) => {
  const { fleet, serving, starting } = scriptedFleet(t)
  const started = fleet.start(partsOf(2, 'old'))
  for (let slot = 0; slot < 2; slot++) (await starting()).ready()
  await started
  const rolled = fleet.roll(partsOf(2, 'new'))
  const cutOff = await starting()
  Object.assign(cutOff, { hasStore: false, hasReachedStore: false })
  cutOff.ready()
  await t.rejects(rolled, /^the new front 0 could not reach Postgres/)
  t.same(generationsOf(serving()), ['0:old', '1:old'])
})

t.test('a front that never reached Postgres is not ready, and one that lost it still is', async (t) => {
  const { fleet, serving, readyAtOnce } = scriptedFleet(t)
  readyAtOnce()
  await fleet.start(partsOf(2, 'old'))
  const [one, other] = serving()
  Object.assign(one ?? {}, { hasStore: false, hasReachedStore: false })
  Object.assign(other ?? {}, { hasStore: false })
  t.equal(fleet.countReady('front'), 1)
  t.equal(fleet.withoutStore, 2)
})

t.test('a roll stops at the first replacement that does not come up, and the others stay', async (t) => {
  const { fleet, forked, serving, starting, readyAtOnce, crashLoops } = scriptedFleet(t)
  const started = fleet.start(partsOf(3, 'old'))
  for (let slot = 0; slot < 3; slot++) (await starting()).ready()
  await started
  const rolled = fleet.roll(partsOf(3, 'new'))
  ;(await starting()).ready()
  for (let exits = 0; exits < 5; exits++) (await starting()).end()
  await t.rejects(rolled, { message: /front 1 ended 5 times in a row before it was ready/ })
  t.same(generationsOf(serving()), ['0:new', '1:old', '2:old'])
  t.same(crashLoops, [], 'the node goes on')
  readyAtOnce()
  for (const child of forked) if (child.drains.length > 0) child.end()
  await fleet.roll(partsOf(3, 'newer'))
  t.same(generationsOf(serving()), ['0:newer', '1:newer', '2:newer'])
})

t.test('a node that drains makes no new fronts, whatever is queued', async (t) => {
  const { fleet, forked, starting, readyAtOnce } = scriptedFleet(t)
  const started = fleet.start(partsOf(2, 'old'))
  for (let slot = 0; slot < 2; slot++) (await starting()).ready()
  await started
  const rolled = fleet.roll(partsOf(2, 'new'))
  rolled.catch(() => undefined)
  await starting()
  readyAtOnce()
  const count = forked.length
  const drained = fleet.drain('front', 60_000)
  await t.rejects(rolled, { message: 'the node is shutting down' })
  await t.rejects(fleet.roll(partsOf(2, 'newer')), { message: 'the node is shutting down' })
  t.equal(forked.length, count)
  for (const child of forked) child.end('exit code 0')
  await drained
})

t.test('a front that is being restarted when its slot is taken away does not stay', async (t) => {
  const { fleet, forked, serving, starting } = scriptedFleet(t)
  const started = fleet.start(partsOf(2, 'old'))
  for (let slot = 0; slot < 2; slot++) (await starting()).ready()
  await started
  serving()
    .find(({ part }) => part?.slot === 1)
    ?.end('SIGSEGV')
  const restarted = await starting()
  t.equal(restarted.part?.slot, 1)
  const rolled = fleet.roll(partsOf(1, 'new'))
  await turnOfLoop()
  forked.find(({ part }) => part?.settings['SLUICE_CATALOG'] === 'new')?.ready()
  await rolled
  restarted.ready()
  await turnOfLoop()
  t.same(restarted.drains, [true])
  t.same(generationsOf(serving()), ['0:new'])
  t.equal(fleet.countReady('front'), 1)
})

t.test('a replaced front that does not end is killed, and that is logged', async (t) => {
  const { fleet, forked, log, readyAtOnce } = scriptedFleet(t, { retiredMsMax: 1 })
  readyAtOnce()
  await fleet.start(partsOf(1, 'old'))
  await fleet.roll(partsOf(1, 'new'))
  const [old] = forked
  t.same(old?.drains, [true])
  t.equal(await old?.ended, 'SIGKILL')
  t.match(
    log.events.find(({ event }) => event === 'replaced_child_killed'),
    { fields: { pid: old?.pid } },
  )
})

t.test('a roll waits until the fronts replaced by the previous roll have ended', async (t) => {
  const { fleet, forked, serving, log, readyAtOnce } = scriptedFleet(t)
  readyAtOnce()
  await fleet.start(partsOf(1, 'old'))
  await fleet.roll(partsOf(1, 'new'))
  const rolled = fleet.roll(partsOf(1, 'newer'))
  await turnOfLoop()
  t.same(generationsOf(serving()), ['0:new'])
  t.match(log.events.at(-1), { event: 'roll_waits', fields: { retired: 1 } })
  forked[0]?.end('exit code 0')
  await rolled
  t.same(generationsOf(serving()), ['0:newer'])
})

t.test(
  'lost spares are logged, and after five the next one is made only when a front takes over',
  async (t) => {
    const { fleet, forked, serving, log, readyAtOnce } = scriptedFleet(t)
    const spare = (): (typeof forked)[number] | undefined =>
      forked.find(({ part, isSpare, isGone }) => isSpare && part === null && !isGone)
    readyAtOnce()
    await fleet.start(partsOf(1, 'old'))
    fleet.lookAtFronts()
    for (let loss = 0; loss < 5; loss++) {
      spare()?.end('SIGKILL')
      await turnOfLoop()
    }
    t.equal(spare(), undefined)
    const losses = log.events
      .filter(({ event }) => event === 'spare_lost')
      .map(({ fields }) => fields['losses'])
    t.same(losses, [1, 2, 3, 4, 5])
    serving()[0]?.end('SIGKILL')
    await turnOfLoop()
    t.same(generationsOf(serving()), ['0:old'])
    t.ok(spare())
  },
)

t.test(
  'a spare is loaded some time after the first calls, unless the node has ended meanwhile',
  async (t) => {
    const spares: readonly ScriptedFleet[] = [
      scriptedFleet(t, { spareDelayMs: 20 }),
      scriptedFleet(t, { spareDelayMs: 20 }),
    ]
    for (const { fleet, readyAtOnce } of spares) {
      readyAtOnce()
      await fleet.start(partsOf(1, 'old'))
    }
    for (const { fleet } of spares) fleet.lookAtFronts()
    const count = (): readonly number[] =>
      spares.map(({ forked }) => forked.filter(({ isSpare }) => isSpare).length)
    t.same(count(), [0, 0])
    await spares[1]?.fleet.killAll()
    await until(() => count()[0] !== 0)
    await pause(20)
    t.same(count(), [1, 0])
  },
)

t.test(
  'a node at rest has no spare: none before the first calls, and none long after the last',
  async (t) => {
    const { fleet, forked, serving, readyAtOnce } = scriptedFleet(t)
    const spares = (): number => forked.filter(({ isSpare, isGone }) => isSpare && !isGone).length
    const rest = (looks: number): void => {
      for (let look = 0; look < looks; look++) fleet.lookAtFronts()
    }
    readyAtOnce()
    await fleet.start(partsOf(1, 'old'))
    const [front] = serving()
    Object.assign(front ?? {}, { hasCalls: false })
    rest(REST_LOOKS + 1)
    await fleet.roll(partsOf(1, 'new'))
    t.equal(spares(), 0, 'without calls none is loaded, neither at the start nor by a roll')
    fleet.lookAtFronts()
    t.equal(spares(), 1)
    for (const child of forked) child.hasCalls = false
    rest(REST_LOOKS - 1)
    t.equal(spares(), 1)
    rest(1)
    t.equal(spares(), 0)
    await turnOfLoop()
    t.equal(spares(), 0, 'one that was ended is not lost')
    for (const child of serving()) child.hasCalls = true
    fleet.lookAtFronts()
    t.equal(spares(), 1)
  },
)

t.test('a front that cannot be restarted five times in a row stops the node', async (t) => {
  const { fleet, starting, serving, crashLoops } = scriptedFleet(t)
  const started = fleet.start(partsOf(1, 'old'))
  ;(await starting()).ready()
  await started
  serving()[0]?.end('SIGSEGV')
  for (let exits = 0; exits < 5; exits++) (await starting()).end()
  await turnOfLoop()
  t.match(crashLoops, [/front 0 ended 5 times in a row/])
})

t.test('one serving runner sweeps the leftovers of a dead front, and no front does', async (t) => {
  const { fleet, forked, readyAtOnce } = scriptedFleet(t)
  fleet.sweep()
  readyAtOnce()
  const [front, ...others] = partsOf(3, 'old').map((part, slot) =>
    slot === 0 ? part : { ...part, role: 'runner' as const },
  )
  await fleet.start(front === undefined ? [] : [front, ...others])
  fleet.sweep()
  const reported = forked.filter(({ sweeps }) => sweeps > 0)
  t.match(reported, [{ role: 'runner', sweeps: 1 }])
  t.equal(reported.length, 1)
})
