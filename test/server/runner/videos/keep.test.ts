import t from 'tap'
import { fail, ok, type FailureName } from '../../../../src/schemas/failures.ts'
import * as limits from '../../../../src/schemas/videos/video-limits.ts'
import { bytesOf, scripted, videoWorld } from '../../../support/videos/video-world.ts'

const SOURCES = [
  { kind: 'content' as const, index: 0 },
  { kind: 'content' as const, index: 1 },
]

/** A world with one job that its provider has made. */
function madeWorld(sources = SOURCES.slice(0, 1)) {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  world.add({ id: 'a', state: 'storing', upstreamId: 'up-a', made: { sources } })
  return { provider, world }
}

for (const name of ['upstream_failed', 'upstream_slow'] as const) {
  t.test(`a clip that cannot be fetched is retried until the job expires: ${name}`, async (t) => {
    const { provider, world } = madeWorld()
    provider.onDownload = () => fail(name)
    Object.assign(world.rows.get('a') ?? {}, {
      expiresAtMs: (world.rows.get('a')?.createdAtMs ?? 0) + 900_000,
    })
    world.runner()
    await world.clock.advance(890_000)
    t.equal(world.rows.get('a')?.state, 'storing')
    await world.clock.advance(15_000)
    t.equal(world.rows.get('a')?.state, 'expired')
  })
}

for (const name of ['upstream_invalid', 'destination_refused', 'video_clip_gone'] satisfies FailureName[]) {
  t.test(`a result that no retry can fix fails the job: ${name}`, async (t) => {
    const { provider, world } = madeWorld()
    provider.onDownload = () => fail(name)
    world.runner()
    await world.clock.advance(1_000)
    t.match(world.rows.get('a')?.end, { kind: 'failed', error: /^result_invalid: /, mayHaveCost: true })
    t.same(provider.calls, ['download a'])
  })
}

for (const name of ['deadline_exceeded', 'internal'] satisfies FailureName[]) {
  t.test(
    `a clip that crashes the thread that renders it is tried VIDEO_STORE_TRIES_MAX times: ${name}`,
    async (t) => {
      const { provider, world } = madeWorld()
      provider.onDownload = () => fail(name)
      world.runner()
      await world.clock.advance(600_000)
      t.match(world.rows.get('a')?.end, { kind: 'failed', error: /^result_invalid: / })
      t.equal(provider.calls.length, limits.VIDEO_STORE_TRIES_MAX)
    },
  )
}

for (const name of ['video_clip_invalid', 'file_too_large', 'file_empty'] satisfies FailureName[]) {
  t.test(`bytes that are not a clip fail the job: ${name}`, async (t) => {
    const { world } = madeWorld()
    world.onStore = () => fail(name)
    world.runner()
    await world.clock.advance(1_000)
    t.match(world.rows.get('a')?.end, { kind: 'failed', error: /^result_invalid: /, mayHaveCost: true })
  })
}

for (const name of [
  'storage_full',
  'storage_unavailable',
  'busy',
  'data_key_unavailable',
] satisfies FailureName[]) {
  t.test(`an internal failure does not fail the job: ${name}`, async (t) => {
    const { world } = madeWorld()
    let tries = 0
    const stored = world.onStore
    world.onStore = (input) => (++tries < 20 ? fail(name) : stored(input))
    world.runner()
    await world.clock.advance(900_000)
    t.equal(world.rows.get('a')?.state, 'completed')
  })
}

t.test('a clip whose download breaks off repeatedly fails its job', async (t) => {
  const { world } = madeWorld()
  world.onStore = () => fail('upstream_failed')
  world.runner()
  await world.clock.advance(60_000)
  t.equal(world.stored.length, limits.VIDEO_STORE_TRIES_MAX)
  t.match(world.rows.get('a')?.end, { kind: 'failed', error: /^result_invalid: .*is incomplete$/ })
})

t.test('each try writes its own object, and a stored clip is not stored again', async (t) => {
  const { world } = madeWorld(SOURCES)
  const stored = world.onStore
  let tries = 0
  world.onStore = (input) => (++tries === 2 || tries === 3 ? fail('storage_unavailable') : stored(input))
  world.runner()
  await world.clock.advance(10_000)
  t.equal(new Set(world.stored).size, 4)
  t.ok(world.stored.every((id) => /^[A-Za-z0-9_-]{1,128}$/.test(id)))
  t.same(
    world.stored.map((id) => id.split('-')[1]),
    ['0', '1', '1', '1'],
  )
  t.match(world.rows.get('a')?.end, { kind: 'completed', clips: { length: 2 } })
})

t.test('another runner that takes the job over stores under other names', async (t) => {
  const { world } = madeWorld()
  world.fault = (method) => (method === 'end' || method === 'renew' ? 'lost' : 'none')
  world.runner()
  await world.clock.advance(limits.VIDEO_LEASE_MS * 3)
  t.ok(world.stored.length > 1)
  t.equal(new Set(world.stored).size, world.stored.length)
})

t.test('an end that was booked without an answer is not undone, and clients of the job see it', async (t) => {
  const { world } = madeWorld()
  let ends = 0
  world.fault = (method) => (method === 'end' && ends++ === 0 ? 'unheard' : 'none')
  world.runner()
  await world.clock.advance(limits.VIDEO_RENEW_ROUND_MS * 3)
  t.equal(world.rows.get('a')?.state, 'completed')
  t.equal(world.views.get('a')?.status, 'completed')
  t.equal(world.calls.filter((call) => call === 'end').length, 2)
})

t.test('the clips of a few jobs of a provider are fetched at once, and the other jobs wait', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  let [busy, most] = [0, 0]
  provider.onDownload = async () => {
    most = Math.max(most, ++busy)
    await new Promise<void>((resolve) => void world.clock.after(1_000, resolve))
    busy--
    return ok(bytesOf('clip'))
  }
  for (let n = 0; n < 30; n++)
    world.add({
      id: `job-${n}`,
      state: 'storing',
      upstreamId: `up-${n}`,
      made: { sources: SOURCES.slice(0, 1) },
    })
  world.runner()
  await world.clock.advance(10_000)
  t.equal(most, limits.VIDEO_STORES_MAX)
  t.ok([...world.rows.values()].every(({ state }) => state === 'completed'))
})
