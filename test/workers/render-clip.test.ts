import t from 'tap'
import {
  CLIP_ASPECT_RATIOS,
  CLIP_DURATIONS,
  CLIP_FRAMES_PER_SECOND,
  CLIP_RESOLUTIONS,
  clipSize,
} from '../../src/schemas/videos/clip.ts'
import { encode, renderClip } from '../../src/workers/render-clip.ts'
import { clipInput, rendered } from '../support/videos/clips.ts'
import { frameAt, hasFfmpeg, probe } from '../support/videos/ffmpeg.ts'
import { readMp4 } from '../support/videos/mp4-reader.ts'

t.setTimeout(600_000)

const skip = (await hasFfmpeg()) ? false : 'ffmpeg is not installed'
const BASELINE = 66

t.test('every advertised size is rendered as requested', async (t) => {
  for (const resolution of CLIP_RESOLUTIONS) {
    for (const aspectRatio of CLIP_ASPECT_RATIOS) {
      const { width, height } = clipSize(resolution, aspectRatio)
      const facts = readMp4(await rendered({ width, height }))
      t.match(facts, { width, height, codec: 'avc1', profile: BASELINE, isWhole: true }, `${width}x${height}`)
    }
  }
})

t.test('a clip has exactly the requested duration, by its headers and by its frames', async (t) => {
  for (const seconds of [1, 5, 10]) {
    t.ok(CLIP_DURATIONS.includes(seconds))
    const { frames, seconds: reported, secondsOfFrames } = readMp4(await rendered({ seconds }))
    t.same([frames, reported, secondsOfFrames], [seconds * CLIP_FRAMES_PER_SECOND, seconds, seconds])
  }
})

t.test('metadata comes before the pictures, and key frames are listed', async (t) => {
  const { boxes, brands, keyFrames } = readMp4(await rendered({ seconds: 5 }))
  t.same(boxes, ['ftyp', 'moov', 'mdat'])
  t.same(brands, ['mp42', 'mp42', 'isom'])
  t.same(keyFrames, [1, 25, 49])
})

t.test('the same input gives the same bytes, which contain no time', async (t) => {
  const first = await rendered({ prompt: 'Ünïcödé' })
  await rendered({ width: 640 })
  t.ok(first.equals(await rendered({ prompt: 'Ünïcödé' })))
  t.same(readMp4(first).instants, [0, 0, 0, 0, 0, 0])
})

t.test('another seed or prompt gives another clip', async (t) => {
  const clips = await Promise.all([
    rendered(),
    rendered({ seed: 2 }),
    rendered({ seed: 2 ** 32 - 1 }),
    rendered({ prompt: 'a red fox' }),
    rendered({ prompt: 'красная лиса' }),
    rendered({ prompt: null }),
  ])
  t.equal(new Set(clips.map((clip) => clip.toString('base64'))).size, clips.length)
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
  'expands when it is normalised': '\ufdfa'.repeat(32_768),
  marks: `a${'\u0301'.repeat(10_000)}`,
}

for (const [name, prompt] of Object.entries(HOSTILE_TEXTS)) {
  t.test(`renders any prompt: ${name}`, async (t) => {
    t.match(readMp4(await rendered({ prompt })), { frames: CLIP_FRAMES_PER_SECOND, isWhole: true })
  })
}

t.test('throws for a size and a duration that are not advertised', async (t) => {
  for (const input of [{ width: 362 }, { seconds: 0 }, { seconds: 11 }, { seconds: 1.5 }])
    await t.rejects(renderClip(clipInput(input)), RangeError, JSON.stringify(input))
})

t.test('a failure while a frame is drawn does not affect later clips of the thread', async (t) => {
  const size = { width: 64, height: 48 }
  const gray = new Uint8Array(64 * 48 * 1.5).fill(128)
  const fault = new Error('a bug in a scene')
  const before = await encode(size, 5, () => gray)
  for (const failing of [0, 1, 4]) {
    const draw = (nth: number): Uint8Array => {
      if (nth === failing) throw fault
      return gray
    }
    await t.rejects(encode(size, 5, draw), fault, `frame ${failing}`)
  }
  t.ok(Buffer.from(before).equals(Buffer.from(await encode(size, 5, () => gray))))
})

t.test('clips that are rendered at once in one thread do not mix', async (t) => {
  const clips = await Promise.all([1, 2, 3].map((seconds) => rendered({ seconds })))
  t.same(
    clips.map((clip) => readMp4(clip).seconds),
    [1, 2, 3],
  )
})

t.test('a decoder reads every frame without a complaint', { skip }, async (t) => {
  const facts = await probe(await rendered({ seconds: 5, width: 854, height: 480 }))
  t.same(facts, {
    codec: 'h264',
    pixels: 'yuv420p',
    width: 854,
    height: 480,
    seconds: 5,
    frames: 5 * CLIP_FRAMES_PER_SECOND,
    complaints: '',
  })
})

t.test('the scene moves, and a player may begin anywhere', { skip }, async (t) => {
  const clip = await rendered({ seconds: 5, prompt: null })
  const frames = await Promise.all([0, 1.25, 2.5, 3.75].map((at) => frameAt(clip, at, 20)))
  t.equal(new Set(frames.map((frame) => Buffer.from(frame).toString('base64'))).size, frames.length)
})
