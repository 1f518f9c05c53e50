import t from 'tap'
import * as limits from '../../../../src/schemas/videos/video-limits.ts'
import { scripted, videoWorld } from '../../../support/videos/video-world.ts'

/** A world with one job whose submission had no answer. */
function doubtful() {
  const provider = scripted('tokens', { submit: 'lookup' })
  provider.onSubmit = () => ({ kind: 'unknown', error: 'reset' })
  provider.onPoll = () => ({ kind: 'running', retryInMs: null })
  const world = videoWorld([provider])
  world.add({ id: 'a' })
  return { provider, world, submits: () => provider.calls.filter((call) => call === 'submit a').length }
}

const SURELY_MS = 20_000 + limits.VIDEO_LOOKUP_QUIET_MS

t.test('a job that the provider lists is adopted, and not submitted again', async (t) => {
  const { provider, world, submits } = doubtful()
  provider.onLookup = () => ({ kind: 'complete', upstreamIds: ['up-a'] })
  world.runner()
  await world.clock.advance(200_000)
  t.match(world.rows.get('a'), { state: 'running', upstreamId: 'up-a' })
  t.equal(submits(), 1)
})

t.test('a partial list is enough to adopt a job', async (t) => {
  const { provider, world } = doubtful()
  provider.onLookup = () => ({ kind: 'partial', upstreamIds: ['up-a'] })
  world.runner()
  await world.clock.advance(5_000)
  t.equal(world.rows.get('a')?.upstreamId, 'up-a')
})

t.test('looks up a job that another runner left in submission, and does not submit it', async (t) => {
  const { provider, world, submits } = doubtful()
  world.add({
    id: 'a',
    state: 'submitting',
    submissions: 1,
    submittedAtMs: world.rows.get('a')?.createdAtMs ?? 0,
  })
  provider.onLookup = () => ({ kind: 'complete', upstreamIds: ['up-a'] })
  world.runner()
  await world.clock.advance(1_000)
  t.equal(world.rows.get('a')?.upstreamId, 'up-a')
  t.equal(submits(), 0)
})

t.test(
  "a job is submitted again when a complete list lacks it, 60 s after the call's deadline at the earliest",
  async (t) => {
    const { provider, world, submits } = doubtful()
    world.runner()
    await world.clock.advance(SURELY_MS - 1_000)
    t.equal(submits(), 1)
    t.ok(provider.calls.filter((call) => call === 'lookup a').length > 1)
    provider.onSubmit = () => ({ kind: 'taken', upstreamId: 'up-2' })
    await world.clock.advance(3_000)
    t.equal(submits(), 2)
    t.equal(world.rows.get('a')?.upstreamId, 'up-2')
  },
)

t.test(
  'a list requested before the job is certain to be in it causes no new submission, however late it arrives',
  async (t) => {
    const { provider, world, submits } = doubtful()
    const endsAt: number[] = []
    let askedAt = 0
    provider.onLookup = async () => {
      askedAt = world.clock.now()
      await new Promise<void>((resolve) => void world.clock.after(10_000, resolve))
      return { kind: 'complete', upstreamIds: [] }
    }
    provider.onSubmit = (_order, times) => {
      if (endsAt.push(times.endsAt) > 1) return { kind: 'taken', upstreamId: 'up-2' }
      return { kind: 'unknown', error: 'reset' }
    }
    world.runner()
    for (let ms = 0; submits() < 2 && ms < 200_000; ms += 100) await world.clock.advance(100)
    t.equal(submits(), 2)
    t.ok(askedAt >= (endsAt[0] ?? Infinity) + limits.VIDEO_LOOKUP_QUIET_MS)
  },
)

t.test('the wait is shorter for a provider whose list is always up to date', async (t) => {
  const { provider, world, submits } = doubtful()
  Object.assign(provider.video, { lookupQuietMs: 0 })
  world.runner()
  await world.clock.advance(22_000)
  t.equal(submits(), 2)
})

for (const kind of ['partial', 'unavailable'] as const) {
  t.test(`a job is never submitted again for a list that is ${kind}, and expires`, async (t) => {
    const { provider, world, submits } = doubtful()
    provider.onLookup = () => (kind === 'partial' ? { kind, upstreamIds: [] } : { kind, error: 'HTTP 500' })
    Object.assign(world.rows.get('a') ?? {}, {
      expiresAtMs: (world.rows.get('a')?.createdAtMs ?? 0) + 600_000,
    })
    world.runner()
    await world.clock.advance(599_000)
    t.equal(submits(), 1)
    await world.clock.advance(5_000)
    t.equal(world.rows.get('a')?.state, 'expired')
    t.equal(submits(), 1)
  })
}

t.test('jobs of other rows are skipped, also when another row takes one in the meantime', async (t) => {
  const { provider, world } = doubtful()
  world.add({ id: 'b', state: 'running', upstreamId: 'up-b', leaseUntil: Infinity })
  provider.onLookup = () => ({ kind: 'complete', upstreamIds: ['up-b', 'up-c', 'up-d'] })
  world.fault = (method) => {
    // Between the question which are owned and the taking of one.
    if (method === 'submitted' && !world.rows.has('c'))
      world.add({ id: 'c', state: 'running', upstreamId: 'up-c', leaseUntil: Infinity })
    return 'none'
  }
  world.runner()
  await world.clock.advance(5_000)
  t.equal(world.rows.get('a')?.upstreamId, 'up-d')
})

t.test('a list with only jobs of other rows counts as empty', async (t) => {
  const { provider, world, submits } = doubtful()
  world.add({ id: 'b', state: 'running', upstreamId: 'up-b', leaseUntil: Infinity })
  provider.onLookup = () => ({ kind: 'complete', upstreamIds: ['up-b'] })
  world.runner()
  await world.clock.advance(SURELY_MS + 5_000)
  t.ok(submits() >= 2)
  t.notOk(world.calls.includes('submitted'), 'the index need not refuse what a look has shown')
})

t.test("a row that got another row's job from the provider looks up its own", async (t) => {
  const { provider, world, submits } = doubtful()
  world.add({ id: 'b', state: 'running', upstreamId: 'up-a', leaseUntil: Infinity })
  provider.onSubmit = () => ({ kind: 'taken', upstreamId: 'up-a' })
  provider.onLookup = () => ({ kind: 'complete', upstreamIds: ['up-a', 'up-b'] })
  world.runner()
  await world.clock.advance(5_000)
  t.match(world.rows.get('a'), { state: 'running', upstreamId: 'up-b' })
  t.equal(submits(), 1)
})

t.test("the list starts before the submission, by the provider's maximum clock lag", async (t) => {
  const { provider, world } = doubtful()
  let since = 0
  provider.onLookup = (_order, sinceMs) => {
    since = sinceMs
    return { kind: 'complete', upstreamIds: ['up-a'] }
  }
  world.runner()
  await world.clock.advance(5_000)
  t.equal(since, (world.rows.get('a')?.submittedAtMs ?? 0) - limits.VIDEO_LOOKUP_SKEW_MS)
})
