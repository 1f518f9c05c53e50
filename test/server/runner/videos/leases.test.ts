import t from 'tap'
import * as limits from '../../../../src/schemas/videos/video-limits.ts'
import { POSTGRES_AHEAD_MS, scripted, videoWorld } from '../../../support/videos/video-world.ts'

const RUNNING = { kind: 'running', retryInMs: null } as const

/** A world with a job that its provider makes for ever. */
function running() {
  const provider = scripted('tokens')
  provider.onPoll = () => RUNNING
  const world = videoWorld([provider])
  const row = world.add({ id: 'a', state: 'running', upstreamId: 'up-a' })
  return { provider, world, row }
}

t.test('a job stays held as long as the store answers', async (t) => {
  const { world, row } = running()
  world.runner()
  for (let second = 0; second < 100; second++) {
    await world.clock.advance(1_000)
    t.ok(row.leaseUntil > world.clock.now(), 'no other runner may take it')
  }
  t.equal(row.attempt, 1)
})

t.test(
  'a process that is suspended beyond its lease makes no call and no write, and another runner has the job',
  async (t) => {
    const { provider, world, row } = running()
    world.runner()
    await world.clock.advance(3_000)
    const calls = provider.calls.length
    world.clock.stall(20_000)
    // Another runner has taken it meanwhile.
    Object.assign(row, { attempt: 2, leaseUntil: Infinity })
    world.calls.length = 0
    await world.clock.advance(30_000)
    t.equal(provider.calls.length, calls)
    t.notOk(
      world.calls.some((call) =>
        ['made', 'end', 'submitting', 'submitted', 'unsubmitted', 'release', 'renew'].includes(call),
      ),
    )
    t.equal(row.attempt, 2)
  },
)

t.test('a process that was suspended keeps its jobs if no other runner took them', async (t) => {
  const { world, row } = running()
  const runner = world.runner()
  await world.clock.advance(3_000)
  world.clock.stall(30_000)
  await world.clock.advance(5_000)
  t.equal(row.attempt, 2)
  t.equal(runner.held.running, 1)
})

t.test('a temporary outage of the store loses no job and crashes nothing', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  for (let n = 0; n < 20; n++) world.add({ id: `job-${n}` })
  world.fault = () => 'lost'
  world.runner()
  await world.clock.advance(60_000)
  world.fault = () => 'none'
  await world.clock.advance(60_000)
  t.ok([...world.rows.values()].every(({ state }) => state === 'completed'))
})

t.test('without renewal of its leases, a runner stops work on jobs before the leases end', async (t) => {
  const { provider, world, row } = running()
  world.runner()
  await world.clock.advance(1_000)
  world.fault = () => 'lost'
  const leaseUntil = row.leaseUntil
  let latest = 0
  provider.onPoll = () => {
    latest = world.clock.now()
    return RUNNING
  }
  await world.clock.advance(60_000)
  t.ok(latest > 0)
  t.ok(latest <= leaseUntil - 7_777_777 - limits.VIDEO_LEASE_MARGIN_MS)
})

t.test('releases a job when its renewal reports another holder', async (t) => {
  const { provider, world, row } = running()
  const runner = world.runner()
  await world.clock.advance(1_000)
  Object.assign(row, { attempt: 9, leaseUntil: Infinity })
  await world.clock.advance(limits.VIDEO_LEASE_MS)
  const calls = provider.calls.length
  await world.clock.advance(60_000)
  t.equal(provider.calls.length, calls)
  t.equal(runner.held.running, 0)
})

t.test('ignores an answer to a claim that took as long as the lease', async (t) => {
  const { provider, world } = running()
  const claim = world.work.claim.bind(world.work)
  let claims = 0
  world.work.claim = async (...ask) => {
    const answer = await claim(...ask)
    if (claims++ === 0) world.clock.stall(limits.VIDEO_LEASE_MS)
    return answer
  }
  world.runner()
  await world.clock.advance(10)
  t.same(provider.calls, [])
  await world.clock.advance(5_000)
  t.ok(provider.calls.length > 0)
})

