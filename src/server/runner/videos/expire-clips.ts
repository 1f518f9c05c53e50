import type { Storage } from '../../ports/files/storage.ts'
import type { VideoWork } from '../../ports/videos/video-work.ts'

/** Expired clips that one statement marks. Decision. */
export const VIDEO_CLIPS_EXPIRED_AT_ONCE = 500

/**
 * Removes expired clips, the rows first: the sweep removes leftover bytes. Batches continue until one is
 * empty, since a batch of jobs with few clips does not mean that later jobs have none.
 * @param isEnding true ends the work after the current clip
 * @returns the number of expired clips
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
