import t from 'tap'
import { ok } from '../../../../src/schemas/failures.ts'
import * as limits from '../../../../src/schemas/videos/video-limits.ts'
import { VIDEO_IMAGES_MS } from '../../../../src/schemas/videos/video-provider-limits.ts'
import type { VideoOrder } from '../../../../src/server/ports/videos/video-providers.ts'
import { bytesOf, POSTGRES_AHEAD_MS, scripted, videoWorld } from '../../../support/videos/video-world.ts'

const submits = (calls: readonly string[]): number => calls.filter((call) => call.startsWith('submit')).length

t.test('a refusal of the provider fails the job at once, with its message and without cost', async (t) => {
  const provider = scripted('tokens')
  provider.onSubmit = () => ({ kind: 'refused', error: 'moderated: the prompt is not allowed' })
  const world = videoWorld([provider])
  world.add({ id: 'a' })
  world.runner()
  await world.clock.advance(1_000)
  t.same(world.rows.get('a')?.end, {
    kind: 'failed',
    error: 'moderated: the prompt is not allowed',
    mayHaveCost: false,
  })
  const ended = world.log.events.filter(({ event }) => event === 'video.ended')
  t.match(ended, [{ fields: { id: 'a', status: 'failed', failure: 'moderated' } }])
  t.notMatch(JSON.stringify(ended), 'not allowed')
  t.equal(submits(provider.calls), 1)
})

t.test('a long text of a provider is shortened', async (t) => {
  const provider = scripted('tokens')
  provider.onSubmit = () => ({ kind: 'refused', error: 'x'.repeat(5_000) })
  const world = videoWorld([provider])
  world.add({ id: 'a' })
  world.runner()
  await world.clock.advance(1_000)
  t.equal(world.views.get('a')?.error?.length, limits.VIDEO_ERROR_CHARS_MAX)
})

for (const submit of ['token', 'lookup', 'blind'] as const) {
  t.test(
    `a submission that was certainly not sent is repeated after the wait that the provider asks for: ${submit}`,
    async (t) => {
      const provider = scripted('tokens', { submit })
      let tries = 0
      provider.onSubmit = ({ jobId }) =>
        tries++ === 0
          ? { kind: 'unsent', retryInMs: 5_000, error: '' }
          : { kind: 'taken', upstreamId: `up-${jobId}` }
      const world = videoWorld([provider])
      world.add({ id: 'a' })
      world.runner()
      await world.clock.advance(4_900)
      t.equal(world.rows.get('a')?.state, 'accepted')
      t.equal(submits(provider.calls), 1)
      await world.clock.advance(1_000)
      t.equal(world.rows.get('a')?.state, 'running')
    },
  )
}

t.test('a Retry-After of a year is cut to the maximum', async (t) => {
  const provider = scripted('tokens')
  let tries = 0
  provider.onSubmit = () =>
    tries++ === 0
      ? { kind: 'unsent', retryInMs: 31_536_000_000, error: '' }
      : { kind: 'taken', upstreamId: 'up' }
  const world = videoWorld([provider])
  world.add({ id: 'a' })
  world.runner()
  await world.clock.advance(limits.VIDEO_RETRY_AFTER_MS_MAX + 1_000)
  t.equal(submits(provider.calls), 2)
})

t.test('token: after an unknown outcome, sends the same token until the provider answers', async (t) => {
  const provider = scripted('tokens')
  const tokens: string[] = []
  provider.onSubmit = ({ submitToken }) => {
    tokens.push(submitToken)
    return tokens.length < 4 ? { kind: 'unknown', error: 'reset' } : { kind: 'taken', upstreamId: 'up' }
  }
  const world = videoWorld([provider])
  world.add({ id: 'a' })
  world.runner()
  await world.clock.advance(30_000)
  t.same(tokens, ['token-a', 'token-a', 'token-a', 'token-a'])
  t.match(world.rows.get('a'), { state: 'completed', submissions: 4 })
})

t.test(
  'blind: an unknown outcome ends the job without another submission, and is marked as a possible cost',
  async (t) => {
    const provider = scripted('tokens', { submit: 'blind' })
    provider.onSubmit = () => ({
      kind: 'unknown',
      error: 'provider_outcome_unknown: the answer did not come',
    })
    const world = videoWorld([provider])
    world.add({ id: 'a' })
    world.runner()
    await world.clock.advance(200_000)
    t.same(world.rows.get('a')?.end, {
      kind: 'failed',
      error: 'provider_outcome_unknown: the answer did not come',
      mayHaveCost: true,
    })
    t.equal(submits(provider.calls), 1)
  },
)