for (const [state, more] of [
  ['accepted', {}],
  ['submitting', { submissions: 1, submittedAtMs: 0 }],
  ['running', { upstreamId: 'up-a' }],
  ['storing', { upstreamId: 'up-a', made: { sources: [{ kind: 'content', index: 0 }] } }],
] as const) {
  t.test(`a job expires at its deadline, and its provider is asked to stop it: ${state}`, async (t) => {
    const provider = scripted('tokens', { submit: 'lookup' })
    const world = videoWorld([provider])
    provider.onSubmit = () => ({ kind: 'unsent', retryInMs: 600_000, error: '' })
    provider.onPoll = () => ({ kind: 'running', retryInMs: 600_000 })
    provider.onLookup = () => ({ kind: 'partial', upstreamIds: [] })
    world.onStore = () => ({ ok: false, failure: { name: 'storage_unavailable' } })
    const row = world.add({ id: 'a', state, ...more })
    Object.assign(row, { expiresAtMs: row.createdAtMs + 90_000 })
    world.runner()
    await world.clock.advance(89_000)
    t.equal(row.end, null)
    await world.clock.advance(4_000)
    t.match(row.end, { kind: 'expired', error: /^expired: / })
    t.equal(provider.calls.includes('cancel up-a'), 'upstreamId' in more)
    t.equal(world.views.get('a')?.status, 'expired')
  })

  t.test(`a cancelled job is released, and its provider is asked to stop it: ${state}`, async (t) => {
    const provider = scripted('tokens', { submit: 'lookup' })
    const world = videoWorld([provider])
    provider.onSubmit = () => ({ kind: 'unsent', retryInMs: 600_000, error: '' })
    provider.onPoll = () => ({ kind: 'running', retryInMs: 600_000 })
    provider.onLookup = () => ({ kind: 'partial', upstreamIds: [] })
    world.onStore = () => ({ ok: false, failure: { name: 'storage_unavailable' } })
    world.add({ id: 'a', state, ...more })
    const runner = world.runner()
    await world.clock.advance(5_000)
    world.cancel('a')
    world.wake({ kind: 'cancelled', id: 'a' })
    await world.clock.advance(1)
    t.same(
      Object.values(runner.held).reduce((sum, count) => sum + count),
      0,
    )
    const calls = provider.calls.filter((call) => !call.startsWith('cancel')).length
    await world.clock.advance(60_000)
    t.equal(provider.calls.filter((call) => !call.startsWith('cancel')).length, calls)
    t.equal(provider.calls.includes('cancel up-a'), 'upstreamId' in more)
  })
}

t.test(
  'a job that is cancelled during its submission is stopped by the id that the provider then returns',
  async (t) => {
    const provider = scripted('tokens')
    const world = videoWorld([provider])
    provider.onSubmit = async () => {
      await new Promise<void>((resolve) => void world.clock.after(1_000, resolve))
      return { kind: 'taken', upstreamId: 'late' }
    }
    world.add({ id: 'a' })
    world.runner()
    await world.clock.advance(500)
    world.cancel('a')
    world.wake({ kind: 'cancelled', id: 'a' })
    await world.clock.advance(2_000)
    t.same(provider.calls, ['submit a', 'cancel late'])
    t.equal(world.rows.get('a')?.state, 'cancelled')
  },
)

t.test('a failure to ask a provider to stop a job does not end the process', async (t) => {
  const provider = scripted('tokens')
  provider.onPoll = () => ({ kind: 'running', retryInMs: null })
  let asked = 0
  provider.cancel = () => {
    asked++
    return Promise.reject(new Error('the key cannot be read'))
  }
  const world = videoWorld([provider])
  world.add({ id: 'a' })
  world.runner()
  await world.clock.advance(1_000)
  world.cancel('a')
  world.wake({ kind: 'cancelled', id: 'a' })
  await world.clock.advance(1_000)
  t.equal(asked, 1)
})

t.test('a cancellation without a wake-up is found, and the provider is asked to stop the job', async (t) => {
  const { provider, world } = running()
  world.runner()
  await world.clock.advance(1_000)
  world.cancel('a')
  await world.clock.advance(limits.VIDEO_LEASE_MS + limits.VIDEO_RENEW_ROUND_MS)
  t.ok(provider.calls.includes('cancel up-a'))
})

t.test('a closing runner releases its jobs, lets running calls end, and starts nothing', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  provider.onPoll = () => RUNNING
  provider.onSubmit = async ({ jobId }) => {
    await new Promise<void>((resolve) => void world.clock.after(2_000, resolve))
    return { kind: 'taken', upstreamId: `up-${jobId}` }
  }
  world.add({ id: 'a' })
  world.add({ id: 'b', state: 'running', upstreamId: 'up-b' })
  const runner = world.runner()
  await world.clock.advance(500)
  let isClosed = false
  void runner.close(20_000).then(() => {
    isClosed = true
  })
  await world.clock.advance(100)
  t.ok(
    (world.rows.get('b')?.leaseUntil ?? Infinity) <= world.clock.now() + 7_777_777,
    'another may have it now',
  )
  t.notOk(isClosed)
  world.add({ id: 'c' })
  await world.clock.advance(3_000)
  t.ok(isClosed)
  t.match(world.rows.get('a'), { state: 'running', upstreamId: 'up-a' })
  t.equal(world.rows.get('c')?.attempt, 0)
})

t.test('a closing runner does not wait longer than its limit', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  provider.onSubmit = () => new Promise(() => undefined)
  world.add({ id: 'a' })
  const runner = world.runner()
  await world.clock.advance(500)
  let isClosed = false
  void runner.close(5_000).then(() => {
    isClosed = true
  })
  await world.clock.advance(5_001)
  t.ok(isClosed)
})

t.test('two runners share the jobs, and no job is done twice', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  for (let n = 0; n < 500; n++) world.add({ id: `job-${n}` })
  const [one, other] = [world.runner(), world.runner()]
  await world.clock.advance(60_000)
  t.equal(provider.calls.filter((call) => call.startsWith('submit')).length, 500)
  t.ok([...world.rows.values()].every(({ state }) => state === 'completed'))
  t.same(
    [one.held, other.held].map(({ running: held }) => held),
    [0, 0],
  )
})

