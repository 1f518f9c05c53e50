import t from 'tap'
import { CLIP_ASPECT_RATIOS, CLIP_RESOLUTIONS, CLIP_SIZES, clipSize } from '../../src/schemas/videos/clip.ts'

t.test('each resolution is the shorter side, and each size is even', async (t) => {
  for (const resolution of CLIP_RESOLUTIONS) {
    for (const aspectRatio of CLIP_ASPECT_RATIOS) {
      const { width, height } = clipSize(resolution, aspectRatio)
      t.equal(`${Math.min(width, height)}p`, resolution)
      t.same([width % 2, height % 2], [0, 0], `${width}x${height}`)
    }
  }
})

t.test('sizes are the usual ones of video players', async (t) => {
  t.same(CLIP_SIZES, [
    '640x360',
    '360x640',
    '360x360',
    '854x480',
    '480x854',
    '480x480',
    '1280x720',
    '720x1280',
    '720x720',
  ])
})
