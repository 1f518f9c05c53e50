import t from 'tap'
import * as limits from '../../../../src/schemas/videos/video-limits.ts'
import { scripted, VIDEO, videoWorld } from '../../../support/videos/video-world.ts'

const RUNNING = { kind: 'running', retryInMs: null } as const
const made = (count: number) => ({
  kind: 'made' as const,
  sources: Array.from({ length: count }, (_, index) => ({ kind: 'content' as const, index })),
})

t.test(
  'polls start soon, become rarer as a job gets older, and are never rarer than the provider wants',
  async (t) => {
    const provider = scripted('tokens')
    const at: number[] = []
    const world = videoWorld([provider], { random: () => 0 })
    provider.onPoll = () => {
      at.push(world.clock.now())
      return RUNNING
    }
    world.add({ id: 'a' })
    world.runner()
    await world.clock.advance(120_000)
    const gaps = at.slice(1).map((when, n) => when - (at[n] ?? 0))
    t.ok((at[0] ?? 0) < 1_000 + VIDEO.pollFirstMs + 50)
    t.same(
      gaps,
      [...gaps].sort((a, b) => a - b),
    )
    t.ok((gaps[0] ?? 0) < 1_100)
    t.equal(gaps.at(-1), VIDEO.pollMaxMs)
  },
)

t.test('the wait that a provider asks for is respected up to a maximum', async (t) => {
  const provider = scripted('tokens')
  let polls = 0
  const world = videoWorld([provider])
  provider.onPoll = () => ({ kind: 'running', retryInMs: polls++ === 0 ? 50_000 : 1e12 })
  world.add({ id: 'a' })
  world.runner()
  await world.clock.advance(50_000)
  t.equal(polls, 1)
  await world.clock.advance(3_000)
  t.equal(polls, 2)
  await world.clock.advance(limits.VIDEO_RETRY_AFTER_MS_MAX + 1_000)
  t.equal(polls, 3)
})

t.test('a row counts the polls of its job, including those by the previous runner', async (t) => {
  const provider = scripted('tokens')
  let polls = 0
  provider.onPoll = () => (++polls < 15 ? RUNNING : made(1))
  const world = videoWorld([provider])
  world.add({ id: 'a' })
  const first = world.runner()
  await world.clock.advance(20_000)
  const before = world.rows.get('a')?.polls ?? 0
  t.ok(before > 0 && before <= polls && polls < 15, `${before} of ${polls}`)
  await Promise.all([first.close(1_000), world.clock.advance(1_000)])
  t.equal(world.rows.get('a')?.polls, polls)
  world.runner()
  await world.clock.advance(120_000)
  t.equal(world.rows.get('a')?.state, 'completed')
  t.equal(world.rows.get('a')?.polls, 15)
})

t.test('an unavailable job is polled less and less often, and continues', async (t) => {
  const provider = scripted('tokens')
  let polls = 0
  provider.onPoll = () =>
    ++polls < 6 ? { kind: 'unavailable', retryInMs: null, error: 'HTTP 503' } : made(1)
  const world = videoWorld([provider])
  world.add({ id: 'a' })
  world.runner()
  await world.clock.advance(20_000)
  t.ok(polls < 6)
  await world.clock.advance(120_000)
  t.equal(world.rows.get('a')?.state, 'completed')
})

t.test('a job that the provider reports as failed fails, at no cost', async (t) => {
  const provider = scripted('tokens')
  provider.onPoll = () => ({ kind: 'failed', error: 'provider_failed: moderated' })
  const world = videoWorld([provider])
  world.add({ id: 'a' })
  world.runner()
  await world.clock.advance(3_000)
  t.same(world.rows.get('a')?.end, {
    kind: 'failed',
    error: 'provider_failed: moderated',
    mayHaveCost: false,
  })
})

for (const count of [0, limits.VIDEO_CLIPS_MAX + 1]) {
  t.test(`a job for which the provider made ${count} clips fails`, async (t) => {
    const provider = scripted('tokens')
    provider.onPoll = () => made(count)
    const world = videoWorld([provider])
    world.add({ id: 'a' })
    world.runner()
    await world.clock.advance(3_000)
    t.match(world.rows.get('a')?.end, { kind: 'failed', error: /^provider_invalid: /, mayHaveCost: true })
  })
}

t.test('only granted polls are made, and the next ones when the budget allows', async (t) => {
  const provider = scripted('tokens', { concurrency: 100 })
  provider.onPoll = () => RUNNING
  const world = videoWorld([provider])
  let free = 3
  const asked: number[] = []
  world.polls = {
    liveRunners: 1,
    async take(_provider, _perSecond, want) {
      asked.push(want)
      const granted = Math.min(free, want)
      free -= granted
      return { granted, retryAfterMs: granted < want ? 500 : 0 }
    },
  }
  const polls = () => provider.calls.filter((call) => call.startsWith('poll')).length
  for (let n = 0; n < 20; n++) world.add({ id: `job-${n}`, state: 'running', upstreamId: `up-${n}` })
  world.runner()
  await world.clock.advance(400)
  t.equal(polls(), 3)
  t.same(asked, [20])
  free = 5
  await world.clock.advance(300)
  t.equal(polls(), 8)
})

