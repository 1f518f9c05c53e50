import t, { type Test } from 'tap'
import { VIDEO_LOOKUP_PAGE_JOBS } from '../../../../src/schemas/videos/video-provider-limits.ts'
import type { VideoJob } from '../../../support/videos/video-words.ts'
import { openVideos, orderOf, timesOf, type VideoStand } from '../../../support/videos/video-stand.ts'
import { wordsIn } from '../../../support/videos/video-words.ts'
import { VIDEO_LOOKUP_PAGES_MAX } from '../../../../src/server/upstream/videos/openai-lookup.ts'

const LOOKUP = { video: { submit: 'lookup', tokenHeader: null } } as const

interface Listed extends VideoStand {
  /** From before its jobs were made, unless another instant is given. */
  look(sinceMs?: number, prompt?: string | null): Promise<unknown>
  readonly sinceMs: number
}

/** A stand whose provider has jobs, given oldest first. */
async function listed(t: Test, jobs: readonly Partial<VideoJob>[]): Promise<Listed> {
  const stand = await openVideos(t, LOOKUP)
  const madeMs = Date.now()
  jobs.forEach((job, nth) => {
    const made = {
      id: `video_${nth}`,
      model: 'film-1',
      prompt: 'a fox',
      words: wordsIn(''),
      createdMs: madeMs,
      doneMs: 0,
      remixOf: null,
    }
    const whole = { ...made, fields: { seconds: '4', size: '1280x720' }, ...job }
    const kept = stand.fake.jobs as Map<string, VideoJob>
    kept.set(whole.id, whole)
  })
  return {
    ...stand,
    sinceMs: madeMs,
    look: (sinceMs = madeMs, prompt = 'a fox') => stand.provider.lookup(orderOf(prompt), sinceMs, timesOf()),
  }
}

t.test('finds a job that matches ours, even though its submission got no answer', async (t) => {
  const { fake, provider } = await openVideos(t, LOOKUP)
  const order = orderOf('a fox [hang-up-after]')
  const sinceMs = Date.now() - 1_000
  t.equal((await provider.submit(order, timesOf())).kind, 'unknown')
  t.same(await provider.lookup(order, sinceMs, timesOf()), {
    kind: 'complete',
    upstreamIds: [...fake.jobs.keys()],
  })
})

t.test('a list that was read to its end without a match is complete', async (t) => {
  const { look } = await listed(t, [
    { prompt: 'a cat' },
    { model: 'film-2' },
    { model: 'film-1-pro' },
    { fields: { seconds: '8', size: '1280x720' } },
    { fields: { seconds: '4', size: '720x1280' } },
    { remixOf: 'video_9' },
  ])
  t.same(await look(), { kind: 'complete', upstreamIds: [] })
})

t.test('lists several matches newest first, and counts a dated model version as the model', async (t) => {
  const { look } = await listed(t, [{}, { model: 'film-1-2026-01-31' }])
  t.same(await look(), { kind: 'complete', upstreamIds: ['video_1', 'video_0'] })
})

t.test('a prompt that was returned trimmed or normalized still counts as ours', async (t) => {
  for (const [ours, theirs] of [
    ['  a fox\r\n\tat dawn ', 'a fox at dawn'],
    ['half \ud83d', 'half \ufffd'],
    ['cafe\u0301', 'caf\u00e9'],
  ] as const) {
    const { look } = await listed(t, [{ prompt: theirs }])
    t.same(await look(undefined, ours), { kind: 'complete', upstreamIds: ['video_0'] }, theirs)
  }
})

t.test('a remix is recognized by its prompt and its source', async (t) => {
  const fields = { seconds: '12', size: '720x1280' }
  const { provider, sinceMs } = await listed(t, [
    { remixOf: 'video_9', model: 'film-2', fields },
    { remixOf: 'video_8' },
    {},
  ])
  const order = orderOf('a fox', { request: { previousUpstreamId: 'video_9' } })
  t.same(await provider.lookup(order, sinceMs, timesOf()), { kind: 'complete', upstreamIds: ['video_0'] })
})

t.test(
  'jobs created before the submission are not ours, with a tolerance of one second for rounding',
  async (t) => {
    const sinceMs = Date.now()
    const { look } = await listed(t, [{ createdMs: sinceMs - 5_000 }, { createdMs: sinceMs }])
    t.same(await look(sinceMs), { kind: 'complete', upstreamIds: ['video_1'] })
  },
)

t.test('a list is read page by page, and no further than it has to be', async (t) => {
  const sinceMs = Date.now()
  const old = Array.from({ length: 5 * VIDEO_LOOKUP_PAGE_JOBS }, () => ({ createdMs: sinceMs - 1_000_000 }))
  const { fake, look } = await listed(t, [
    ...old,
    {},
    ...Array.from({ length: VIDEO_LOOKUP_PAGE_JOBS }, () => ({ prompt: 'a cat' })),
  ])
  t.same(await look(sinceMs), { kind: 'complete', upstreamIds: [`video_${old.length}`] })
  t.equal(fake.log.lists, 2)
})

t.test('a list that is too long to be read is not complete', async (t) => {
  const { fake, look } = await listed(
    t,
    Array.from({ length: VIDEO_LOOKUP_PAGES_MAX * VIDEO_LOOKUP_PAGE_JOBS + 1 }, (_, nth) => ({
      prompt: `${nth}`,
    })),
  )
  t.same(await look(), { kind: 'partial', upstreamIds: [] })
  t.equal(fake.log.lists, VIDEO_LOOKUP_PAGES_MAX)
})

t.test('a list without prompts is partial, because it cannot prove that our job is absent', async (t) => {
  const { look } = await listed(t, [{ prompt: null as unknown as string }])
  t.same(await look(), { kind: 'partial', upstreamIds: [] })
})

t.test('a list that is not in order is read to its end', async (t) => {
  const sinceMs = Date.now()
  const agesS = Array.from({ length: VIDEO_LOOKUP_PAGE_JOBS }, (_, nth) => VIDEO_LOOKUP_PAGE_JOBS - nth)
  const old = agesS.map((ageS) => ({ createdMs: sinceMs - 1_000_000 - 1_000 * ageS }))
  // The newest stand at the far end, as in a list that knows no order.
  const { look } = await listed(t, [{}, ...old.reverse()])
  t.same(await look(sinceMs), { kind: 'complete', upstreamIds: ['video_0'] })
})

t.test('a job that is not in the list yet is found once it is', async (t) => {
  const { fake, provider } = await openVideos(t, { ...LOOKUP, settings: { listLagMs: 60_000 } })
  const order = orderOf('a fox [hang-up-after]')
  const sinceMs = Date.now() - 1_000
  await provider.submit(order, timesOf())
  t.same(await provider.lookup(order, sinceMs, timesOf()), { kind: 'complete', upstreamIds: [] })
  fake.set({ listLagMs: 0 })
  t.same(await provider.lookup(order, sinceMs, timesOf()), {
    kind: 'complete',
    upstreamIds: [...fake.jobs.keys()],
  })
})

t.test('a provider that has no list, or closes the connection, gives no result', async (t) => {
  const { fake, provider } = await openVideos(t, { ...LOOKUP, settings: { lists: false } })
  t.match(await provider.lookup(orderOf('a'), 0, timesOf()), { kind: 'unavailable' })
  await fake.close()
  t.match(await provider.lookup(orderOf('a'), 0, timesOf()), { kind: 'unavailable' })
})