t.test('blind: a job that another runner left in submission ends without a call', async (t) => {
  const provider = scripted('tokens', { submit: 'blind' })
  const world = videoWorld([provider])
  world.add({ id: 'a', state: 'submitting', submissions: 1 })
  world.runner()
  await world.clock.advance(1_000)
  t.match(world.rows.get('a')?.end, {
    kind: 'failed',
    error: /^provider_outcome_unknown: /,
    mayHaveCost: true,
  })
  t.same(provider.calls, [])
})

t.test('token: a job that another runner left in submission is submitted with its token', async (t) => {
  const provider = scripted('tokens')
  let token = ''
  provider.onSubmit = (order) => {
    token = order.submitToken
    return { kind: 'taken', upstreamId: 'up' }
  }
  const world = videoWorld([provider])
  world.add({ id: 'a', state: 'submitting', submissions: 1, submitToken: 'its own' })
  world.runner()
  await world.clock.advance(500)
  t.equal(token, 'its own')
  t.equal(world.rows.get('a')?.state, 'running')
})

for (const submit of ['token', 'blind'] as const) {
  t.test(`a job for which the provider returns the id of another job fails: ${submit}`, async (t) => {
    const provider = scripted('tokens', { submit })
    provider.onSubmit = () => ({ kind: 'taken', upstreamId: 'the same' })
    provider.onPoll = () => ({ kind: 'running', retryInMs: null })
    const world = videoWorld([provider])
    world.add({ id: 'a' })
    world.runner()
    await world.clock.advance(500)
    world.add({ id: 'b' })
    await world.clock.advance(2_000)
    t.equal(world.rows.get('a')?.state, 'running')
    t.match(world.rows.get('b')?.end, { kind: 'failed', error: /^provider_invalid: /, mayHaveCost: true })
  })
}

t.test('a row has the state `submitting` before the call is made', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  let state: unknown
  provider.onSubmit = () => {
    state = world.rows.get('a')?.state
    return { kind: 'taken', upstreamId: 'up' }
  }
  world.add({ id: 'a' })
  world.runner()
  await world.clock.advance(500)
  t.equal(state, 'submitting')
})

t.test('a call that is too late because the process was suspended is not made', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  world.add({ id: 'a' })
  world.fault = (method) => {
    // It stands still between the write and the call.
    if (method === 'submitting') world.clock.stall(limits.VIDEO_LEASE_MS - limits.VIDEO_LEASE_MARGIN_MS)
    return 'none'
  }
  world.runner()
  await world.clock.advance(1)
  t.same(provider.calls, [])
  t.equal(world.rows.get('a')?.submitEndsAtMs, null, 'the row says that nothing went out')
})

t.test('no more calls to a provider run at once than it allows', async (t) => {
  const provider = scripted('tokens', { concurrency: 4 })
  let [busy, most] = [0, 0]
  const world = videoWorld([provider])
  const slowly = async <T>(answer: T): Promise<T> => {
    most = Math.max(most, ++busy)
    await new Promise<void>((resolve) => void world.clock.after(300, resolve))
    busy--
    return answer
  }
  provider.onSubmit = ({ jobId }) => slowly({ kind: 'taken', upstreamId: `up-${jobId}` })
  provider.onPoll = () => slowly({ kind: 'running', retryInMs: null })
  for (let n = 0; n < 40; n++) world.add({ id: `job-${n}` })
  world.runner()
  await world.clock.advance(20_000)
  t.equal(most, 4)
  t.ok([...world.rows.values()].every(({ state }) => state === 'running'))
})

t.test('the clock of Postgres may differ from ours, because the two are never compared', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  const row = world.add({ id: 'a' })
  t.equal(row.createdAtMs, world.clock.now() + POSTGRES_AHEAD_MS)
  provider.onPoll = () => ({ kind: 'running', retryInMs: null })
  world.runner()
  await world.clock.advance(60_000)
  t.equal(world.rows.get('a')?.state, 'running')
})

t.test('large request parts are read for the call that sends them, and not kept for others', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  const attached = {
    frames: [{ frame: 'first_frame' as const, url: 'data:image/png;base64,AAAA' }],
    references: [],
    passthrough: { tone: 'warm' },
  }
  const seen: unknown[] = []
  const see = (call: string, { request: { frames, passthrough } }: VideoOrder): void =>
    void seen.push([call, frames.length, passthrough])
  provider.onSubmit = (order) => (see('submit', order), { kind: 'taken', upstreamId: 'up' })
  provider.onPoll = (_id, order) => (
    see('poll', order),
    { kind: 'made', sources: [{ kind: 'content', index: 0 }] }
  )
  provider.onDownload = (order) => (see('download', order), ok(bytesOf('clip')))
  world.add({ id: 'a', attached })
  world.runner()
  await world.clock.advance(10_000)
  t.equal(world.rows.get('a')?.state, 'completed')
  t.same(seen, [
    ['submit', 1, { tone: 'warm' }],
    ['poll', 0, {}],
    ['download', 1, { tone: 'warm' }],
  ])
})

