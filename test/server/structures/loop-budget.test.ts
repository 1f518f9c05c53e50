import t from 'tap'
import { LOOP_OTHERS_MS } from '../../../src/schemas/limits/share-limits.ts'
import {
  CALL_HELD_MS_MAX,
  LOOP_SLOW_MS,
  ORGANIZATION_PERCENT_MIN,
  ORGANIZATION_REST_MS,
  ORGANIZATION_TURN_AMONG_US,
  ORGANIZATION_TURN_MS_MAX,
  REST_OTHERS_MS_LEAST,
  STREAM_TURN_BYTES_MAX,
  STREAM_TURN_MS_MAX,
  LoopBudget,
} from '../../../src/server/structures/loop-budget.ts'

/** Time and turns go on by the test alone. */
function rig() {
  let nowMs = 0
  let over: (() => void)[] = []
  let timers: { readonly at: number; readonly run: () => void }[] = []
  const loop = new LoopBudget({
    now: () => nowMs,
    afterTurn: (run) => void over.push(run),
    later: (ms, run) => void timers.push({ at: nowMs + ms, run }),
  })
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms
    const due = timers.filter(({ at }) => at <= nowMs)
    timers = timers.filter(({ at }) => at > nowMs)
    for (const { run } of due) run()
    await Promise.resolve()
  }
  return {
    loop,
    pass,
    /** The turn ends, `ms` after it was first used. */
    async turn(ms = 0): Promise<void> {
      await pass(ms)
      const ended = over
      over = []
      for (const run of ended) run()
      await Promise.resolve()
    },
  }
}

t.test('a stream uses up its turn by bytes or by time, and gets a new one in the next turn', async (t) => {
  const { loop, turn } = rig()
  const stream = loop.stream('o')
  stream.used(STREAM_TURN_MS_MAX / 2, STREAM_TURN_BYTES_MAX - 1)
  t.notOk(stream.isSpent)
  stream.used(0, 1)
  t.ok(stream.isSpent)
  t.notOk(loop.stream('o').isSpent, 'another stream of the organization goes on')
  await turn()
  t.notOk(stream.isSpent)
  stream.used(STREAM_TURN_MS_MAX, 1)
  t.ok(stream.isSpent)
})

t.test('the streams of an organization share its turn, and waiting streams run first', async (t) => {
  const { loop, turn } = rig()
  const went: number[] = []
  const streams = Array.from({ length: 6 }, () => loop.stream('o'))
  const work = (nth: number): void => {
    const stream = streams[nth]
    went.push(nth)
    stream?.used(STREAM_TURN_MS_MAX, 1)
    void stream?.next().then(() => work(nth))
  }
  for (let nth = 0; nth < 4; nth++) work(nth)
  t.ok(loop.stream('o').isSpent, `${ORGANIZATION_TURN_MS_MAX} ms are used`)
  t.notOk(loop.stream('other').isSpent)
  for (let nth = 4; nth < 6; nth++) void streams[nth]?.next().then(() => work(nth))
  went.length = 0
  await turn()
  t.same(went, [0, 1, 2, 3])
  await turn()
  t.same(went.splice(0), [0, 1, 2, 3, 4, 5, 0, 1, 2, 3], 'the others had used nothing')
  await turn()
  t.same(went, [4, 5, 0, 1])
})

t.test('a turn starts no more streams than could use it, even if earlier ones used no time', async (t) => {
  const { loop, turn } = rig()
  let went = 0
  for (let nth = 0; nth < 1_000; nth++)
    void loop
      .stream('o')
      .next()
      .then(() => went++)
  await turn()
  t.ok(went > 0 && went < 100, `${went} went`)
  let turns = 1
  for (; went < 1_000 && turns < 1_000; turns++) await turn()
  t.equal(went, 1_000, `in ${turns} turns`)
})

t.test('an organization that is alone or below its share is never held', async (t) => {
  const { loop, turn } = rig()
  for (let nth = 0; nth < 100; nth++) {
    loop.book('alone', 2 * LOOP_SLOW_MS)
    await turn(2 * LOOP_SLOW_MS)
    t.equal(loop.enter('alone'), null)
  }
  t.same(loop.held, { calls: 0, turns: 0 })
  const { loop: shared, turn: sharedTurn } = rig()
  for (let nth = 0; nth < 100; nth++) {
    for (const name of ['a', 'b']) shared.book(name, 0.45 * 2 * LOOP_SLOW_MS)
    await sharedTurn(2 * LOOP_SLOW_MS)
    for (const name of ['a', 'b']) t.equal(shared.enter(name), null)
  }
})

/** Slow turns for a second, of which one organization used nearly all. */
async function busy() {
  const made = rig()
  for (let nth = 0; nth < 40; nth++) {
    made.loop.book('large', 1.9 * LOOP_SLOW_MS)
    made.loop.saw('small')
    await made.turn(2 * LOOP_SLOW_MS)
  }
  return made
}

