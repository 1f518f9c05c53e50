import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { VIDEO_CLIP_ROOM_BYTES } from '../../schemas/videos/video-limits.ts'
import type { ByteReader } from '../ports/byte-streams.ts'
import type { ClipInput, StoredClip, VideoClips } from '../ports/videos/video-work.ts'
import { copy } from './copy.ts'
import { Mp4Walk } from './mp4-walk.ts'
import { ObjectWriting, type ObjectDeps } from './object-writing.ts'

/**
 * Clips on their way from a provider into storage. A clip that fails or throws leaves at most one object
 * without a row, which the sweep removes.
 */
export function createVideoClips(deps: ObjectDeps): VideoClips {
  return {
    store: (input) => storeClip(deps, input),
    remove: (objectId) => deps.storage.remove(objectId),
  }
}

async function storeClip(deps: ObjectDeps, input: ClipInput): Promise<Outcome<StoredClip>> {
  const { bytes, bytesMax, objectId } = input
  const object = new ObjectWriting(deps, input)
  try {
    const opened = await object.open({
      content: 'any',
      bytesAtMost: Math.min(VIDEO_CLIP_ROOM_BYTES, bytesMax),
      bytesMax,
    })
    if (!opened.ok) return opened
    const { session, dataKeyId } = opened.value
    const written = await copy(checked(bytes), session, input.signal)
    if (!written.ok) return written
    const published = await object.publish()
    const { sizeBytes, sha256 } = written.value
    return published.ok ? ok({ objectId, dataKeyId, sizeBytes, sha256 }) : published
  } finally {
    bytes.close()
    await object.end()
  }
}

/** Passes the same bytes on and fails where the bytes are no MP4. */
function checked(bytes: ByteReader): ByteReader {
  const walk = new Mp4Walk()
  return {
    async next() {
      const piece = await bytes.next()
      if (!piece.ok) return piece
      const isFine = piece.value === null ? walk.isWhole : walk.take(piece.value)
      return isFine ? piece : fail('video_clip_invalid')
    },
    close: () => bytes.close(),
  }
}
