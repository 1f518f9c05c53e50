import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { ok } from '../../../../src/schemas/failures.ts'
import { VIDEO_CLIP_BYTES_MAX } from '../../../../src/schemas/videos/video-limits.ts'
import type { ByteReader } from '../../../../src/server/ports/byte-streams.ts'
import { createVideoClips } from '../../../../src/server/files/clips.ts'
import { box, CLIP } from '../../../support/videos/boxes.ts'
import { must } from '../../../support/must.ts'
import { openDisk } from '../../../support/files/storage.ts'
import { openTransfers } from '../../../support/files/transfers.ts'
import { openVideosFront, type VideosFront } from '../../../support/videos/videos-front.ts'
import type { TransferDeps } from '../../../../src/server/files/object-writing.ts'

const ID = 'vid_1'
const LONG = Buffer.concat([CLIP, box('mdat', 300_000)])

interface Stored {
  readonly front: VideosFront
  readonly path: string
  /** The sealed object, as it lies on the disk. */
  readonly object: string
  remove(): Promise<unknown>
}

/** A completed job whose clip is stored for real. */
async function stored(t: Test): Promise<Stored> {
  const { storage, folder } = await openDisk(t)
  let deps: TransferDeps | null = null
  const { transfers, workspaceId } = await openTransfers(t, { storage, wrap: (made) => (deps = made) })
  if (deps === null) throw new Error('there are no parts')
  const objectId = `${ID}-0-${randomBytes(4).toString('hex')}`
  const clip = must(
    await createVideoClips(deps).store({
      workspaceId,
      objectId,
      bytes: readerOf(LONG),
      bytesMax: VIDEO_CLIP_BYTES_MAX,
      signal: new AbortController().signal,
    }),
  )
  const front = await openVideosFront(t, { ports: { transfers }, keys: { workspaceId } })
  const output = { jobId: ID, index: 0, workspaceId, createdAt: new Date(0), ...clip }
  front.videos.put({ id: ID, workspaceId, status: 'completed', outputs: 1 }, { outputs: [output] })
  const objects = join(folder, 'objects')
  const [name = ''] = readdirSync(objects, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith(objectId))
  return {
    front,
    path: `/videos/${ID}/content`,
    object: join(objects, name),
    remove: () => storage.remove(objectId),
  }
}

function readerOf(bytes: Buffer): ByteReader {
  const left = [ok(bytes)]
  return { next: () => Promise.resolve(left.shift() ?? ok(null)), close: () => undefined }
}

t.test('a stored clip is downloaded unchanged, whole and by ranges across segments', async (t) => {
  const { front, path } = await stored(t)
  const whole = await front.call(path)
  t.same(
    [whole.status, whole.headers.get('content-type'), whole.bytes.equals(LONG)],
    [200, 'video/mp4', true],
  )
  for (const [from, to] of [
    [0, 1],
    [65_535, 65_537],
    [131_000, 140_000],
    [LONG.length - 1, LONG.length],
  ] as const) {
    const part = await front.call(path, { headers: { range: `bytes=${from}-${to - 1}` } })
    t.same([part.status, part.bytes.equals(LONG.subarray(from, to))], [206, true], `${from} to ${to}`)
  }
})

t.test('video.get_content 500: a clip that is damaged, and one that is missing', async (t) => {
  const { front, path, object, remove } = await stored(t)
  const sealed = await readFile(object)
  sealed[200] = (sealed[200] ?? 0) ^ 1
  await writeFile(object, sealed)
  t.match(await front.call(path), {
    status: 500,
    body: { error: { metadata: { error_type: 'content_damaged' } } },
  })
  await remove()
  t.match(await front.call(path), {
    status: 500,
    body: { error: { metadata: { error_type: 'content_missing' } } },
  })
})
