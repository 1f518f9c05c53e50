import { ok } from '../../../schemas/failures.ts'
import { VIDEOS_PAGE_DEFAULT } from '../../../schemas/videos/video-limits.ts'
import { ListVideosQuery, VideoListAnswer, videoAnswer } from '../../../schemas/videos/videos.ts'
import { defineOperation, ownWorkspaceOf } from '../define.ts'
import { cutPage } from '../../../schemas/lists/cut-page.ts'

/** Lists jobs of the workspace, newest first. Source: C27, an extension of Sluice. */
export const listVideos = defineOperation({
  id: 'video.list',
  method: 'get',
  path: '/videos',
  tag: 'videos',
  summary: 'List video generation jobs',
  tellsAccount: true,
  input: { query: ListVideosQuery },
  success: { status: 200, body: VideoListAnswer, isList: true },
  statuses: [400, 403, 500],
  failures: ['store_unavailable'],
  example: { query: { limit: 20 } },
  async run({ key, query }, ports) {
    const page = await ports.videos.list(ownWorkspaceOf(key), {
      after: query.after ?? null,
      limit: query.limit ?? VIDEOS_PAGE_DEFAULT,
    })
    if (!page.ok) return page
    const { data, isCut } = cutPage(page.value.videos, (video) => videoAnswer(video, ports.publicOrigin))
    return ok({
      kind: 'json',
      value: {
        data,
        has_more: isCut || page.value.hasMore,
        last_id: data.at(-1)?.id ?? null,
      } satisfies VideoListAnswer,
    })
  },
})
