import { VIDEO_CLIPS_EXPIRED_AT_ONCE } from '../../../schemas/video-limits.ts'
import type { Storage } from '../../ports/storage.ts'
import type { VideoWork } from '../../ports/video-work.ts'

/**
 * Rows first: bytes that stay behind, the sweep knows to be nobody's. Until none is left: how many clips a batch of jobs has
 * says nothing of the jobs behind it.
 * @returns clips whose time was over
 */
export async function expireClips(work: Pick<VideoWork, 'expireClips'>, storage: Pick<Storage, 'remove'>): Promise<number> {
  for (let count = 0; ;) {
    const objectIds = await work.expireClips(VIDEO_CLIPS_EXPIRED_AT_ONCE)
    for (const objectId of objectIds) await storage.remove(objectId)
    if (objectIds.length === 0) return count
    count += objectIds.length
  }
}
