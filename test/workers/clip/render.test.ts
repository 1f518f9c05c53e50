import t from 'tap'
import { CLIP_ASPECT_RATIOS, CLIP_RESOLUTIONS, clipSize } from '../../../src/schemas/videos/clip.ts'
import {
  CLIP_FRAMES_PER_SECOND,
  CLIP_REFERENCES_MAX,
  CLIP_SECONDS_MAX,
  CLIP_SECONDS_MIN,
} from '../../../src/schemas/videos/clip-limits.ts'
import {
  CLIP_IMAGE_PIXELS_MAX,
  CLIP_IMAGE_SIDE_MAX,
  CLIP_IMAGES_PIXELS_MAX,
  CLIP_JPEG_SCANS_MAX,
  encode,
  type Film,
  readImage,
  renderClip,
} from '../../../src/workers/clip/render.ts'
import type { Image } from '../../../src/workers/clip/image.ts'
import { newFrame } from '../../../src/workers/clip/frame.ts'
import { plainJpeg, plainPng, pngOf } from '../../support/videos/clip-images.ts'
import { clipInput, refusal, rendered } from '../../support/videos/clips.ts'
import { readMp4 } from '../../support/videos/mp4-reader.ts'
import { gif, webp } from '../../support/corpus/images.ts'
import { CLIP_TEXT_UNITS_MAX } from '../../../src/workers/clip/caption.ts'

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