t.test('leaves a young job of an unknown provider for a runner that knows the provider', async (t) => {
  const world = videoWorld([scripted('tokens')])
  const row = world.add({ id: 'a', provider: 'new' })
  world.runner()
  await world.clock.advance(60_000)
  t.equal(row.state, 'accepted')
  t.ok(row.attempt > 1)
})

t.test('an old job of an unknown provider fails', async (t) => {
  const world = videoWorld([scripted('tokens')])
  const row = world.add({ id: 'a', provider: 'gone' })
  world.runner()
  await world.clock.advance(limits.VIDEO_UNKNOWN_PROVIDER_MS + 2 * limits.VIDEO_UNKNOWN_LOOK_MS)
  t.match(row.end, { kind: 'failed', error: /^provider_gone: /, mayHaveCost: false })
})

t.test('all views are put at the start and when Redis is available again', async (t) => {
  const { world } = running()
  const count = limits.VIDEO_VIEWS_PUT_AT_ONCE + 10
  for (let n = 0; n < count; n++) world.add({ id: `ended-${n}`, state: 'failed' })
  const runner = world.runner()
  await world.clock.advance(limits.VIDEO_VIEWS_PAUSE_MS * 3)
  t.equal(world.views.size, count + 1)
  world.views.clear()
  runner.refreshViews()
  await world.clock.advance(limits.VIDEO_VIEWS_PAUSE_MS * 3)
  t.equal(world.views.size, count + 1)
})

t.test('a lease with a late renewal counts from the time of the request', async (t) => {
  const { provider, world } = running()
  let [askedAt, latest] = [Infinity, 0]
  world.fault = (method) => {
    if (askedAt < Infinity) return 'lost'
    if (method === 'renew') {
      askedAt = world.clock.now()
      world.clock.stall(6_000)
    }
    return 'none'
  }
  provider.onPoll = () => {
    latest = world.clock.now()
    return RUNNING
  }
  world.runner()
  await world.clock.advance(60_000)
  t.ok(latest > askedAt)
  t.ok(latest <= askedAt + limits.VIDEO_LEASE_MS - limits.VIDEO_LEASE_MARGIN_MS)
})

t.test('a claim that is answered at the end of its lease is void', async (t) => {
  const { provider, world } = running()
  world.fault = (method) => {
    if (method === 'claim' && world.counted.length === 0)
      world.clock.stall(limits.VIDEO_LEASE_MS - limits.VIDEO_LEASE_MARGIN_MS)
    return 'none'
  }
  const runner = world.runner()
  await world.clock.advance(50)
  t.same(world.counted, ['claimed tokens 1', 'lost 1'])
  t.equal(runner.held.running, 0)
  t.same(provider.calls, [])
})

for (const [method, polled] of [
  ['made', { kind: 'made', sources: [{ kind: 'content', index: 0 }] }],
  ['end', { kind: 'failed', error: 'e' }],
] as const) {
  t.test(`makes no store call for a job whose lease ended during a store outage: ${method}`, async (t) => {
    const { provider, world, row } = running()
    world.runner()
    await world.clock.advance(500)
    provider.onPoll = () => polled
    let latest = 0
    world.fault = (asked) => {
      if (asked === method) latest = world.clock.now()
      return 'lost'
    }
    await world.clock.advance(120_000)
    t.ok(latest > 0)
    t.ok(latest < row.leaseUntil - POSTGRES_AHEAD_MS - limits.VIDEO_LEASE_MARGIN_MS)
  })
}

t.test('an expired job that another runner holds now is not stopped at its provider', async (t) => {
  const { provider, world, row } = running()
  Object.assign(row, { expiresAtMs: row.createdAtMs + 5_000 })
  world.fault = (method) => {
    // Taken over between the look at its lease and the write.
    if (method === 'end') Object.assign(row, { attempt: 7, leaseUntil: Infinity })
    return 'none'
  }
  world.runner()
  await world.clock.advance(20_000)
  t.ok(world.calls.includes('end'))
  t.notOk(provider.calls.includes('cancel up-a'))
})

t.test('a job whose expiry the store did not confirm is still stopped at its provider', async (t) => {
  const { provider, world, row } = running()
  Object.assign(row, { expiresAtMs: row.createdAtMs + 5_000 })
  world.fault = (method) => (method === 'end' ? 'unheard' : 'none')
  world.runner()
  await world.clock.advance(20_000)
  t.equal(row.state, 'expired')
  t.ok(provider.calls.includes('cancel up-a'))
})

t.test('a job with an unanswered write continues at once, not when its lease is over', async (t) => {
  const { provider, world, row } = running()
  provider.onPoll = () => ({ kind: 'made', sources: [{ kind: 'content', index: 0 }] })
  let writes = 0
  world.fault = (method) => (method === 'made' && writes++ === 0 ? 'unheard' : 'none')
  world.runner()
  await world.clock.advance(3_000)
  t.equal(row.state, 'completed')
})
