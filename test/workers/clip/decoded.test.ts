import t from 'tap'
import { CLIP_FRAMES_PER_SECOND } from '../../../src/schemas/videos/clip-limits.ts'
import { plainPng } from '../../support/videos/clip-images.ts'
import { rendered } from '../../support/videos/clips.ts'
import { frameAt, hasFfmpeg, probe } from '../../support/videos/ffmpeg.ts'

t.setTimeout(600_000)
const skip = (await hasFfmpeg()) ? false : 'ffmpeg is not installed'

const SIDE = 20
const SQUARE = { width: 64, height: 64 }
/** The mean of the middle of a picture, where no words are. */
const middleOf = (rgb: Uint8Array): readonly number[] => {
  const rows = [...Array(6).keys()].map((row) => row + 6)
  const pixels = rows.flatMap((row) => rows.map((column) => 3 * (row * SIDE + column)))
  return [0, 1, 2].map((part) => pixels.reduce((sum, at) => sum + (rgb[at + part] ?? 0), 0) / pixels.length)
}
const isClose = (rgb: readonly number[], wanted: readonly number[]): boolean =>
  rgb.every((value, nth) => Math.abs(value - (wanted[nth] ?? 0)) < 12)

t.test('a decoder reads every frame of a clip without a complaint', { skip }, async (t) => {
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

t.test(
  'a clip begins with its first image and ends with its last one, in their colours',
  { skip },
  async (t) => {
    const [red, blue] = [
      [210, 30, 40],
      [20, 60, 220],
    ] as const
    const clip = await rendered({
      seconds: 2,
      firstFrame: plainPng(SQUARE, red),
      lastFrame: plainPng(SQUARE, blue),
    })
    const [first, halfway, last] = await Promise.all(
      [0, 1, 1.9].map((at) => frameAt(clip, at, SIDE).then(middleOf)),
    )
    t.ok(isClose(first ?? [], red), `${String(first)}`)
    t.ok(isClose(last ?? [], blue), `${String(last)}`)
    t.notOk(isClose(halfway ?? [], red) || isClose(halfway ?? [], blue), `${String(halfway)}`)
  },
)

t.test('the scene moves, and a player may begin anywhere', { skip }, async (t) => {
  const clip = await rendered({ seconds: 5, prompt: null })
  const frames = await Promise.all([0, 1.25, 2.5, 3.75].map((at) => frameAt(clip, at, SIDE)))
  t.equal(new Set(frames.map((frame) => Buffer.from(frame).toString('base64'))).size, frames.length)
})
