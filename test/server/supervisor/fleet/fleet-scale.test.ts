import t from 'tap'
import {
  generationsOf,
  partsOf,
  scriptedFleet,
  turnOfLoop,
  type ScriptedFleet,
} from '../../../support/nodes/scripted-fleet.ts'

/** Change the number alone. */
const SPARING = { isSparing: true } as const

t.test(
  'more fronts with the same threads: running fronts stay, and are sent the new connection count',
  async (t) => {
    const { fleet, serving, readyAtOnce } = scriptedFleet(t)
    readyAtOnce()
    await fleet.start(partsOf(2, 'old'))
    const before = serving()
    await fleet.roll(partsOf(4, 'new'), SPARING)
    t.same(
      before.map(({ drains, scalings }) => [drains, scalings]),
      [
        [[], [4]],
        [[], [4]],
      ],
    )
    t.same(generationsOf(serving()), ['0:old', '1:old', '2:new', '3:new'])
    t.same([fleet.countReady('front'), fleet.countWanted('front')], [4, 4])
  },
)

t.test('a changed thread count replaces each front, and drains it after the new one is ready', async (t) => {
  const { fleet, serving, starting, readyAtOnce, forked } = scriptedFleet(t)
  readyAtOnce()
  await fleet.start(partsOf(2, 'old'))
  const [first] = serving()
  const child = forked.length
  const rolled = fleet.roll(partsOf(2, 'new', 3), SPARING)
  t.same(first?.drains, [])
  await rolled
  t.same(first?.drains, [true])
  t.ok(forked.length > child)
  t.same(fleet.sessionThreads, { ready: 6, wanted: 6 })
  await t.rejects(starting())
})

t.test('fewer fronts: removed fronts drain like replaced ones', async (t) => {
  const { fleet, serving, readyAtOnce } = scriptedFleet(t)
  readyAtOnce()
  await fleet.start(partsOf(3, 'old'))
  const [, second, third] = serving()
  await fleet.roll(partsOf(1, 'new'), SPARING)
  t.same([second?.drains, third?.drains], [[true], [true]])
  t.same(generationsOf(serving()), ['0:old'])
  t.equal(fleet.countWanted('front'), 1)
})

t.test('running fronts are notified when a replaced front ends, because their shares grow', async (t) => {
  const { fleet, serving, readyAtOnce } = scriptedFleet(t)
  readyAtOnce()
  await fleet.start(partsOf(2, 'old'))
  const [first, second] = serving()
  await fleet.roll(partsOf(1, 'new'), SPARING)
  t.same(first?.scalings, [1])
  second?.end('exit code 0')
  await turnOfLoop()
  t.same([first?.scalings, second?.scalings], [[1, 1], []])
})

t.test('an added front counts only when it is ready', async (t) => {
  const { fleet, starting } = await grown(t)
  const rolled = fleet.roll(partsOf(2, 'new'), SPARING)
  const added = await starting()
  t.same([fleet.countReady('front'), fleet.countWanted('front')], [1, 1])
  added.ready()
  await rolled
  t.same([fleet.countReady('front'), fleet.countWanted('front')], [2, 2])
})

t.test('when a front cannot be added, removes those added before it and keeps the number', async (t) => {
  const { fleet, serving, starting, crashLoops } = await grown(t)
  const rolled = fleet.roll(partsOf(3, 'new'), SPARING)
  const second = await starting()
  second.ready()
  for (let exits = 0; exits < 5; exits++) (await starting()).end()
  await t.rejects(rolled, { message: /front 2 ended 5 times in a row before it was ready/ })
  t.same(second.drains, [true])
  t.same(generationsOf(serving()), ['0:old'])
  t.equal(fleet.countWanted('front'), 1)
  t.same(crashLoops, [], 'the node goes on')
})

t.test('a front that dies while others are added is running again when the new number serves', async (t) => {
  const { fleet, serving, starting } = await grown(t)
  const rolled = fleet.roll(partsOf(2, 'new'), SPARING)
  const added = await starting()
  serving()
    .find(({ part }) => part?.slot === 0)
    ?.end('SIGKILL')
  added.ready()
  await turnOfLoop()
  let isRolled = false
  void rolled.then(() => (isRolled = true))
  await turnOfLoop()
  t.equal(isRolled, false)
  ;(await starting()).ready()
  await rolled
  t.equal(fleet.countReady('front'), 2)
})

t.test('an added front that dies at once is brought back', async (t) => {
  const { fleet, serving, starting, readyAtOnce } = await grown(t)
  const rolled = fleet.roll(partsOf(2, 'new'), SPARING)
  const added = await starting()
  readyAtOnce()
  added.ready()
  added.end('SIGKILL')
  await rolled
  await turnOfLoop()
  t.equal(fleet.countReady('front'), 2)
  t.same(
    serving().map(({ part }) => part?.slot),
    [0, 1],
  )
})

t.test('only fronts without spare Postgres connections wait until replaced fronts have ended', async (t) => {
  const { fleet, forked, log, readyAtOnce, serving } = scriptedFleet(t)
  readyAtOnce()
  await fleet.start(partsOf(2, 'old'))
  await fleet.roll(partsOf(1, 'new'), SPARING)
  await fleet.roll(partsOf(2, 'newer'), SPARING)
  t.equal(fleet.countReady('front'), 2, 'one drains, two serve: no more than two generations of two')
  await fleet.roll(partsOf(1, 'new'), SPARING)
  const rolled = fleet.roll(partsOf(1, 'newest', 2), SPARING)
  await turnOfLoop()
  t.match(log.events.at(-1), { event: 'roll_waits', fields: { retired: 2 } })
  t.same(generationsOf(serving()), ['0:old'])
  const retired = forked.filter(({ drains }) => drains.length > 0)
  t.same(
    retired.map(({ drains }) => drains),
    [
      [true, false],
      [true, false],
    ],
    'streams of the older generation end soon',
  )
  for (const child of retired) child.end('exit code 0')
  await rolled
  t.same(generationsOf(serving()), ['0:newest'])
})

t.test('a node that ends while it adds fronts drains each of its fronts once', async (t) => {
  const { fleet, forked, starting } = await grown(t)
  const rolled = fleet.roll(partsOf(3, 'new'), SPARING)
  rolled.catch(() => undefined)
  ;(await starting()).ready()
  const last = await starting()
  const drained = fleet.drain('front', 60_000)
  await t.rejects(rolled, { message: 'the node is shutting down' })
  t.ok(last.isGone)
  t.same(
    forked.filter(({ isReady }) => isReady).map(({ drains }) => drains),
    [[false], [false]],
  )
  for (const child of forked) child.end('exit code 0')
  await drained
})

/** A fleet of one front. */
async function grown(t: Parameters<typeof scriptedFleet>[0]): Promise<ScriptedFleet> {
  const scripted = scriptedFleet(t)
  const started = scripted.fleet.start(partsOf(1, 'old'))
  ;(await scripted.starting()).ready()
  await started
  return scripted
}
