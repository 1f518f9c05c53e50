import t from 'tap'
import { LOOP_OTHERS_MS, LOOP_SHARE_PERCENT } from '../../../src/schemas/limits/share-limits.ts'
import {
  LOOP_BURST_MS,
  LOOP_CALL_US,
  LOOP_WAIT_MS_MAX,
  LOOP_WRITTEN_BYTES_PER_MS,
  SHARED_CALLS_MAX,
  LoopShare,
} from '../../../src/server/limits/loop-share.ts'

const LOOP_SHARE = LOOP_SHARE_PERCENT / 100
const LOOP_CALL_MS = LOOP_CALL_US / 1_000

/** A share by a clock of the test. */
function shared() {
  let now = 1_000
  let timers: { readonly at: number; readonly fire: () => void }[] = []
  const share = new LoopShare({
    now: () => now,
    later: (ms, fire) => void timers.push({ at: now + ms, fire }),
  })
  const pass = async (ms: number): Promise<void> => {
    for (const end = now + ms; now < end; await Promise.resolve()) {
      now = Math.min(end, ...timers.map(({ at }) => at))
      const due = timers.filter(({ at }) => at <= now)
      timers = timers.filter(({ at }) => at > now)
      for (const { fire } of due) fire()
    }
  }
  /** @returns whether it went on at once */
  const use = (organizationId: string, loopMs: number): boolean => {
    share.saw(organizationId)
    const turn = share.enter(organizationId)
    void (turn ?? Promise.resolve()).then(() =>
      share.leave(organizationId, { loopMs: loopMs - LOOP_CALL_MS, bytes: 0 }),
    )
    return turn === null
  }
  return { share, pass, use, now: () => now }
}

t.test('a single organization never waits for a share', async (t) => {
  const { use, pass } = shared()
  for (let n = 0; n < 100; n++) {
    t.ok(use('a', 50))
    await pass(0.1)
  }
})

t.test(
  'a single organization may run only as many calls as fit in LOOP_BURST_MS, because the next may be from another one',
  async (t) => {
    const { share, use, pass } = shared()
    const costMs = LOOP_BURST_MS / 4
    for (let n = 0; n < 50; n++) {
      use('a', costMs)
      await pass(1)
    }
    let went = 0
    for (let n = 0; n < 50; n++) void (share.enter('a') ?? Promise.resolve()).then(() => went++)
    await pass(1)
    t.ok(went >= 3 && went <= 4, `${went} at once`)
    share.leave('a', { loopMs: costMs, bytes: 0 })
    await pass(1)
    t.ok(went >= 4 && went <= 5, 'the next one after each that ends')
  },
)

t.test('the use by an organization while it was alone does not count against it', async (t) => {
  const { share, use, pass } = shared()
  for (let n = 0; n < 100; n++) {
    use('a', 100)
    await pass(1)
  }
  share.saw('b')
  let went = false
  void (share.enter('a') ?? Promise.resolve()).then(() => (went = true))
  await pass(1)
  share.saw('b')
  await pass(LOOP_BURST_MS / LOOP_SHARE)
  t.ok(went)
})

t.test('calls above the share start evenly, not in bursts', async (t) => {
  const { share, pass, now } = shared()
  const [costMs, tookMs] = [10, 5]
  const starts: number[] = []
  const call = async (): Promise<void> => {
    await share.enter('a')
    starts.push(now())
    const endsAt = now() + tookMs
    ends.push({ endsAt, end: () => share.leave('a', { loopMs: costMs - LOOP_CALL_MS, bytes: 0 }) })
  }
  let ends: { readonly endsAt: number; readonly end: () => void }[] = []
  share.saw('b')
  for (let n = 0; n < 200; n++) void call()
  const from = now()
  while (now() < from + 3_000) {
    share.saw('b')
    const over = ends.filter(({ endsAt }) => endsAt <= now())
    ends = ends.filter(({ endsAt }) => endsAt > now())
    for (const { end } of over) end()
    await pass(1)
  }
  const later = starts.filter((at) => at > from + 1_000)
  const gaps = later.slice(1).map((at, nth) => at - (later[nth] ?? 0))
  t.ok(later.length > 30, `${later.length} calls`)
  t.ok(Math.max(...gaps) <= (2 * costMs) / LOOP_SHARE, `at most ${Math.max(...gaps)} ms without one`)
})

