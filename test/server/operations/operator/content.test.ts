import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { fail, ok } from '../../../../src/schemas/failures.ts'
import { VIDEO_CLIP_BYTES_MAX } from '../../../../src/schemas/videos/video-limits.ts'
import type { ByteReader } from '../../../../src/server/ports/byte-streams.ts'
import { openAdmin } from '../../../../src/server/store/operator/open-admin.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { openVideoReads } from '../../../../src/server/store/videos/open-videos.ts'
import { createVideoClips } from '../../../../src/server/files/clips.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { box, CLIP } from '../../../support/videos/boxes.ts'
import { MANAGEMENT_KEY } from '../../../support/front.ts'
import { memoryVideos } from '../../../support/videos/memory-videos.ts'
import { must } from '../../../support/must.ts'
import { openTransfers } from '../../../support/files/transfers.ts'
import { MemoryViews } from '../../../support/videos/video-jobs.ts'
import { insertClips, insertVideo, videoId } from '../../../support/videos/video-rows.ts'
import { openVideosFront, type VideoReply } from '../../../support/videos/videos-front.ts'
import type { TransferDeps } from '../../../../src/server/files/object-writing.ts'

const LONG = Buffer.concat([CLIP, box('mdat', 300_000)])
const DONE = videoId(1)
const OPEN = videoId(2)
const OWNERS = { keyHash: 'k', keyAccountId: 'k' }

interface Stand {
  readonly store: Store
  readonly organizationId: string
  /** With a management key of the organization that the jobs are of, or of another one. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<VideoReply>
  foreign(path: string): Promise<VideoReply>
  /** While the audit log cannot be written. */
  unaudited(path: string): Promise<VideoReply>
}

/** A completed job with one clip that is stored for real, and an open one. */
async function stand(t: Test): Promise<Stand> {
  let deps: TransferDeps | null = null
  const { store, transfers, organizationId, workspaceId } = await openTransfers(t, {
    wrap: (made) => (deps = made),
  })
  if (deps === null) throw new Error('there are no parts')
  const owners = { ...OWNERS, organizationId, workspaceId }
  const clip = must(
    await createVideoClips(deps).store({
      workspaceId,
      objectId: `${DONE}-0-${randomBytes(4).toString('hex')}`,
      bytes: readerOf(LONG),
      bytesMax: VIDEO_CLIP_BYTES_MAX,
      signal: new AbortController().signal,
    }),
  )
  await insertClips(store, owners, DONE, [clip])
  await insertVideo(store, owners, { id: OPEN, provider: 'best' })
  const ports = {
    transfers,
    videos: { ...memoryVideos(), ...openVideoReads({ store, views: new MemoryViews() }) },
    admin: openAdmin({ store, operatorOrganization: null, version: 'v', wake: () => undefined }),
  }
  const front = await openVideosFront(t, { ports, keys: { organizationId: owners.organizationId } })
  const elsewhere = await openVideosFront(t, {
    ports,
    keys: { organizationId: '00000000-0000-7000-8000-000000000009' },
  })
  const noteClip = async () => fail('store_unavailable')
  const unaudited = await openVideosFront(t, {
    ports: { ...ports, admin: { ...ports.admin, noteClip } },
    keys: { organizationId: owners.organizationId },
  })
  const authorization = `Bearer ${MANAGEMENT_KEY}`
  return {
    store,
    organizationId: owners.organizationId,
    get: (path, headers = {}) =>
      front.call(`/admin/jobs/${path}`, { headers: { authorization, ...headers } }),
    unaudited: (path) => unaudited.call(`/admin/jobs/${path}`, { headers: { authorization } }),
    foreign: (path) => elsewhere.call(`/admin/jobs/${path}`, { headers: { authorization } }),
  }
}

function readerOf(bytes: Buffer): ByteReader {
  const left = [ok(bytes)]
  return { next: () => Promise.resolve(left.shift() ?? ok(null)), close: () => undefined }
}

function typeOf({ body }: VideoReply): string | undefined {
  return body.error?.metadata.error_type
}

t.test(
  'admin.get_job_content 200: returns a clip unchanged, whole and by ranges, with each read in the audit log',
  async (t) => {
    const { get, store, organizationId } = await stand(t)
    const whole = await get(`${DONE}/content?index=0`, { 'x-request-id': 'a-look' })
    t.same(
      [whole.status, whole.headers.get('content-type'), whole.bytes.equals(LONG)],
      [200, 'video/mp4', true],
    )
    const part = await get(`${DONE}/content`, { range: 'bytes=65535-131072' })
    t.same([part.status, part.bytes.equals(LONG.subarray(65_535, 131_073))], [206, true])
    const event = {
      organization_id: organizationId,
      operation: 'admin.get_job_content',
      outcome: 'released',
      object_kind: 'video_clip',
      object_id: DONE,
    }
    t.match(await auditOf(store), [
      { ...event, request_id: 'a-look', actor: { kind: 'key' }, after: { index: 0 } },
      event,
    ])
  },
)

t.test(
  'admin.get_job_content 400, 404, 410: open, unknown or foreign jobs, and expired clips; no refusal is audited',
  async (t) => {
    const { get, foreign, store } = await stand(t)
    const reply = async (answer: Promise<VideoReply>): Promise<readonly [number, string | undefined]> => [
      (await answer).status,
      typeOf(await answer),
    ]
    t.same(await reply(get(`${OPEN}/content`)), [400, 'video_unfinished'])
    t.same(await reply(get(`${DONE}/content?index=-1`)), [400, 'query_invalid'])
    t.same(await reply(get(`${DONE}/content?index=7`)), [404, 'video_output_unknown'])
    t.same(await reply(get(`${videoId(9)}/content`)), [404, 'video_unknown'])
    t.same(await reply(get('x/content')), [404, 'video_unknown'])
    t.same(await reply(foreign(`${DONE}/content`)), [404, 'video_unknown'])
    await store.sql`DELETE FROM video_clips`
    t.same(await reply(get(`${DONE}/content`)), [410, 'video_expired'])
    t.same(await auditOf(store), [])
  },
)

t.test('admin.get_job_content 500: returns no clip while the read cannot be audited', async (t) => {
  const { unaudited } = await stand(t)
  const reported = await unaudited(`${DONE}/content`)
  t.same([reported.status, typeOf(reported)], [500, 'store_unavailable'])
})
