import t from 'tap'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { VIDEO_OPEN_COUNTS_MAX, OpenCounts } from '../../../../src/server/store/videos/open-counts.ts'
import { accepted, openVideoStand, videoInput } from '../../../support/videos/video-jobs.ts'

t.test('a workspace does not count as empty when its count is evicted from the cache', async (t) => {
  const { store, jobs, owners } = await openVideoStand(t)
  await accepted(jobs, videoInput(owners))
  const counts = new OpenCounts(() => 0)
  await counts.of(store.sql, [owners.workspaceId])
  const others = Array.from({ length: VIDEO_OPEN_COUNTS_MAX }, newId)
  t.equal((await counts.of(store.sql, [owners.workspaceId, ...others])).get(owners.workspaceId)?.count, 1)
})
