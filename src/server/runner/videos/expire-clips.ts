import type { Storage } from '../../ports/files/storage.ts'
import type { VideoWork } from '../../ports/videos/video-work.ts'

/** Expired clips that one statement takes. Decision. */
export const VIDEO_CLIPS_EXPIRED_AT_ONCE = 500

/**
 * Removes clips whose time is over, the rows first: the sweep removes leftover bytes. Batches go on until one
 * is empty, since the number of clips in a batch of jobs says nothing about later jobs.
 * @param isEnding true ends the work after the clip at hand
 * @returns the number of clips whose time was over
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
