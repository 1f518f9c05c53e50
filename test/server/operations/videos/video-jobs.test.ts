import t from 'tap'
import { fail } from '../../../../src/schemas/failures.ts'
import {
  VIDEO_ID_CHARS_MAX,
  VIDEOS_PAGE_DEFAULT,
  VIDEOS_PAGE_MAX,
} from '../../../../src/schemas/videos/video-limits.ts'
import { INTERN_KEY } from '../../../support/front.ts'
import type { MemoryVideos } from '../../../support/videos/memory-videos.ts'
import { CLIP, openVideosFront } from '../../../support/videos/videos-front.ts'

const ID = 'vid_1'

/** The status of an error and its type. */
const refused = (status: number, type: string): object => ({
  status,
  body: { error: { metadata: { error_type: type } }, user_id: null },
})

/** A completed job with one clip. */
function complete(videos: MemoryVideos, isExpired = false): void {
  const output = {
    jobId: ID,
    index: 0,
    objectId: 'o',
    workspaceId: 'w',
    dataKeyId: 'd',
    sizeBytes: CLIP.length,
    sha256: 'a'.repeat(64),
    createdAt: new Date(0),
  }
  const usage = { costNano: 250_000_000, isByok: false }
  videos.put(
    { id: ID, status: 'completed', generationId: 'gen_1', outputs: 1, usage },
    { outputs: [output], isExpired },
  )
}

t.test('video.get 200: returns the known members, and omits those that are null', async (t) => {
  const front = await openVideosFront(t)
  const polling = { id: ID, polling_url: `/api/v1/videos/${ID}` }
  front.videos.put({ id: ID })
  t.same((await front.call(`/videos/${ID}`)).body, { ...polling, status: 'pending' })
  front.videos.put({ id: ID, status: 'in_progress', generationId: 'gen_1' })
  t.same((await front.call(`/videos/${ID}`)).body, {
    ...polling,
    status: 'in_progress',
    generation_id: 'gen_1',
  })
  complete(front.videos)
  t.same((await front.call(`/videos/${ID}`)).body, {
    ...polling,
    status: 'completed',
    generation_id: 'gen_1',
    usage: { cost: 0.25, is_byok: false },
    unsigned_urls: [`https://sluice.example/api/v1/videos/${ID}/content?index=0`],
  })
})

t.test('video.get 200: a failed job, and an unknown cost', async (t) => {
  const front = await openVideosFront(t)
  front.videos.put({ id: ID, status: 'failed', error: 'provider_refused: it is not allowed' })
  t.match(await front.call(`/videos/${ID}`), {
    status: 200,
    body: { status: 'failed', error: 'provider_refused: it is not allowed' },
  })
  front.videos.put({ id: ID, status: 'completed', error: null, usage: { costNano: null, isByok: true } })
  t.match((await front.call(`/videos/${ID}`)).body, {
    unsigned_urls: [],
    usage: { cost: null, is_byok: true },
  })
})

t.test("video.get 404: unknown, another workspace's, and invalid ids", async (t) => {
  const front = await openVideosFront(t)
  front.videos.put({ id: ID, workspaceId: 'another' })
  for (const id of [ID, 'vid_nobody', '%ff', 'x'.repeat(VIDEO_ID_CHARS_MAX + 1)]) {
    const { status, body } = await front.call(`/videos/${id}`)
    t.match(
      { status, body },
      { status: 404, body: { error: { code: 404 }, sluice_metadata: null, user_id: null } },
      id,
    )
  }
})

t.test("video.get: an intern's key can read the jobs of its workspace", async (t) => {
  const front = await openVideosFront(t)
  front.videos.put({ id: ID })
  t.equal(
    (await front.call(`/videos/${ID}`, { headers: { authorization: `Bearer ${INTERN_KEY}` } })).status,
    200,
  )
})

