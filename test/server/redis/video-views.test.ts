import t, { type Test } from 'tap'
import type { VideoStatus } from '../../../src/schemas/videos/video-jobs.ts'
import {
  VIDEO_VIEW_MS_MAX,
  VIDEO_VIEWS_AGAIN_MS_MAX,
  VIDEO_VIEWS_PUT_AT_ONCE,
} from '../../../src/schemas/videos/video-limits.ts'
import type { VideoView, VideoWake } from '../../../src/server/ports/videos/videos.ts'
import { openState, type State } from '../../../src/server/redis/open.ts'
import {
  VIDEO_VIEW_DOUBT_MS,
  VIDEO_VIEW_ENDED_MS,
  VIDEO_VIEW_OPEN_MS,
  VIDEO_VIEWS_LATE_MAX,
  openVideoViews,
} from '../../../src/server/redis/video-views.ts'
import { SILENT } from '../../support/log.ts'
import { openTestRedis, REDIS_KINDS, type TestRedis } from '../../support/stores/redis.ts'
import { until } from '../../support/wait.ts'

function view(status: VideoStatus, more: Partial<VideoView> = {}): VideoView {
  return {
    id: 'vid_1',
    workspaceId: 'w',
    status,
    generationId: null,
    error: null,
    outputs: 0,
    usage: null,
    ...more,
  }
}
const ENDED = view('completed', { generationId: 'gen_1', outputs: 1, usage: { costNano: 5, isByok: false } })

async function open(t: Test, redis: TestRedis, now: () => number = () => Infinity) {
  const state = openState({ url: null, socketPath: redis.socketPath, log: SILENT })
  const views = openVideoViews(state, now)
  t.teardown(() => views.close())
  t.teardown(() => state.close())
  t.ok(await state.whenReachable(60_000))
  return { state, views }
}

type Opened = Awaited<ReturnType<typeof open>>

/**
 * What a Redis that is held for away, since it took longer than calls wait for it, did not do is asked for
 * again.
 */
async function asked<T>(
  { state }: Opened,
  ask: () => Promise<T>,
  isDone: (answer: T) => boolean,
): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (isDone(answer) || state.isReachable) return answer
    await state.whenReachable(60_000)
  }
}
const put = (one: Opened, ...views: readonly VideoView[]): Promise<boolean> =>
  asked(
    one,
    () => one.views.putAll(views),
    (isPut) => isPut,
  )
const got = (one: Opened, id: string): Promise<VideoView | null> =>
  asked(
    one,
    () => one.views.get(id),
    (found) => found !== null,
  )

for (const kind of REDIS_KINDS) {
  t.test(`${kind}: other processes read a view that was put`, async (t) => {
    const redis = await openTestRedis(t, kind)
    const [one, other] = [await open(t, redis), await open(t, redis)]
    t.equal(
      await asked(
        one,
        () => one.views.put(ENDED),
        (isPut) => isPut,
      ),
      true,
    )
    t.same(await got(other, 'vid_1'), ENDED)
    t.equal(await other.views.get('vid_2'), null)
  })

  t.test(`${kind}: a late write based on an early read changes nothing`, async (t) => {
    const one = await open(t, await openTestRedis(t, kind))
    await put(one, ENDED)
    t.equal(await put(one, view('pending'), view('in_progress')), true)
    t.same(await got(one, 'vid_1'), ENDED)
  })

  t.test(`${kind}: a Redis that restarts empty gets the views that it missed`, async (t) => {
    const redis = await openTestRedis(t, kind)
    const { views, state } = await open(t, redis, () => 0)
    await views.put(view('in_progress'))
    await redis.kill()
    t.equal(await views.put(ENDED), false)
    t.equal(await views.put(view('in_progress')), false)
    await redis.start()
    t.ok(await state.whenReachable(10_000))
    // What a Redis that takes longer than calls wait for it has is asked for again.
    let found: VideoView | null = null
    await until(async () => (found = await views.get('vid_1')) !== null)
    t.same(found, ENDED)
  })
}