t.test('each word of a long prompt counts, drawn or not', async (t) => {
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

t.test('throws for a size, a duration and a rate that are not advertised', async (t) => {
  for (const input of [
    { width: 362 },
    { seconds: 0 },
    { seconds: CLIP_SECONDS_MAX + 1 },
    { seconds: 1.5 },
    { framesPerSecond: 24 },
  ])
    await t.rejects(renderClip(clipInput(input)), RangeError, JSON.stringify(input))
})

const SMALL = { width: 5, height: 3 }
const COLOUR = [10, 120, 240] as const

const read = (bytes: Uint8Array): Image => {
  const image = readImage(bytes)
  if (typeof image === 'string') throw new Error(image)
  return image
}
const pixelsOf = ({ rgba }: Image): readonly (readonly number[])[] =>
  Array.from({ length: rgba.length / 4 }, (_, nth) => [...rgba.subarray(4 * nth, 4 * nth + 4)])
/** A JPEG whose frame header says another size. */
const jpegSaying = (width: number, height: number): Uint8Array => {
  const bytes = Buffer.from(plainJpeg({ width: 16, height: 16 }, COLOUR))
  const frame = bytes.indexOf(Buffer.of(0xff, 0xc0))
  bytes.writeUInt16BE(height, frame + 5)
  bytes.writeUInt16BE(width, frame + 7)
  return bytes
}

t.test('a file that is not PNG or JPEG is named by its contents, where they are known', async (t) => {
  t.equal(readImage(new Uint8Array(0)), 'is neither a PNG nor a JPEG image')
  t.equal(
    readImage(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')),
    'is neither a PNG nor a JPEG image',
  )
  t.equal(readImage(gif()), 'is a GIF image; only PNG and JPEG are supported')
  t.equal(readImage(webp), 'is a WebP or other RIFF image; only PNG and JPEG are supported')
})

t.test('a header that announces too much is refused before anything is decoded', async (t) => {
  for (const [width, height] of [
    [100_000, 100_000],
    [2 ** 32 - 1, 2 ** 32 - 1],
    [CLIP_IMAGE_SIDE_MAX + 1, 1],
  ] as const)
    t.equal(
      readImage(pngOf({ width, height, depth: 8, colourType: 2 }, new Uint8Array(4))),
      `is more than ${CLIP_IMAGE_SIDE_MAX} pixels wide or high`,
    )
  const wide = CLIP_IMAGE_SIDE_MAX
  const high = CLIP_IMAGE_PIXELS_MAX / wide + 1
  t.equal(
    readImage(pngOf({ width: wide, height: high, depth: 1, colourType: 0 }, new Uint8Array(4))),
    `has more than ${CLIP_IMAGE_PIXELS_MAX} pixels`,
  )
  t.equal(readImage(jpegSaying(wide, high)), `has more than ${CLIP_IMAGE_PIXELS_MAX} pixels`)
  t.equal(readImage(jpegSaying(65_535, 65_535)), `is more than ${CLIP_IMAGE_SIDE_MAX} pixels wide or high`)
})

t.test('an image without a size is refused', async (t) => {
  for (const [width, height] of [
    [0, 5],
    [5, 0],
    [0, 0],
  ] as const) {
    t.equal(readImage(pngOf({ width, height, depth: 8, colourType: 2 }, new Uint8Array(0))), 'has no size')
    t.equal(readImage(jpegSaying(width, height)), 'has no size')
  }
})

t.test('a PNG that inflates to more than its header says is refused without being inflated', async (t) => {
  const bomb = Buffer.alloc(64 * 1024 * 1024)
  for (const isInterlaced of [false, true])
    t.equal(
      readImage(pngOf({ ...SMALL, depth: 8, colourType: 2, isInterlaced }, bomb)),
      'is a broken PNG image',
    )
})

t.test('an image that is cut anywhere is refused, and none throws', async (t) => {
  const png = plainPng(SMALL, COLOUR)
  for (let length = 0; length < png.length - 12; length++)
    t.type(readImage(png.subarray(0, length)), 'string', `PNG of ${length} bytes`)
  const jpeg = plainJpeg({ width: 64, height: 64 }, COLOUR)
  for (let length = 0; length < jpeg.length - 2; length += 7)
    t.type(readImage(jpeg.subarray(0, length)), 'string', `JPEG of ${length} bytes`)
})

t.test('an image with a byte changed is read or refused, and none throws', async (t) => {
  for (const whole of [plainPng(SMALL, COLOUR), plainJpeg({ width: 24, height: 24 }, COLOUR)]) {
    for (let at = 0; at < whole.length; at++) {
      for (const change of [0x01, 0x80, 0xff]) {
        const bytes = whole.slice()
        bytes[at] = (bytes[at] ?? 0) ^ change
        t.doesNotThrow(() => readImage(bytes), `byte ${at} by ${change}`)
      }
    }
  }
})

t.test('a PNG without header, palette, a known filter or known colours says so', async (t) => {
  const row = (filter: number): Uint8Array => Buffer.from([filter, 0, 0, 0])
  const one = { width: 1, height: 1 }
  t.equal(readImage(pngOf({ ...one, depth: 8, colourType: 2 }, row(9))), 'has an unknown PNG filter')
  t.equal(readImage(pngOf({ ...one, depth: 8, colourType: 3 }, Buffer.from([0, 0]))), 'has no palette')
  t.equal(readImage(pngOf({ ...one, depth: 7, colourType: 2 }, row(0))), 'has an unknown colour type')
  t.equal(readImage(pngOf({ ...one, depth: 8, colourType: 5 }, row(0))), 'has an unknown colour type')
  t.equal(
    readImage(Buffer.concat([plainPng(one, COLOUR).subarray(0, 8), plainPng(one, COLOUR).subarray(33)])),
    'has no header',
  )
  t.equal(readImage(pngOf({ width: 1, height: 2, depth: 8, colourType: 2 }, row(0))), 'ends too early')
})

t.test('a JPEG with scans without end is refused before they are decoded', async (t) => {
  const whole = Buffer.from(plainJpeg({ width: 16, height: 16 }, COLOUR))
  const scan = whole.indexOf(Buffer.of(0xff, 0xda))
  const scans = Array.from({ length: CLIP_JPEG_SCANS_MAX + 1 }, () => whole.subarray(scan, -2))
  t.equal(
    readImage(Buffer.concat([whole.subarray(0, scan), ...scans, whole.subarray(-2)])),
    `has more than ${CLIP_JPEG_SCANS_MAX} scans`,
  )
})

t.test('arithmetic and lossless JPEG are refused', async (t) => {
  for (const frame of [0xc3, 0xc9, 0xcb]) {
    const bytes = Buffer.from(plainJpeg({ width: 16, height: 16 }, COLOUR))
    bytes[bytes.indexOf(Buffer.of(0xff, 0xc0)) + 1] = frame
    t.equal(readImage(bytes), 'has no baseline or progressive JPEG frame')
  }
})

t.test('a JPEG has the colours it was made of, to a few steps', async (t) => {
  for (const pixel of pixelsOf(read(plainJpeg(SMALL, COLOUR))))
    for (const [nth, value] of COLOUR.entries())
      t.ok(Math.abs((pixel[nth] ?? 0) - value) < 6, `${pixel.join()}`)
})

t.test('every filter of PNG is undone', async (t) => {
  // Two rows of a red and a green sample ramp, as each filter leaves them.
  const above = [0, 10, 20, 30, 40, 50, 60]
  const below: Readonly<Record<number, readonly number[]>> = {
    0: [11, 22, 33, 44, 55, 66],
    1: [11, 22, 33, 33, 33, 33],
    2: [1, 2, 3, 4, 5, 6],
    3: [6, 12, 18, 19, 19, 20],
    4: [1, 2, 3, 4, 5, 6],
  }
  for (const [filter, row] of Object.entries(below)) {
    const image = read(
      pngOf(
        { width: 2, height: 2, depth: 8, colourType: 2 },
        Buffer.from([...above, Number(filter), ...row]),
      ),
    )
    t.same(
      pixelsOf(image).slice(2),
      [
        [11, 22, 33, 255],
        [44, 55, 66, 255],
      ],
      `filter ${filter}`,
    )
  }
})

t.test('every kind of pixel comes out as red, green, blue and cover', async (t) => {
  const one = { width: 1, height: 1 }
  const palette = Buffer.from([1, 2, 3, 40, 50, 60])
  const kinds = [
    [{ depth: 1, colourType: 0 }, [0x80], [255, 255, 255, 255]],
    [{ depth: 4, colourType: 0 }, [0x50], [85, 85, 85, 255]],
    [{ depth: 16, colourType: 0 }, [77, 1], [77, 77, 77, 255]],
    [{ depth: 8, colourType: 4 }, [9, 8], [9, 9, 9, 8]],
    [{ depth: 16, colourType: 2 }, [1, 0, 2, 0, 3, 0], [1, 2, 3, 255]],
    [{ depth: 8, colourType: 6 }, [1, 2, 3, 4], [1, 2, 3, 4]],
    [{ depth: 2, colourType: 3, palette, covers: Buffer.from([7]) }, [0x00], [1, 2, 3, 7]],
    [{ depth: 8, colourType: 3, palette, covers: Buffer.from([7]) }, [1], [40, 50, 60, 255]],
    [{ depth: 8, colourType: 3, palette }, [200], [0, 0, 0, 255]],
  ] as const
  for (const [kind, row, pixel] of kinds)
    t.same(
      pixelsOf(read(pngOf({ ...one, ...kind }, Buffer.from([0, ...row])))),
      [pixel],
      JSON.stringify(kind),
    )
})

t.test('an interlaced PNG is put together', async (t) => {
  // Each pixel of the 5 × 3 ones has its own grey: its row, then its column. Rows of the seven passes in
  // their order.
  const rows = [[0], [4], [2], [20, 22, 24], [1, 3], [21, 23], [10, 11, 12, 13, 14]]
  const image = read(
    pngOf(
      { ...SMALL, depth: 8, colourType: 0, isInterlaced: true },
      Buffer.from(rows.flatMap((row) => [0, ...row])),
    ),
  )
  const wanted = Array.from({ length: 15 }, (_, nth) => 10 * Math.floor(nth / 5) + (nth % 5))
  t.same(
    pixelsOf(image).map(([value]) => value),
    wanted,
  )
})

const SIZE = { width: 64, height: 48 }
const film = (draw: Film['draw'], frames = 5): Film => ({ ...SIZE, framesPerSecond: 12, frames, draw })
const grey = newFrame(SIZE).bytes.fill(128)
const broken = new Error('a bug in a scene')

t.test('a drawing that fails, at whatever frame, costs later clips of the thread nothing', async (t) => {
  const before = await encode(film(() => grey))
  for (const failing of [0, 1, 4]) {
    const draw = (nth: number): Uint8Array => {
      if (nth === failing) throw broken
      return grey
    }
    await t.rejects(encode(film(draw)), broken, `frame ${failing}`)
  }
  t.ok(Buffer.from(before).equals(Buffer.from(await encode(film(() => grey)))))
})

t.test('clips that are made at once in one thread do not mix', async (t) => {
  const films = [1, 2, 3].map((frames) => encode(film(() => grey, frames)))
  t.same(
    (await Promise.all(films)).map((clip) => readMp4(clip).frames),
    [1, 2, 3],
  )
})
