import t from 'tap'
import { resolutionOfSize, VIDEO_RESOLUTIONS } from '../../src/schemas/videos/video-models.ts'

t.test('the resolution of a size is determined by the shorter side, whether width or height', async (t) => {
  t.equal(resolutionOfSize('1280x720'), '720p')
  t.equal(resolutionOfSize('720x1280'), '720p')
  t.equal(resolutionOfSize('480x480'), '480p')
  t.equal(resolutionOfSize('1792x1024'), '1K')
  t.equal(resolutionOfSize('3840x2160'), '4K')
})

t.test('an invalid size, or one between two resolutions, has no resolution', async (t) => {
  for (const size of ['752x560', '0x720', '1280X720', '1280x720 ', '720', 'x', '', '1e3x720', '99999999x720'])
    t.equal(resolutionOfSize(size), null, size)
})

t.test('every resolution has a size', async (t) => {
  const sides = [360, 480, 720, 768, 1024, 1080, 1440, 2160]
  t.same(sides.map((side) => resolutionOfSize(`${side}x9000`)).sort(), [...VIDEO_RESOLUTIONS].sort())
})