t.test('when polls are scarce, jobs of a small workspace do not wait for those of a big one', async (t) => {
  const provider = scripted('tokens', { concurrency: 100 })
  provider.onPoll = () => RUNNING
  const world = videoWorld([provider])
  world.polls = { liveRunners: 1, take: async () => ({ granted: 1, retryAfterMs: 100 }) }
  for (let n = 0; n < 100; n++)
    world.add({ id: `big-${n}`, workspaceId: 'big', state: 'running', upstreamId: `big-${n}` })
  world.add({ id: 'small', workspaceId: 'small', state: 'running', upstreamId: 'small' })
  world.runner()
  await world.clock.advance(500)
  t.ok(provider.calls.indexOf('poll small') <= 1, provider.calls.join())
})

t.test('with more jobs than the provider lets us poll, each is polled less often', async (t) => {
  const provider = scripted('tokens', { concurrency: 100, pollsPerSecond: 2 })
  provider.onPoll = () => RUNNING
  const world = videoWorld([provider], { random: () => 0 })
  world.polls = {
    liveRunners: 2,
    take: async (_provider, _perSecond, want) => ({ granted: want, retryAfterMs: 0 }),
  }
  for (let n = 0; n < 40; n++) world.add({ id: `job-${n}`, state: 'running', upstreamId: `up-${n}` })
  world.runner()
  await world.clock.advance(39_000)
  t.equal(provider.calls.length, 40)
  await world.clock.advance(2_000)
  t.equal(provider.calls.length, 80)
})

t.test('a provider that never answers does not delay the jobs of others', async (t) => {
  const hanging = scripted('hangs', { concurrency: 8 })
  const good = scripted('tokens')
  const world = videoWorld([hanging, good])
  const never = (times: { readonly endsAt: number }) =>
    new Promise<void>((resolve) => void world.clock.after(times.endsAt - world.clock.now(), resolve))
  hanging.onSubmit = async (_order, times) => never(times).then(() => ({ kind: 'unknown', error: 'timeout' }))
  hanging.onPoll = async (_id, _order, times) =>
    never(times).then(() => ({ kind: 'unavailable', retryInMs: null, error: 'timeout' }))
  for (let n = 0; n < 300; n++)
    world.add({
      id: `hangs-${n}`,
      provider: 'hangs',
      ...(n % 2 === 0 ? {} : { state: 'running', upstreamId: `up-${n}` }),
    })
  for (let n = 0; n < 100; n++) world.add({ id: `good-${n}` })
  world.runner()
  await world.clock.advance(4_000)
  t.equal([...world.rows.values()].filter(({ state }) => state === 'completed').length, 100)
})

t.test('ten thousand waiting jobs share one timer', async (t) => {
  const provider = scripted('tokens', { concurrency: 1_000 })
  provider.onPoll = () => ({ kind: 'running', retryInMs: 300_000 })
  const world = videoWorld([provider])
  for (let n = 0; n < 10_000; n++) world.add({ id: `job-${n}`, state: 'running', upstreamId: `up-${n}` })
  const runner = world.runner()
  await world.clock.advance(20_000)
  t.equal(runner.held.running, 10_000)
  t.ok(world.clock.waiting <= 4, `${world.clock.waiting} timers`)
})

t.test(
  'at a provider that allows one call at a time, endless submissions do not block polls, and polls do not block submissions',
  async (t) => {
    const provider = scripted('tokens', { concurrency: 1 })
    const world = videoWorld([provider])
    const slowly = async <T>(answer: T): Promise<T> => {
      await new Promise<void>((resolve) => void world.clock.after(300, resolve))
      return answer
    }
    provider.onSubmit = ({ jobId }) =>
      slowly(
        jobId === 'a'
          ? { kind: 'taken', upstreamId: 'up-a' }
          : { kind: 'unsent', retryInMs: 0, error: 'full' },
      )
    provider.onPoll = () => slowly({ kind: 'running', retryInMs: null })
    world.add({ id: 'a' })
    world.runner()
    await world.clock.advance(1_000)
    for (let n = 0; n < 300; n++) world.add({ id: `job-${n}` })
    await world.clock.advance(60_000)
    const polls = provider.calls.filter((call) => call === 'poll up-a').length
    t.ok(polls > 5, `polled ${polls} times`)
    t.ok(provider.calls.length - polls > 100)
  },
)

t.test('a clip whose address exceeds the maximum fails the job', async (t) => {
  const provider = scripted('tokens')
  provider.onPoll = () => ({
    kind: 'made',
    sources: [{ kind: 'url', url: `https://clips.test/${'x'.repeat(limits.VIDEO_URL_CHARS_MAX)}` }],
  })
  const world = videoWorld([provider])
  world.add({ id: 'a' })
  world.runner()
  await world.clock.advance(5_000)
  t.match(world.rows.get('a'), {
    made: null,
    end: { kind: 'failed', error: /^provider_invalid: /, mayHaveCost: true },
  })
})
