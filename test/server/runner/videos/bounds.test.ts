import t from 'tap'
import * as limits from '../../../../src/schemas/videos/video-limits.ts'
import { backoffMs } from '../../../../src/server/runner/videos/engine-deps.ts'
import { scripted, videoWorld } from '../../../support/videos/video-world.ts'

t.test('waits after failures grow from the shortest to the longest, and are never zero', async (t) => {
  for (const random of [() => 0, () => 0.999]) {
    const waits = [0, 1, 2, 5, 20, 1_000].map((fails) => backoffMs({ random }, fails))
    t.ok(waits.every((ms) => ms >= limits.VIDEO_BACKOFF_FIRST_MS / 2 && ms <= limits.VIDEO_BACKOFF_MAX_MS))
    t.same(
      waits,
      [...waits].sort((a, b) => a - b),
    )
  }
})

t.test('a job without a wake-up is found by the next sweep', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  world.runner()
  await world.clock.advance(3_000)
  world.add({ id: 'a' })
  await world.clock.advance(limits.VIDEO_SWEEP_MS * 1.5)
  t.equal(provider.calls[0], 'submit a')
})

t.test('polls and downloads have a time limit', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  const left: number[] = []
  provider.onPoll = (_id, _order, { endsAt }) => {
    left.push(endsAt - world.clock.now())
    return { kind: 'made', sources: [{ kind: 'content', index: 0 }] }
  }
  provider.onDownload = (_order, { endsAt }) => {
    left.push(endsAt - world.clock.now())
    return { ok: false, failure: { name: 'video_clip_gone' } }
  }
  world.add({ id: 'a' })
  world.runner()
  await world.clock.advance(3_000)
  t.same(left, [limits.VIDEO_CALL_MS_MAX, limits.VIDEO_STORE_MS_MAX])
})

t.test('a claim takes several jobs of a provider, and never more than a runner may hold', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  const rooms: number[] = []
  const claim = world.work.claim.bind(world.work)
  world.work.claim = (room, leaseMs) => {
    rooms.push(room.get('tokens') ?? 0)
    return claim(room, leaseMs)
  }
  provider.onPoll = () => ({ kind: 'running', retryInMs: 600_000 })
  const count = limits.VIDEO_HELD_MAX + 300
  for (let n = 0; n < count; n++) world.add({ id: `job-${n}`, state: 'running', upstreamId: `up-${n}` })
  // Every poll at once: this is about claims.
  const runner = world.runner()
  await world.clock.advance(12_000)
  t.equal(Math.max(...rooms), limits.VIDEO_CLAIMED_AT_ONCE)
  t.ok(runner.held.running <= limits.VIDEO_HELD_MAX)
})
