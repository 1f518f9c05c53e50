import t from 'tap'
import { VIDEO_ENDINGS } from '../../src/schemas/videos/video-jobs.ts'
import { webhookBody, type EndedVideo } from '../../src/schemas/webhooks/webhook-body.ts'

const ENDED: EndedVideo = {
  id: 'vid_1',
  status: 'completed',
  endedAt: new Date('2026-11-20T12:00:00.250Z'),
  generationId: 'gen_1',
  model: 'acme/clip',
  error: null,
  outputs: 2,
  costNano: 1,
  isByok: true,
}
const ORIGIN = 'https://sluice.test:8443'

function reported(
  more: Partial<EndedVideo>,
): Record<string, unknown> & { readonly data: Record<string, unknown> } {
  return JSON.parse(webhookBody({ ...ENDED, ...more }, ORIGIN)) as ReturnType<typeof reported>
}

t.test('the body of a completed job has its clips and its cost, and no error', async (t) => {
  t.same(reported({}), {
    type: 'video.generation.completed',
    created_at: '2026-11-20T12:00:00.250Z',
    data: {
      id: 'vid_1',
      status: 'completed',
      generation_id: 'gen_1',
      model: 'acme/clip',
      usage: { cost: 1e-9, is_byok: true },
      unsigned_urls: [0, 1].map(
        (index) => `https://sluice.test:8443/api/v1/videos/vid_1/content?index=${index}`,
      ),
    },
  })
})

t.test('the body of every other final state has its error, and neither clips nor cost', async (t) => {
  for (const status of VIDEO_ENDINGS.filter((ending) => ending !== 'completed')) {
    const { type, data } = reported({ status, error: 'acme: no', outputs: 0 })
    t.equal(type, `video.generation.${status}`)
    t.same(data, { id: 'vid_1', status, generation_id: 'gen_1', model: 'acme/clip', error: 'acme: no' })
  }
})

t.test('a job that no provider has accepted has neither generation nor model', async (t) => {
  t.match(reported({ status: 'failed', generationId: null, error: 'e' }).data, {
    generation_id: null,
    model: null,
  })
})

t.test('the cost of a job without a price is null', async (t) => {
  t.same(reported({ costNano: null }).data['usage'], { cost: null, is_byok: true })
})
