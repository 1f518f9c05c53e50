import t from 'tap'
import {
  CLIP_ASPECT_RATIOS,
  CLIP_DURATIONS,
  CLIP_RESOLUTIONS,
  CLIP_SIZES,
  clipSize,
} from '../../src/schemas/videos/clip.ts'
import { CLIP_SECONDS_MAX, CLIP_SECONDS_MIN, CLIP_SIDE_MAX } from '../../src/schemas/videos/clip-limits.ts'

t.test('each resolution names the shorter side, and each size is even', async (t) => {
  for (const resolution of CLIP_RESOLUTIONS) {
    for (const aspectRatio of CLIP_ASPECT_RATIOS) {
      const { width, height } = clipSize(resolution, aspectRatio)
      t.equal(`${Math.min(width, height)}p`, resolution)
      t.ok(Math.max(width, height) <= CLIP_SIDE_MAX)
      t.same([width % 2, height % 2], [0, 0], `${width}x${height}`)
    }
  }
})

t.test('sizes are those that players know', async (t) => {
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

t.test('durations are all whole seconds from the least to the most', async (t) => {
  t.equal(CLIP_DURATIONS[0], CLIP_SECONDS_MIN)
  t.equal(CLIP_DURATIONS.at(-1), CLIP_SECONDS_MAX)
  t.equal(CLIP_DURATIONS.length, CLIP_SECONDS_MAX - CLIP_SECONDS_MIN + 1)
})
