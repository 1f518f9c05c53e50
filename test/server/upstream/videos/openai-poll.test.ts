import t, { type Test } from 'tap'
import { VIDEO_CREDENTIAL_RETRY_MS } from '../../../../src/schemas/videos/video-provider-limits.ts'
import {
  VIDEO_GONE_MS,
  VIDEO_GONE_WATCHED_MAX,
  GoneWatch,
} from '../../../../src/server/upstream/videos/poll-verdict.ts'
import {
  openVideos,
  orderOf,
  timesOf,
  type VideoStand,
  type VideoStandOptions,
} from '../../../support/videos/video-stand.ts'

interface Taken extends VideoStand {
  readonly id: string
  readonly order: ReturnType<typeof orderOf>
}

async function taken(t: Test, prompt: string, options: VideoStandOptions = {}): Promise<Taken> {
  const stand = await openVideos(t, options)
  const order = orderOf(prompt)
  const submitted = await stand.provider.submit(order, timesOf())
  if (submitted.kind !== 'taken') throw new Error(submitted.error)
  return { ...stand, order, id: submitted.upstreamId }
}

t.test('a job counts as running until the provider reports it as finished', async (t) => {
  const { provider, order, id } = await taken(t, 'a fox [make=60000]')
  t.same(await provider.poll(order, id, timesOf()), { kind: 'running', retryInMs: null })
  const { provider: other, order: made, id: at } = await taken(t, 'a fox [make=0]')
  t.same(await other.poll(made, at, timesOf()), { kind: 'made', sources: [{ kind: 'content', index: 0 }] })
})

t.test('the cost that a provider reports changes nothing', async (t) => {
  for (const cost of ['-5', 'NaN', '1e308']) {
    const { provider, order, id } = await taken(t, `a fox [make=0 cost=${cost}]`)
    t.equal((await provider.poll(order, id, timesOf())).kind, 'made')
  }
})

t.test('a failed job has a reason that omits its prompt', async (t) => {
  const { provider, order, id } = await taken(t, 'a fox in the snow [make=0 fail]')
  const polled = await provider.poll(order, id, timesOf())
  t.match(polled, {
    kind: 'failed',
    error: /^provider_filtered: Fake reported that the job has failed: Blocked/,
  })
  t.notMatch(polled, { error: /fox/ })
})

t.test('a provider that hangs gives no result, and the next poll may succeed', async (t) => {
  const { fake, provider, order, id } = await taken(t, 'a fox [make=0]')
  fake.set({ hangs: true })
  t.match(await provider.poll(order, id, timesOf({ ms: 100 })), { kind: 'unavailable', retryInMs: null })
  fake.set({ hangs: false })
  t.equal((await provider.poll(order, id, timesOf())).kind, 'made')
})

t.test('makes no call for a job that is not ours any more', async (t) => {
  const { fake, provider, order, id } = await taken(t, 'a fox')
  const before = fake.heads.length
  t.equal((await provider.poll(order, id, timesOf({ mayWrite: () => false }))).kind, 'unavailable')
  t.equal(fake.heads.length, before)
})

t.test('a refused key is tried again later', async (t) => {
  const { fake, provider, order, id } = await taken(t, 'a fox')
  fake.set({ key: 'another' })
  t.match(await provider.poll(order, id, timesOf()), {
    kind: 'unavailable',
    retryInMs: VIDEO_CREDENTIAL_RETRY_MS,
  })
})

t.test('a job that its provider does not know fails once that has lasted VIDEO_GONE_MS', async (t) => {
  let now = 0
  const { provider } = await openVideos(t, { more: { now: () => now } })
  const order = orderOf('a fox')
  t.equal((await provider.poll(order, 'video_x', timesOf())).kind, 'unavailable')
  now = VIDEO_GONE_MS - 1
  t.equal((await provider.poll(order, 'video_x', timesOf())).kind, 'unavailable')
  now = VIDEO_GONE_MS
  t.match(await provider.poll(order, 'video_x', timesOf()), {
    kind: 'failed',
    error: 'provider_failed: Fake no longer knows the job.',
  })
})

t.test('an answer with the id of another job gives no result', async (t) => {
  const { fake, provider, order, id } = await taken(t, 'a fox [make=0]')
  const jobs = fake.jobs as Map<string, unknown>
  jobs.set(id, { ...fake.jobs.get(id), id: 'video_other' })
  t.equal((await provider.poll(order, id, timesOf())).kind, 'unavailable')
})

t.test('a job that is cancelled is deleted at its provider', async (t) => {
  const { fake, provider, order, id } = await taken(t, 'a fox')
  await provider.cancel(order, id, timesOf())
  t.same(fake.log.cancels, [id])
})

t.test('the number of watched unknown jobs is limited, and the oldest are forgotten', async (t) => {
  let now = 0
  const gone = new GoneWatch(() => now)
  for (let nth = 0; nth <= VIDEO_GONE_WATCHED_MAX; nth++) gone.isGone(`${nth}`)
  now = VIDEO_GONE_MS
  t.equal(gone.isGone('1'), true)
  t.equal(gone.isGone('0'), false)
})