t.test('calls that have waited for LOOP_WAIT_MS_MAX start one by one', async (t) => {
  const { share, pass } = shared()
  const beside = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 50) {
      share.saw('b')
      await pass(50)
    }
  }
  share.saw('b')
  let went = 0
  for (let n = 0; n < SHARED_CALLS_MAX + 10; n++)
    void (share.enter('a') ?? Promise.resolve()).then(() => went++)
  await beside(LOOP_WAIT_MS_MAX - 100)
  t.equal(went, SHARED_CALLS_MAX, 'those under way do not end')
  await beside(150)
  t.ok(went > SHARED_CALLS_MAX && went <= SHARED_CALLS_MAX + 4, `${went} when the first is late`)
  await beside(1_000)
  t.equal(went, SHARED_CALLS_MAX + 10)
})

t.test('with a second organization it waits after its burst, and continues at its share', async (t) => {
  const { share, use, pass } = shared()
  const costMs = 10
  const others = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 100) {
      share.saw('b')
      await pass(100)
    }
  }
  let done = 0
  share.saw('b')
  while (use('a', costMs)) {
    done++
    await pass(0.01)
  }
  t.ok(done >= LOOP_BURST_MS / costMs && done <= (2 * LOOP_BURST_MS) / costMs + 2, `${done} at once`)
  let waited = 0
  for (let n = 0; n < 200; n++)
    void (share.enter('a') ?? Promise.resolve()).then(() => {
      waited++
      share.leave('a', { loopMs: costMs - LOOP_CALL_MS, bytes: 0 })
    })
  await others(1_000)
  const fair = (1_000 * LOOP_SHARE) / costMs
  t.ok(waited > 0.7 * fair && waited < 1.3 * fair, `${waited} of ${fair} in a second`)
  t.ok(use('b', costMs), 'the other one never waits')
})

t.test(
  'with a second organization its running calls are limited, and the next starts when one ends',
  async (t) => {
    const { share, pass } = shared()
    const went: number[] = []
    const enter = (nth: number): void =>
      void (share.enter('a') ?? Promise.resolve()).then(() => went.push(nth))
    for (let nth = 0; nth < 2 * SHARED_CALLS_MAX; nth++) enter(nth)
    await pass(1)
    t.equal(went.length, 2 * SHARED_CALLS_MAX, 'alone all of them')
    for (let nth = 0; nth < 2 * SHARED_CALLS_MAX; nth++) share.leave('a', { loopMs: 0, bytes: 0 })
    went.length = 0
    share.saw('a')
    share.saw('b')
    for (let nth = 0; nth < SHARED_CALLS_MAX + 3; nth++) enter(nth)
    await pass(1)
    t.same(
      went,
      Array.from({ length: SHARED_CALLS_MAX }, (_, nth) => nth),
    )
    share.leave('a', { loopMs: 0, bytes: 0 })
    await pass(1)
    t.same(went.slice(SHARED_CALLS_MAX), [SHARED_CALLS_MAX], 'the first that waits')
    t.equal(share.enter('b'), null, 'the other one has places of its own')
  },
)

t.test('waiting calls start when other organizations are idle, or after LOOP_WAIT_MS_MAX', async (t) => {
  const { share, use, pass, now } = shared()
  share.saw('b')
  use('a', 100 * LOOP_WAIT_MS_MAX)
  await pass(1)
  let wentAt = 0
  const waits = (): void => void (share.enter('a') ?? Promise.resolve()).then(() => (wentAt = now()))
  waits()
  const from = now()
  await pass(LOOP_OTHERS_MS + 1_001)
  t.ok(wentAt > 0 && wentAt - from <= LOOP_OTHERS_MS + 1_000)
  wentAt = 0
  share.saw('b')
  waits()
  const again = now()
  while (wentAt === 0) {
    share.saw('b')
    await pass(50)
  }
  t.ok(wentAt - again <= LOOP_WAIT_MS_MAX + LOOP_OTHERS_MS, `${wentAt - again} ms`)
})

t.test('the bytes of an answer count as the time that writing them takes', async (t) => {
  const { share, pass } = shared()
  share.saw('b')
  share.saw('a')
  t.equal(share.enter('a'), null)
  share.leave('a', { loopMs: 0, bytes: 2 * LOOP_BURST_MS * LOOP_WRITTEN_BYTES_PER_MS })
  t.not(share.enter('a'), null)
  await pass(1)
  t.equal(share.enter('b'), null)
})
