import t from 'tap'
import { CLIP_ASPECT_RATIOS, CLIP_RESOLUTIONS, clipSize } from '../../../src/schemas/videos/clip.ts'
import {
  CLIP_FRAMES_PER_SECOND,
  CLIP_IMAGE_PIXELS_MAX,
  CLIP_IMAGES_PIXELS_MAX,
  CLIP_REFERENCES_MAX,
  CLIP_SECONDS_MAX,
  CLIP_SECONDS_MIN,
  CLIP_TEXT_UNITS_MAX,
} from '../../../src/schemas/videos/clip-limits.ts'
import { renderClip } from '../../../src/workers/clip/render.ts'
import { plainJpeg, plainPng, pngOf } from '../../support/videos/clip-images.ts'
import { clipInput, refusal, rendered } from '../../support/videos/clips.ts'
import { readMp4 } from '../../support/videos/mp4-reader.ts'

t.setTimeout(600_000)

const SQUARE = { width: 40, height: 40 }
const RED = [200, 20, 20] as const
const BASELINE = 66

t.test('every size that is advertised comes out as asked', async (t) => {
  for (const resolution of CLIP_RESOLUTIONS) {
    for (const aspectRatio of CLIP_ASPECT_RATIOS) {
      const { width, height } = clipSize(resolution, aspectRatio)
      const facts = readMp4(await rendered({ width, height }))
      t.match(facts, { width, height, codec: 'avc1', profile: BASELINE, isWhole: true }, `${width}x${height}`)
    }
  }
})

t.test('a clip has as many frames as its seconds have, and says exactly so', async (t) => {
  for (const seconds of [CLIP_SECONDS_MIN, 5, CLIP_SECONDS_MAX]) {
    const { frames, seconds: told, secondsOfFrames } = readMp4(await rendered({ seconds }))
    t.same([frames, told, secondsOfFrames], [seconds * CLIP_FRAMES_PER_SECOND, seconds, seconds])
  }
})

t.test('what a player needs stands before the pictures, and frames to begin from are named', async (t) => {
  const { boxes, brands, keyFrames } = readMp4(await rendered({ seconds: 5 }))
  t.same(boxes, ['ftyp', 'moov', 'mdat'])
  t.same(brands, ['mp42', 'mp42', 'isom'])
  t.same(keyFrames, [1, 25, 49])
})

t.test('the same wish gives the same bytes, and no clock is in them', async (t) => {
  const input = { firstFrame: plainPng(SQUARE, RED), prompt: 'Ünïcödé' }
  const first = await rendered(input)
  t.ok(first.equals(await rendered(input)))
  t.same(readMp4(first).instants, [0, 0, 0, 0, 0, 0])
})

t.test('another seed, another prompt and each image give another clip', async (t) => {
  const image = plainPng(SQUARE, RED)
  const clips = await Promise.all([
    rendered(),
    rendered({ seed: 2 }),
    rendered({ seed: -7 }),
    rendered({ seed: 2 ** 53 - 1 }),
    rendered({ prompt: 'a red fox' }),
    rendered({ prompt: null }),
    rendered({ firstFrame: image }),
    rendered({ lastFrame: image }),
    rendered({ references: [image] }),
    rendered({ firstFrame: plainJpeg(SQUARE, [20, 200, 20]) }),
    rendered({ firstFrame: plainPng(SQUARE, [0, 0, 250]) }),
  ])
  t.equal(new Set(clips.map((clip) => clip.toString('base64'))).size, clips.length)
})

t.test('an image that is left out leaves no trace in a later clip of the same thread', async (t) => {
  const before = await rendered()
  await rendered({ firstFrame: plainPng(SQUARE, RED), width: 640 })
  t.ok(before.equals(await rendered()))
})

const HOSTILE_TEXTS: Readonly<Record<string, string>> = {
  empty: '',
  blank: ' \n\t ',
  emoji: '👩‍👩‍👧‍👦🏳️‍🌈 🦊'.repeat(20),
  'right to left': 'שלום \u202e עולם مرحبا',
  controls: '\u0000\u0007\u001b[31m\u009f\u2028',
  'half a pair': '\ud800 x \udfff',
  'one long word': 'x'.repeat(32_768),
  'many words': 'a fox '.repeat(5_500),
  'expands when it is normalised': '\ufdfa'.repeat(CLIP_TEXT_UNITS_MAX),
  marks: `a${'\u0301'.repeat(10_000)}`,
}

for (const [name, prompt] of Object.entries(HOSTILE_TEXTS)) {
  t.test(`a prompt is rendered whatever it holds: ${name}`, async (t) => {
    t.match(readMp4(await rendered({ prompt })), { frames: CLIP_FRAMES_PER_SECOND, isWhole: true })
  })
}

t.test('of a long prompt each word counts, be it drawn or not', async (t) => {
  const long = 'fox '.repeat(8_000)
  t.not((await rendered({ prompt: long })).compare(await rendered({ prompt: `${long}!` })), 0)
})

t.test('the image that cannot be read is named', async (t) => {
  const broken = new Uint8Array([1, 2, 3])
  const whole = plainPng(SQUARE, RED)
  t.equal(await refusal({ firstFrame: broken }), 'The first frame is neither a PNG nor a JPEG image.')
  t.equal(
    await refusal({ firstFrame: whole, lastFrame: broken }),
    'The last frame is neither a PNG nor a JPEG image.',
  )
  t.equal(
    await refusal({ references: [whole, broken] }),
    'Reference image 2 is neither a PNG nor a JPEG image.',
  )
})

t.test('as many references as are allowed are shown, and one more is refused', async (t) => {
  const references = Array.from({ length: CLIP_REFERENCES_MAX }, () => plainPng(SQUARE, RED))
  t.equal(await refusal({ references }), null)
  t.match(await refusal({ references: [...references, plainPng(SQUARE, RED)] }), 'more than')
})

t.test('images of one clip have a bound together', async (t) => {
  const large = pngOf(
    { width: 4_096, height: CLIP_IMAGE_PIXELS_MAX / 4_096, depth: 1, colourType: 0 },
    Buffer.alloc(513 * (CLIP_IMAGE_PIXELS_MAX / 4_096)),
  )
  const whole = { firstFrame: large, lastFrame: large }
  t.equal(await refusal(whole), null)
  const detail = `Reference image 1 has, together with earlier images, more than ${CLIP_IMAGES_PIXELS_MAX} pixels.`
  t.equal(await refusal({ ...whole, references: [plainPng({ width: 1, height: 1 }, RED)] }), detail)
})

t.test('images of any shape fit into any frame', async (t) => {
  for (const size of [
    { width: 1, height: 1 },
    { width: 3_000, height: 1 },
    { width: 1, height: 3_000 },
    { width: 1_001, height: 667 },
  ]) {
    const image = plainPng(size, RED)
    t.equal(
      await refusal({ firstFrame: image, lastFrame: image, references: [image] }),
      null,
      JSON.stringify(size),
    )
  }
})

t.test('a size, a duration and a rate that are not advertised are a bug of whoever asks', async (t) => {
  for (const input of [
    { width: 362 },
    { seconds: 0 },
    { seconds: CLIP_SECONDS_MAX + 1 },
    { seconds: 1.5 },
    { framesPerSecond: 24 },
  ])
    await t.rejects(renderClip(clipInput(input)), RangeError, JSON.stringify(input))
})