t.test('a job that was cancelled while its call was prepared is not submitted', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  const { submit } = provider
  provider.submit = (order, times) => {
    world.cancel('a')
    world.wake({ kind: 'cancelled', id: 'a' })
    return submit(order, times)
  }
  world.add({ id: 'a' })
  world.runner()
  await world.clock.advance(20_000)
  t.same(provider.calls, [])
})

t.test('a call that is still being prepared when the runner has ended is not made', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  const { submit } = provider
  provider.submit = async (order, times) => {
    await new Promise<void>((resolve) => void world.clock.after(3_000, resolve))
    return submit(order, times)
  }
  world.add({ id: 'a' })
  const runner = world.runner()
  await world.clock.advance(500)
  const closed = runner.close(1_000)
  await world.clock.advance(5_000)
  await closed
  t.same(provider.calls, [])
})

t.test('a call still being prepared when its runner is cut off is left to another runner', async (t) => {
  const provider = scripted('tokens', { submit: 'blind' })
  const world = videoWorld([provider])
  const { submit } = provider
  provider.submit = async (order, times) => {
    await new Promise<void>((resolve) => void world.clock.after(8_000, resolve))
    return submit(order, times)
  }
  world.add({
    id: 'a',
    attached: {
      frames: [{ frame: 'first_frame', url: 'https://images.test/slow.png' }],
      references: [],
      passthrough: {},
    },
  })
  const runner = world.runner()
  await world.clock.advance(100)
  const closed = runner.close(10_000)
  await world.clock.advance(9_000)
  t.same(provider.calls, [])
  await closed
  t.match(world.rows.get('a'), { state: 'accepted', end: null })
})

for (const submit of ['token', 'lookup', 'blind'] as const) {
  t.test(`a submission is made although the answer to its write is lost: ${submit}`, async (t) => {
    const provider = scripted('tokens', { submit })
    const world = videoWorld([provider])
    let tries = 0
    world.fault = (method) => (method === 'submitting' && tries++ === 0 ? 'unheard' : 'none')
    world.add({ id: 'a' })
    world.runner()
    await world.clock.advance(20_000)
    t.equal(submits(provider.calls), 1)
    t.equal(world.rows.get('a')?.state, 'completed')
  })
}

for (const submit of ['token', 'lookup', 'blind'] as const) {
  t.test(`a job with late images is submitted with the full call time: ${submit}`, async (t) => {
    const provider = scripted('tokens', { submit })
    const world = videoWorld([provider])
    const { submit: send } = provider
    let leftMs = 0
    provider.submit = async (order, times) => {
      await new Promise<void>((resolve) => void world.clock.after(VIDEO_IMAGES_MS, resolve))
      leftMs = times.endsAt - world.clock.now()
      return send(order, times)
    }
    world.add({
      id: 'a',
      attached: {
        frames: [{ frame: 'first_frame', url: 'https://images.test/slow.png' }],
        references: [],
        passthrough: {},
      },
    })
    world.runner()
    await world.clock.advance(2 * VIDEO_IMAGES_MS)
    t.equal(submits(provider.calls), 1)
    t.equal(world.rows.get('a')?.state, 'completed')
    t.ok(leftMs > provider.video.submitTimeoutMs - limits.VIDEO_LEASE_MS)
  })

  t.test(`keeps the lease while the provider id cannot be saved, then saves it: ${submit}`, async (t) => {
    const provider = scripted('tokens', { submit })
    provider.onPoll = () => ({ kind: 'running', retryInMs: null })
    const world = videoWorld([provider])
    let isAway = false
    provider.onSubmit = () => {
      isAway = true
      return { kind: 'taken', upstreamId: 'up' }
    }
    world.fault = () => (isAway ? 'lost' : 'none')
    world.add({ id: 'a' })
    world.runner()
    await world.clock.advance(limits.VIDEO_LEASE_MS + 2_000)
    isAway = false
    await world.clock.advance(60_000)
    t.match(world.rows.get('a'), { state: 'running', upstreamId: 'up', submissions: 1, end: null })
    t.equal(submits(provider.calls), 1)
  })
}