t.test('video.get_content 200: returns the clip by range and by HEAD, as exactly video/mp4', async (t) => {
  const front = await openVideosFront(t)
  complete(front.videos)
  const whole = await front.call(`/videos/${ID}/content`)
  t.equal(whole.status, 200)
  t.ok(whole.bytes.equals(CLIP))
  t.equal(whole.headers.get('content-type'), 'video/mp4')
  t.equal(whole.headers.get('content-disposition'), `attachment; filename="${ID}-0.mp4"`)
  const part = await front.call(`/videos/${ID}/content?index=0`, { headers: { range: 'bytes=4-9' } })
  t.same(
    [part.status, part.headers.get('content-type'), part.bytes.toString()],
    [206, 'video/mp4', CLIP.subarray(4, 10).toString()],
  )
  const head = await front.call(`/videos/${ID}/content`, { method: 'HEAD' })
  t.same([head.status, head.headers.get('content-length')], [200, String(CLIP.length)])
  const known = await front.call(`/videos/${ID}/content`, {
    headers: { 'if-none-match': whole.headers.get('etag') ?? '' },
  })
  t.equal(known.status, 304)
  t.equal((await front.call(`/videos/${ID}/content`, { headers: { range: 'bytes=999-' } })).status, 416)
})

t.test('video.get_content 400: before the job has completed, and an invalid index', async (t) => {
  const front = await openVideosFront(t)
  front.videos.put({ id: ID, status: 'in_progress' })
  t.match(await front.call(`/videos/${ID}/content`), refused(400, 'video_unfinished'))
  for (const index of ['-1', '1.5', 'x', '']) {
    t.match(await front.call(`/videos/${ID}/content?index=${index}`), refused(400, 'query_invalid'), index)
  }
})

t.test('video.get_content 404, 410: an index beyond the last, an unknown job, an expired clip', async (t) => {
  const front = await openVideosFront(t)
  complete(front.videos, true)
  t.match(await front.call(`/videos/${ID}/content?index=1`), refused(404, 'video_output_unknown'))
  t.match(await front.call('/videos/vid_2/content'), refused(404, 'video_unknown'))
  t.match(await front.call(`/videos/${ID}/content`), refused(410, 'video_expired'))
})

t.test('video.get_content 500: a clip whose bytes are missing or damaged', async (t) => {
  for (const name of ['content_missing', 'content_damaged', 'storage_unavailable'] as const) {
    const front = await openVideosFront(t, {
      ports: { transfers: { openFile: () => Promise.resolve(fail(name)) } as never },
    })
    complete(front.videos)
    t.match(await front.call(`/videos/${ID}/content`), refused(500, name))
  }
})

t.test('video.list 200: newest first, in pages', async (t) => {
  const front = await openVideosFront(t)
  for (const id of ['vid_1', 'vid_2', 'vid_3']) front.videos.put({ id })
  front.videos.put({ id: 'vid_4', workspaceId: 'another' })
  const first = (await front.call('/videos?limit=2')).body
  t.match(first, { data: [{ id: 'vid_3' }, { id: 'vid_2' }], has_more: true, last_id: 'vid_2' })
  t.match((await front.call(`/videos?after=${first.last_id}`)).body, {
    data: [{ id: 'vid_1' }],
    has_more: false,
    last_id: 'vid_1',
  })
  t.same((await front.call('/videos?after=vid_1')).body, { data: [], has_more: false, last_id: null })
})

t.test('video.list 400: a page has a default and a maximum size', async (t) => {
  const front = await openVideosFront(t)
  for (let n = 100; n < 200; n++) front.videos.put({ id: `vid_${n}` })
  t.equal((await front.call('/videos')).body.data?.length, VIDEOS_PAGE_DEFAULT)
  t.equal((await front.call(`/videos?limit=${VIDEOS_PAGE_MAX}`)).body.data?.length, VIDEOS_PAGE_MAX)
  for (const limit of ['0', String(VIDEOS_PAGE_MAX + 1), 'x']) {
    t.match(await front.call(`/videos?limit=${limit}`), refused(400, 'query_invalid'))
  }
})

t.test('video.cancel 200: returns the cancelled job', async (t) => {
  const front = await openVideosFront(t)
  front.videos.put({ id: ID })
  t.match(await front.call(`/videos/${ID}`, { method: 'DELETE' }), {
    status: 200,
    body: { id: ID, status: 'cancelled' },
  })
})

t.test('video.cancel 400, 404: an ended job, and an unknown job', async (t) => {
  const front = await openVideosFront(t)
  complete(front.videos)
  t.match(await front.call(`/videos/${ID}`, { method: 'DELETE' }), refused(400, 'video_ended'))
  t.match(await front.call('/videos/vid_2', { method: 'DELETE' }), refused(404, 'video_unknown'))
})
