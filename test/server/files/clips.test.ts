import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fail, ok, type Outcome } from '../../../src/schemas/failures.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { VIDEO_CLIP_BYTES_MAX } from '../../../src/schemas/videos/video-limits.ts'
import type { ByteReader } from '../../../src/server/ports/byte-streams.ts'
import type { StoredClip } from '../../../src/server/ports/videos/video-work.ts'
import { openDataKeys } from '../../../src/server/store/vault/data-keys.ts'
import { VIDEO_CLIP_ROOM_BYTES, createVideoClips } from '../../../src/server/files/clips.ts'
import { openFile } from '../../../src/server/files/transfers.ts'
import { openKeyRing } from '../../../src/server/vault/key-ring.ts'
import { openRootKeys } from '../../../src/server/vault/root-keys.ts'
import { box, CLIP } from '../../support/videos/boxes.ts'
import { openFileStand } from '../../support/files/files.ts'
import { must } from '../../support/must.ts'
import { openSessions } from '../../support/files/sessions.ts'
import { drain, leftOpen, openDisk } from '../../support/files/storage.ts'
import type { TransferDeps } from '../../../src/server/files/object-writing.ts'

const SIGNAL = new AbortController().signal

async function open(t: Test) {
  const stand = await openFileStand(t)
  const { storage, folder } = await openDisk(t)
  const { intake, unsealing } = await openSessions(t)
  const rootKeys = openRootKeys({
    setting: new Secret(randomBytes(32).toString('hex')),
    file: null,
    dataDir: '/nowhere',
  })
  const keyRing = openKeyRing({ rootKeys, rows: openDataKeys(stand.store) })
  const rooms: number[] = []
  const watched = { ...storage, stage: (bytes: number) => (rooms.push(bytes), storage.stage(bytes)) }
  const clips = createVideoClips({ storage: watched, keyRing, intake })
  const { workspaceId } = stand
  const store = (
    bytes: ByteReader,
    more: { readonly bytesMax?: number; readonly signal?: AbortSignal } = {},
  ) =>
    clips.store({
      workspaceId,
      objectId: 'vid_1-0-1',
      bytes,
      bytesMax: VIDEO_CLIP_BYTES_MAX,
      signal: SIGNAL,
      ...more,
    })
  const read = async ({ objectId, dataKeyId, sizeBytes, sha256 }: StoredClip): Promise<Buffer> => {
    const file = {
      id: objectId,
      workspaceId,
      dataKeyId,
      sizeBytes,
      sha256,
      filename: 'clip.mp4',
      mimeType: 'video/mp4',
      isDownloadable: true,
      purpose: null,
      createdAt: new Date(0),
    }
    const content = must(await openFile({ storage, keyRing, unsealing } as TransferDeps, file, SIGNAL))
    const bytes = await drain(must(await content.read(0, sizeBytes)))
    content.close()
    return bytes
  }
  const isEmpty = async (): Promise<boolean> =>
    must(await storage.list(null)).objects.length === 0 &&
    (await readdir(join(folder, 'staging'))).length === 0
  return { clips, store, read, isEmpty, storage, rooms }
}

/** Gives the pieces out, and then the end. */
function readerOf(pieces: readonly Uint8Array[], end: Outcome<Uint8Array | null> = ok(null)): ByteReader {
  const left = pieces.map((piece) => ok(piece))
  return { next: async () => left.shift() ?? end, close: () => undefined }
}

t.test('a clip is stored sealed, and read back unchanged', async (t) => {
  const { store, read, storage } = await open(t)
  const long = Buffer.concat([CLIP, box('mdat', 700_000)])
  const stored = must(
    await store(readerOf([long.subarray(0, 5), long.subarray(5, 400_000), long.subarray(400_000)])),
  )
  t.equal(stored.sizeBytes, long.length)
  t.same(await read(stored), long)
  t.ok((must(await storage.stat(stored.objectId))?.sizeBytes ?? 0) > long.length, 'it is sealed')
  t.same(await leftOpen(), [])
})

const BAD: readonly (readonly [string, readonly Uint8Array[], string])[] = [
  ['a page of text', [Buffer.from('<html>not here</html>')], 'video_clip_invalid'],
  ['a clip that was cut', [CLIP.subarray(0, CLIP.length - 1)], 'video_clip_invalid'],
  ['no byte at all', [], 'video_clip_invalid'],
]
for (const [what, pieces, name] of BAD) {
  t.test(`${what} is refused and leaves nothing in storage`, async (t) => {
    const { store, isEmpty } = await open(t)
    t.match(await store(readerOf(pieces)), { ok: false, failure: { name } })
    t.ok(await isEmpty())
  })
}

t.test('a clip that is too large is refused before it is read completely', async (t) => {
  const { store, isEmpty } = await open(t)
  let pieces = 0
  const endless: ByteReader = {
    next: async () =>
      ok(pieces++ === 0 ? Buffer.from('\0\0\0\x10ftypisomisom\0\0\0\0mdat', 'latin1') : Buffer.alloc(65_536)),
    close: () => undefined,
  }
  t.match(await store(endless, { bytesMax: 1_000_000 }), { ok: false, failure: { name: 'file_too_large' } })
  t.ok(pieces < 100, `${pieces} pieces`)
  t.ok(await isEmpty())
})

t.test('a reader that fails or throws is closed, and leaves nothing in storage', async (t) => {
  const { store, isEmpty } = await open(t)
  t.match(await store(readerOf([CLIP.subarray(0, 50)], fail('upstream_failed'))), {
    ok: false,
    failure: { name: 'upstream_failed' },
  })
  let closed = 0
  const broken: ByteReader = { next: () => Promise.reject(new Error('a bug')), close: () => void closed++ }
  await t.rejects(store(broken), /a bug/)
  t.ok(closed > 0)
  t.ok(await isEmpty())
})

t.test('a clip whose call is aborted leaves nothing in storage', async (t) => {
  const { store, isEmpty } = await open(t)
  const ender = new AbortController()
  const bytes: ByteReader = {
    next: async () => {
      ender.abort({ kind: 'draining' })
      return ok(CLIP)
    },
    close: () => undefined,
  }
  t.equal((await store(bytes, { signal: ender.signal })).ok, false)
  t.ok(await isEmpty())
})

t.test('a clip reserves the size of most clips, not of the largest', async (t) => {
  const { store, rooms } = await open(t)
  must(await store(readerOf([CLIP])))
  const [room = 0] = rooms
  t.ok(room >= VIDEO_CLIP_ROOM_BYTES && room < VIDEO_CLIP_ROOM_BYTES * 1.01, `${room} bytes`)
})
