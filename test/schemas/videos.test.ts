import { Compile } from 'typebox/compile'
import t from 'tap'
import { VIDEO_ENDINGS, VIDEO_STATUSES } from '../../src/schemas/videos/video-jobs.ts'
import { VideoAnswer, videoAnswer, VideoEvent } from '../../src/schemas/videos/videos.ts'
import { webhookBody } from '../../src/schemas/webhooks/webhook-body.ts'

const ORIGIN = 'https://sluice.example'
const answer = Compile(VideoAnswer)
const event = Compile(VideoEvent)

t.test(
  'an answer has the shape that clients validate, in every state, and only the cost may be null',
  async (t) => {
    for (const status of VIDEO_STATUSES) {
      for (const usage of [null, { costNano: null, isByok: false }, { costNano: 1, isByok: true }]) {
        const made = videoAnswer(
          { id: 'vid_1', status, generationId: null, error: null, outputs: 2, usage },
          ORIGIN,
        )
        t.ok(answer.Check(made), status)
        t.same(
          Object.values(made).filter((value) => value === null || value === undefined),
          [],
        )
      }
    }
  },
)

t.test('a polling URL is relative, and URLs of clips are absolute', async (t) => {
  const made = videoAnswer(
    {
      id: 'vid_1',
      status: 'completed',
      generationId: 'gen_1',
      error: null,
      outputs: 2,
      usage: { costNano: 1, isByok: false },
    },
    ORIGIN,
  )
  t.equal(made.polling_url, '/api/v1/videos/vid_1')
  t.same(
    made.unsigned_urls,
    [0, 1].map((index) => `${ORIGIN}/api/v1/videos/vid_1/content?index=${index}`),
  )
  t.equal(made.usage?.cost, 1e-9)
})

t.test('the webhook body of every final state matches the documented schema', async (t) => {
  for (const status of VIDEO_ENDINGS) {
    for (const generationId of [null, 'gen_1']) {
      const ended = {
        id: 'vid_1',
        status,
        endedAt: new Date(0),
        generationId,
        model: 'm',
        error: null,
        outputs: 1,
        costNano: null,
        isByok: false,
      }
      t.ok(event.Check(JSON.parse(webhookBody(ended, ORIGIN))), status)
    }
  }
})
