import t from 'tap'
import { encode, type Film } from '../../../src/workers/clip/encode.ts'
import { newFrame } from '../../../src/workers/clip/frame.ts'
import { readMp4 } from '../../support/videos/mp4-reader.ts'

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
