import { VIDEO_CLIPS_EXPIRED_AT_ONCE } from '../../../schemas/videos/video-limits.ts'
import type { Storage } from '../../ports/files/storage.ts'
import type { VideoWork } from '../../ports/videos/video-work.ts'

/**
 * Rows first: bytes that stay behind, the sweep knows to be nobody's. Until none is left: how many clips a
 * batch of jobs has says nothing of the jobs behind it.
 * @param isEnding true ends it behind the clip at hand
 * @returns clips whose time was over
 */
export async function expireClips(
  work: Pick<VideoWork, 'expireClips'>,
  storage: Pick<Storage, 'remove'>,
  isEnding: () => boolean,
): Promise<number> {
  let count = 0
  while (!isEnding()) {
    const objectIds = await work.expireClips(VIDEO_CLIPS_EXPIRED_AT_ONCE)
    for (const objectId of objectIds) if (!isEnding()) await storage.remove(objectId)
    if (objectIds.length === 0) break
    count += objectIds.length
  }
  return count
}