t.test('new calls of an organization above its share wait at most CALL_HELD_MS_MAX', async (t) => {
  const { loop, turn } = await busy()
  t.equal(loop.enter('small'), null)
  const held = loop.enter('large')
  t.not(held, null)
  t.equal(loop.held.calls, 1)
  t.not(loop.held.turns, 0)
  let isLetIn = false
  void held?.then(() => (isLetIn = true))
  const slow = async (): Promise<void> => {
    loop.book('large', 1.9 * LOOP_SLOW_MS)
    loop.saw('small')
    await turn(2 * LOOP_SLOW_MS)
  }
  let ms = 0
  for (; ms + 2 * LOOP_SLOW_MS < CALL_HELD_MS_MAX; ms += 2 * LOOP_SLOW_MS) {
    await slow()
    t.notOk(isLetIn, `held after ${ms} ms`)
  }
  await slow()
  t.ok(isLetIn)
  t.not(loop.enter('large'), null, 'the organization is above its part still')
})

t.test('a held call starts before CALL_HELD_MS_MAX once no turn was slow for a while', async (t) => {
  const { loop, pass } = await busy()
  await pass(CALL_HELD_MS_MAX / 2)
  let isLetIn = false
  const held = loop.enter('large')
  t.not(held, null)
  void held?.then(() => (isLetIn = true))
  await pass(CALL_HELD_MS_MAX / 2)
  t.ok(isLetIn)
})

t.test('however many organizations are active, each has ORGANIZATION_PERCENT_MIN of the loop', async (t) => {
  const enters = async (percent: number): Promise<boolean> => {
    const { loop, turn } = rig()
    for (let nth = 0; nth < 200; nth++) {
      for (let other = 0; other < 20; other++) loop.saw(`other ${other}`)
      loop.book('one', (percent / 100) * 2 * LOOP_SLOW_MS)
      await turn(2 * LOOP_SLOW_MS)
    }
    return loop.enter('one') === null
  }
  t.ok(await enters(ORGANIZATION_PERCENT_MIN - 2))
  t.notOk(await enters(ORGANIZATION_PERCENT_MIN + 2))
})

t.test('no call is held once turns are short again or the other organizations are idle', async (t) => {
  const short = await busy()
  await short.pass(CALL_HELD_MS_MAX)
  t.equal(short.loop.enter('large'), null)
  const alone = await busy()
  for (let ms = 0; ms <= LOOP_OTHERS_MS; ms += 2 * LOOP_SLOW_MS) {
    alone.loop.book('large', 2 * LOOP_SLOW_MS)
    await alone.turn(2 * LOOP_SLOW_MS)
  }
  t.equal(alone.loop.enter('large'), null)
})

t.test('streams of an organization above its share run only every other turn', async (t) => {
  const { loop, turn } = await busy()
  const stream = loop.stream('large')
  let turns = 0
  const work = (): void => {
    turns++
    stream.used(1.9 * LOOP_SLOW_MS, 1)
    void stream.next().then(work)
  }
  work()
  const counted: number[] = []
  for (let nth = 0; nth < 6; nth++) {
    loop.saw('small')
    await turn(LOOP_SLOW_MS + 1)
    counted.push(turns)
  }
  t.equal(turns, 1 + 3, counted.join(', '))
})

/** Short turns for a second, of which two organizations used their shares. */
async function quick(share: number, others: number) {
  const made = rig()
  const turnMs = LOOP_SLOW_MS / 2
  for (let ms = 0; ms < LOOP_OTHERS_MS; ms += turnMs) {
    made.loop.book('large', share * turnMs)
    made.loop.saw('small')
    made.loop.book('small', others * turnMs)
    await made.turn(turnMs)
  }
  return made
}

const AMONG_MS = ORGANIZATION_TURN_AMONG_US / 1_000

t.test('while several organizations are active, each may use less of a turn', async (t) => {
  const { loop, turn } = await quick(0.1, 0.1)
  const stream = loop.stream('large')
  stream.used(AMONG_MS / 2, 1)
  t.notOk(stream.isSpent)
  stream.used(AMONG_MS / 2, 1)
  t.ok(stream.isSpent)
  t.ok(loop.stream('large').isSpent, 'its other streams wait too')
  t.notOk(loop.stream('small').isSpent)
  let isLetIn = false
  void stream.next().then(() => (isLetIn = true))
  await turn()
  t.ok(isLetIn, 'below its part it goes on in the next turn')
  t.same(loop.held, { calls: 0, turns: 0 })
  await turn(LOOP_OTHERS_MS)
  stream.used(AMONG_MS, 1)
  t.notOk(stream.isSpent, 'alone it uses more')
})

t.test('an organization above its share does not pause while the others use little', async (t) => {
  const { loop, turn } = await quick(0.9, REST_OTHERS_MS_LEAST / LOOP_OTHERS_MS / 2)
  const stream = loop.stream('large')
  stream.used(AMONG_MS, 1)
  let isLetIn = false
  void stream.next().then(() => (isLetIn = true))
  await turn()
  t.ok(isLetIn)
  t.equal(loop.held.turns, 0)
})

t.test('an organization above its share pauses after each turn, and others do not', async (t) => {
  const { loop, turn, pass } = await quick(0.9, 0.05)
  const went: string[] = []
  const wait = (name: string): void => {
    const stream = loop.stream(name)
    stream.used(AMONG_MS, 1)
    void stream.next().then(() => went.push(name))
  }
  wait('large')
  wait('small')
  await turn()
  t.same(went, ['small'])
  t.ok(loop.stream('large').isSpent, 'a new stream rests too')
  t.equal(loop.held.turns, 1)
  await turn()
  t.same(went, ['small'])
  await pass(ORGANIZATION_REST_MS)
  t.same(went, ['small', 'large'])
  t.notOk(loop.stream('large').isSpent)
})
