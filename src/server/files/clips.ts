import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { VIDEO_CLIP_ROOM_BYTES } from '../../schemas/videos/video-limits.ts'
import type { ByteReader } from '../ports/byte-streams.ts'
import type { ClipWish, StoredClip, VideoClips } from '../ports/videos/video-work.ts'
import { copy } from './copy.ts'
import { Mp4Walk } from './mp4-walk.ts'
import { ObjectWriting, type ObjectParts } from './object-writing.ts'

/** Clips on their way from a provider into storage. Whatever fails, or throws, leaves no object but one that the sweep knows to be nobody's. */
export function createVideoClips(parts: ObjectParts): VideoClips {
  return {
    store: (wish) => storeClip(parts, wish),
    remove: (objectId) => parts.storage.remove(objectId),
  }
}

async function storeClip(parts: ObjectParts, wish: ClipWish): Promise<Outcome<StoredClip>> {
  const { bytes, bytesMax, objectId } = wish
  const object = new ObjectWriting(parts, wish)
  try {
    const opened = await object.open({ content: 'any', bytesAtMost: Math.min(VIDEO_CLIP_ROOM_BYTES, bytesMax), bytesMax })
    if (!opened.ok) return opened
    const { session, dataKeyId } = opened.value
    const written = await copy(checked(bytes), session, wish.signal)
    if (!written.ok) return written
    const published = await object.publish()
    const { sizeBytes, sha256 } = written.value
    return published.ok ? ok({ objectId, dataKeyId, sizeBytes, sha256 }) : published
  } finally {
    bytes.close()
    await object.end()
  }
}

/** The same bytes, refused where they are no MP4. */
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