t.test('after an outage of Redis, its views of open jobs are not trusted for a while', async (t) => {
  const redis = await openTestRedis(t)
  let now = 0
  const one = await open(t, redis, () => now)
  await put(one, view('in_progress'), { ...ENDED, id: 'vid_2' })
  t.equal(await one.views.get('vid_1'), null)
  t.same(await got(one, 'vid_2'), { ...ENDED, id: 'vid_2' })
  // It may have been considered away once more by now, and is doubted again.
  const believed = (): Promise<VideoView | null> => ((now += VIDEO_VIEW_DOUBT_MS), one.views.get('vid_1'))
  t.same(await asked(one, believed, (found) => found !== null), view('in_progress'))
})

t.test('views of open jobs expire sooner than views of ended jobs', async (t) => {
  const one = await open(t, await openTestRedis(t))
  const { state } = one
  await put(one, view('pending'), { ...ENDED, id: 'vid_2' })
  const kept = async (id: string): Promise<number> => state.redis.pttl(`sluice:video:{${id}}`)
  const [openMs, endedMs] = [await kept('vid_1'), await kept('vid_2')]
  t.ok(openMs > VIDEO_VIEW_OPEN_MS / 2 && openMs <= VIDEO_VIEW_OPEN_MS, `${openMs} ms`)
  t.ok(endedMs > VIDEO_VIEW_ENDED_MS / 2 && endedMs <= VIDEO_VIEW_ENDED_MS, `${endedMs} ms`)
})

t.test('ignores a text that is not a view, and the view of another job', async (t) => {
  const { views, state } = await open(t, await openTestRedis(t))
  const strange = [
    '',
    '2',
    '2{',
    '2null',
    '2[]',
    `2${JSON.stringify({ ...ENDED, outputs: -1 })}`,
    `2${JSON.stringify({ ...ENDED, status: 'done' })}`,
    `2${JSON.stringify({ ...ENDED, id: 'vid_2' })}`,
  ]
  for (const text of strange) {
    await state.redis.set('sluice:video:{vid_1}', text)
    t.equal(await views.get('vid_1'), null, text)
  }
})

t.test('a read from a frozen Redis ends soon, and then Redis counts as unavailable', async (t) => {
  const redis = await openTestRedis(t)
  const { views, state } = await open(t, redis)
  redis.freeze()
  t.teardown(() => redis.thaw())
  t.equal(await views.get('vid_1'), null)
  t.equal(state.isReachable, false, `after ${VIDEO_VIEW_MS_MAX} ms`)
  t.equal(await views.put(ENDED), false)
})

t.test('a process keeps a limited number of views for an unavailable Redis', async (t) => {
  const redis = await openTestRedis(t)
  const { views, state } = await open(t, redis)
  await redis.kill()
  for (let n = 0; n < VIDEO_VIEWS_LATE_MAX + 10; n++) void views.put(view('pending', { id: `vid_${n}` }))
  await redis.start()
  t.ok(await state.whenReachable(10_000))
  await until(async () => (await state.redis.dbsize()) >= VIDEO_VIEWS_LATE_MAX)
  t.equal(await state.redis.dbsize(), VIDEO_VIEWS_LATE_MAX)
})

/** A Redis that notes which views come together, and takes or refuses them. */
function notingState() {
  const reported = new Set<(isReachable: boolean) => void>()
  const parts: string[][] = []
  const fake = {
    parts,
    isReachable: false,
    refusal: null as Error | null,
    slowMs: 0,
    redis: {
      pipeline() {
        const part: string[] = []
        return {
          evalsha: (_sha: string, _keys: number, _key: string, text: string) => void part.push(text),
          async exec() {
            if (fake.slowMs > 0)
              await new Promise((resolve) => fake.slowMs < Infinity && setTimeout(resolve, fake.slowMs))
            if (fake.refusal === null) parts.push(part)
            return part.map(() => [fake.refusal, 1])
          },
        }
      },
    },
    duplicate: () => ({ status: 'end', on: () => undefined, disconnect: () => undefined }),
    onChange: (one: (isReachable: boolean) => void) => (reported.add(one), () => void reported.delete(one)),
    answered: () => undefined,
    trip: () => undefined,
    comeBack() {
      fake.isReachable = true
      for (const one of reported) one(true)
    },
  }
  return fake
}

