import t from 'tap'
import { scripted, videoWorld } from '../../../support/videos/video-world.ts'

t.test('a job is submitted, polled, stored and completed, and its clients see each state', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  world.add({ id: 'a' })
  world.runner()
  await world.clock.advance(500)
  t.equal(world.views.get('a')?.status, 'in_progress')
  await world.clock.advance(2_000)
  t.same(provider.calls, ['submit a', 'poll up-a', 'download a'])
  t.match(world.rows.get('a')?.end, { kind: 'completed', clips: [{ objectId: 'a-0-1-0' }] })
  t.equal(world.views.get('a')?.status, 'completed')
})

t.test('a wake-up makes a runner claim a job long before the next sweep', async (t) => {
  const provider = scripted('tokens')
  const world = videoWorld([provider])
  world.runner()
  await world.clock.advance(10)
  world.add({ id: 'a' })
  world.wake({ kind: 'jobs', provider: 'tokens' })
  await world.clock.advance(50)
  t.same(provider.calls, ['submit a'])
})
