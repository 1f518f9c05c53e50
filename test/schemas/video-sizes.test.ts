import t from 'tap'
import { VIDEO_ASPECT_RATIOS, VIDEO_RESOLUTIONS } from '../../src/schemas/videos/video-models.ts'
import {
  isOfAspectRatio,
  isOfResolution,
  pixelsFor,
  pixelsOf,
} from '../../src/server/operations/videos/video-request.ts'

t.test('a resolution and an aspect ratio give the usual size', async (t) => {
  const text = (resolution: string, ratio: string): string =>
    Object.values(pixelsFor(resolution, ratio)).join('x')
  t.equal(text('720p', '16:9'), '1280x720')
  t.equal(text('1080p', '9:16'), '1080x1920')
  t.equal(text('480p', '16:9'), '854x480')
  t.equal(text('4K', '16:9'), '3840x2160')
  t.equal(text('768p', '1:1'), '768x768')
})

t.test('each size from a resolution and an aspect ratio matches both, and has even sides', async (t) => {
  for (const resolution of VIDEO_RESOLUTIONS) {
    for (const ratio of VIDEO_ASPECT_RATIOS) {
      const size = pixelsFor(resolution, ratio)
      t.ok(
        isOfResolution(size, resolution) &&
          isOfAspectRatio(size, ratio) &&
          size.width % 2 === 0 &&
          size.height % 2 === 0,
        `${resolution} ${ratio}`,
      )
    }
  }
})

t.test('no size matches two aspect ratios', async (t) => {
  for (const ratio of VIDEO_ASPECT_RATIOS) {
    const size = pixelsFor('1080p', ratio)
    t.same(
      VIDEO_ASPECT_RATIOS.filter((other) => isOfAspectRatio(size, other)),
      [ratio],
    )
  }
})

t.test('resolutions in K match by the short side or by the long side', async (t) => {
  t.ok(isOfResolution(pixelsOf('2560x1440'), '2K'))
  t.ok(isOfResolution(pixelsOf('2048x1152'), '2K'))
  t.ok(isOfResolution(pixelsOf('4096x2160'), '4K'))
  t.notOk(isOfResolution(pixelsOf('1280x720'), '1080p'))
})