t.test('views that waited for Redis are put in batches, those of ended jobs first', async (t) => {
  const fake = notingState()
  const views = openVideoViews(fake as unknown as State)
  t.teardown(() => views.close())
  const openJobs = Array.from({ length: VIDEO_VIEWS_PUT_AT_ONCE }, (_, n) =>
    view('pending', { id: `vid_${n}` }),
  )
  t.equal(await views.putAll([...openJobs, { ...ENDED, id: 'vid_ended' }]), false)
  fake.comeBack()
  await new Promise((resolve) => setImmediate(resolve))
  t.same(
    fake.parts.map(({ length }) => length),
    [VIDEO_VIEWS_PUT_AT_ONCE, 1],
  )
  t.match(fake.parts[0]?.[0], 'vid_ended')
})

t.test('a view that Redis refuses while available is put with the next successful one', async (t) => {
  const fake = notingState()
  const views = openVideoViews(fake as unknown as State)
  t.teardown(() => views.close())
  fake.comeBack()
  fake.refusal = new Error('OOM command not allowed')
  t.equal(await views.put(ENDED), false)
  fake.refusal = null
  t.equal(await views.put(view('pending', { id: 'vid_2' })), true)
  await new Promise((resolve) => setImmediate(resolve))
  t.match(fake.parts.flat().join(), /vid_2.*vid_1/)
})

t.test('a Redis that is slow to store many views again does not count as unavailable', async (t) => {
  t.ok(VIDEO_VIEWS_AGAIN_MS_MAX > VIDEO_VIEW_MS_MAX)
  const fake = notingState()
  const views = openVideoViews(fake as unknown as State)
  t.teardown(() => views.close())
  let isTripped = false
  fake.trip = () => void (isTripped = true)
  fake.slowMs = 2 * VIDEO_VIEW_MS_MAX
  await views.put(ENDED)
  fake.comeBack()
  await until(() => fake.parts.length !== 0)
  t.equal(isTripped, false)
  t.equal(await views.putAll([ENDED], VIDEO_VIEWS_AGAIN_MS_MAX), true)
  // As late as its answer comes the loop may have been blocked: none does.
  fake.slowMs = Infinity
  t.equal(await views.putAll([ENDED]), false, 'a caller waits')
  t.equal(isTripped, true)
})

t.test('equal wake-ups of a turn are sent once, and invalid ones are ignored', async (t) => {
  const redis = await openTestRedis(t)
  const [one, other] = [await open(t, redis), await open(t, redis)]
  const reported: VideoWake[] = []
  let isReceived = false
  // One of those sent until the first arrived may still come.
  other.views.onWake((what) => void (what.kind === 'webhooks' ? (isReceived = true) : reported.push(what)))
  await until('the wake is heard', () => {
    if (!isReceived) one.views.wake({ kind: 'webhooks' })
    return isReceived
  })
  for (const text of ['', 'null', '{"kind":"jobs"}', '{"kind":"cancelled","id":7}', '{"kind":"else"}'])
    await one.state.redis.publish('sluice:videos', text)
  for (let n = 0; n < 100; n++) one.views.wake({ kind: 'jobs', provider: 'openai' })
  one.views.wake({ kind: 'cancelled', id: 'vid_1' })
  await until(() => reported.some(({ kind }) => kind === 'cancelled'))
  t.same(reported, [
    { kind: 'jobs', provider: 'openai' },
    { kind: 'cancelled', id: 'vid_1' },
  ])
})

t.test('a process that only wakes others does not subscribe', async (t) => {
  const redis = await openTestRedis(t)
  const { state, views } = await open(t, redis)
  const subscribers = () => state.redis.pubsub('NUMSUB', 'sluice:videos')
  const received: unknown[] = []
  views.wake({ kind: 'webhooks' })
  t.same(await subscribers(), ['sluice:videos', 0])
  views.onWake((what) => void received.push(what))
  await until(async () => (await subscribers())[1] === 1)
  views.wake({ kind: 'webhooks' })
  await until(() => received.length === 1)
  t.same(received, [{ kind: 'webhooks' }])
})
