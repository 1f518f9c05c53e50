import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import t from 'tap'
import { Mp4Walk } from '../../../src/server/files/clips.ts'
import { box, CLIP } from '../../support/videos/boxes.ts'

/** Whether a file passes, in pieces of any size. */
function passes(file: Uint8Array, pieceBytes = file.length || 1): boolean {
  const walk = new Mp4Walk()
  for (let at = 0; at < file.length; at += pieceBytes)
    if (!walk.take(file.subarray(at, at + pieceBytes))) return false
  return walk.isWhole
}

t.test('accepts a clip that is split at any byte', async (t) => {
  for (let size = 1; size <= CLIP.length; size++) if (!passes(CLIP, size)) t.fail(`in pieces of ${size}`)
  t.ok(passes(CLIP))
})

t.test('refuses a clip that is cut off anywhere', async (t) => {
  const fit = Array.from({ length: CLIP.length }, (_, length) => length).filter((length) =>
    passes(CLIP.subarray(0, length)),
  )
  t.same(fit, [])
})

t.test('accepts a last box that extends to the end of the file, and a 64-bit size', async (t) => {
  const open = Buffer.concat([box('ftyp', 8), box('moov', 4), Buffer.from('\0\0\0\0mdatanything', 'latin1')])
  const long = Buffer.concat([
    box('ftyp', 8),
    box('moov', 4),
    Buffer.from('\0\0\0\x01mdat\0\0\0\0\0\0\0\x12xy', 'latin1'),
  ])
  t.ok(passes(open))
  t.ok(passes(long) && passes(long, 1))
})

t.test('a file that is not MP4 is refused at its first header', async (t) => {
  const strange = [
    '<!doctype html><html></html>',
    '{"error":{"message":"no"}}',
    '\x1a\x45\xdf\xa3webmwebm',
    'RIFF\0\0\0\0AVI LIST',
  ]
  t.same(
    strange.map((text) => new Mp4Walk().take(Buffer.from(text, 'latin1'))),
    strange.map(() => false),
  )
})

t.test('boxes of impossible sizes are refused', async (t) => {
  const after = (header: string): Buffer => Buffer.concat([box('ftyp', 8), Buffer.from(header, 'latin1')])
  const strange = [
    '\0\0\0\x07moov',
    '\0\0\0\x01moov\0\0\0\0\0\0\0\x0f',
    '\0\0\0\x01moov\xff\xff\xff\xff\xff\xff\xff\xff',
  ]
  t.same(
    strange.map((header) => new Mp4Walk().take(after(header))),
    [false, false, false],
  )
})

t.test('a file without a video track, or without its index, is not a clip', async (t) => {
  t.notOk(passes(Buffer.concat([box('ftyp', 8), box('moov', 4)])))
  t.notOk(passes(Buffer.concat([box('ftyp', 8), box('mdat', 4)])))
  t.notOk(passes(new Uint8Array(0)))
})

t.test('boxes of ever new types use no memory, even in half a gigabyte of them', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const [typeCount, typesPerPiece] = [500_000, 10_000]
  const walk = new Mp4Walk()
  walk.take(box('ftyp', 8))
  const piece = Buffer.alloc(8 * typesPerPiece)
  collect()
  const beforeBytes = process.memoryUsage().heapUsed
  for (let nth = 0; nth < typeCount; nth++) {
    const at = 8 * (nth % typesPerPiece)
    piece.writeUInt32BE(8, at)
    piece.writeUInt32BE(nth, at + 4)
    if (at === piece.length - 8) walk.take(piece)
  }
  collect()
  t.ok(process.memoryUsage().heapUsed - beforeBytes < 8 * 2 ** 20)
  t.notOk(walk.isWhole)
})

t.test('never throws, whatever the bytes', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 50 }), (bytes, size) => {
      passes(bytes, size)
      passes(Buffer.concat([box('ftyp', 8), bytes]), size)
    }),
  )
})
