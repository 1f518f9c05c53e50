import { crc32, deflateSync } from 'node:zlib'
import { bytes, file, noise, u16be, u16le, u32be, u32le, type CorpusFile, type Part } from './bytes.ts'

const PNG_MAGIC = '\x89PNG\r\n\x1a\n'

export function chunk(type: string, data: Uint8Array): Buffer {
  const named = bytes(type, data)
  return bytes(u32be(data.length), named, u32be(crc32(named)))
}

function header(width: number, height: number, depth = 8, colour = 2): Buffer {
  return chunk('IHDR', bytes(u32be(width), u32be(height), depth, colour, 0, 0, 0))
}

export function png(width = 3, height = 2): Buffer {
  const rows = Buffer.alloc(height * (1 + 3 * width), 0x40)
  for (let row = 0; row < height; row++) rows[row * (1 + 3 * width)] = 0
  return bytes(PNG_MAGIC, header(width, height), chunk('IDAT', deflateSync(rows)), chunk('IEND', bytes()))
}

/** A segment with its length. */
function segment(marker: number, ...parts: Part[]): Buffer {
  const data = bytes(...parts)
  return bytes(0xff, marker, u16be(data.length + 2), data)
}

const JFIF = segment(0xe0, 'JFIF\0', [1, 1, 0, 0, 1, 0, 1, 0, 0])
const TABLES = bytes(segment(0xdb, 0, noise(64)), segment(0xc4, 0, Buffer.alloc(28, 1)))
const FRAME = segment(0xc0, [8, 0, 16, 0, 16, 1, 1, 0x11, 0])
const SCAN = segment(0xda, [1, 1, 0, 0, 63, 0])
const ENTROPY = bytes([0x12, 0x34, 0xff, 0x00, 0x56, 0xff, 0xd0, 0x78, 0x9a, 0xff, 0x00])
const EOI = [0xff, 0xd9]

export function jpeg(...between: Part[]): Buffer {
  return bytes([0xff, 0xd8], JFIF, ...between, TABLES, FRAME, SCAN, ENTROPY, EOI)
}

export function gif(...between: Part[]): Buffer {
  return bytes(
    'GIF89a',
    u16le(2),
    u16le(2),
    [0x80, 0, 0],
    [0, 0, 0, 255, 255, 255],
    ...between,
    gifImage(),
    0x3b,
  )
}

function gifImage(): Buffer {
  return bytes(0x2c, u16le(0), u16le(0), u16le(2), u16le(2), 0, 2, 3, [0x44, 0x0a, 0x05], 0)
}

export function riff(form: string, ...chunks: Part[]): Buffer {
  const body = bytes(form, ...chunks)
  return bytes('RIFF', u32le(body.length), body)
}

export function riffChunk(name: string, ...parts: Part[]): Buffer {
  const data = bytes(...parts)
  return bytes(name, u32le(data.length), data, data.length % 2 === 1 ? [0] : [])
}

const VP8 = riffChunk('VP8 ', [0x30, 1, 0], [0x9d, 0x01, 0x2a], u16le(4), u16le(4), noise(21))
const VP8L = riffChunk('VP8L', 0x2f, noise(16))
const VP8X = riffChunk('VP8X', [0x12, 0, 0, 0], [3, 0, 0, 3, 0, 0])

export const webp = riff('WEBP', VP8)

function animation(): CorpusFile[] {
  const frame = riffChunk('ANMF', noise(16), VP8L)
  const loop = riffChunk('ANIM', [0, 0, 0, 0, 0, 0])
  return [file('webp animated', 'image/webp', riff('WEBP', VP8X, loop, frame, frame, frame))]
}

export const IMAGES: readonly CorpusFile[] = [
  file('png', 'image/png', png()),
  file('png large', 'image/png', () => png(900, 300)),
  file(
    'png with text and several IDAT',
    'image/png',
    bytes(
      PNG_MAGIC,
      header(1, 1),
      chunk('tEXt', bytes('Title\0A [link](x)')),
      chunk('IDAT', noise(40)),
      chunk('IDAT', noise(9)),
      chunk('IEND', bytes()),
    ),
  ),
  file(
    'png of 16 bits a colour',
    'image/png',
    bytes(PNG_MAGIC, header(5, 5, 16, 6), chunk('IDAT', noise(40)), chunk('IEND', bytes())),
  ),
  file('png with zero padding after it', 'image/png', bytes(png(), Buffer.alloc(100))),
  file('png truncated in IDAT', /PNG/, () => png(90, 90).subarray(0, 70)),
  file('png without IEND', /PNG/, () => png().subarray(0, -12)),
  file('png signature alone', /PNG/, bytes(PNG_MAGIC)),
  file('png without IHDR', /PNG/, bytes(PNG_MAGIC, chunk('IDAT', noise(40)), chunk('IEND', bytes()))),
  file(
    'png of no width',
    /PNG/,
    bytes(PNG_MAGIC, header(0, 1), chunk('IDAT', noise(9)), chunk('IEND', bytes())),
  ),
  file(
    'png of an impossible depth',
    /PNG/,
    bytes(PNG_MAGIC, header(1, 1, 3, 2), chunk('IDAT', noise(9)), chunk('IEND', bytes())),
  ),
  file('png without image data', /PNG/, bytes(PNG_MAGIC, header(1, 1), chunk('IEND', bytes()))),
  file('png with a script after it', /PNG/, bytes(png(), '<?php system($_GET[0]) ?>')),
  file('png whose line ends were converted', /PNG/, () => bytes('\x89PNG\n\x1a\n', png().subarray(8))),

  file('jpeg', 'image/jpeg', jpeg()),
  file(
    'jpeg with EXIF and comment',
    'image/jpeg',
    jpeg(segment(0xe1, 'Exif\0\0', noise(900)), segment(0xfe, 'hi')),
  ),
  file('jpeg with fill bytes before a marker', 'image/jpeg', jpeg([0xff, 0xff, 0xff], segment(0xfe, 'hi'))),
  file(
    'jpeg progressive, several scans',
    'image/jpeg',
    bytes(
      [0xff, 0xd8],
      TABLES,
      segment(0xc2, [8, 0, 16, 0, 16, 1, 1, 0x11, 0]),
      SCAN,
      ENTROPY,
      TABLES,
      SCAN,
      ENTROPY,
      EOI,
    ),
  ),
  file('jpeg with a second picture after it', 'image/jpeg', bytes(jpeg(), jpeg())),
  file('jpeg with zero padding after it', 'image/jpeg', bytes(jpeg(), Buffer.alloc(64))),
  file('jpeg whose thumbnail has its own EOI', 'image/jpeg', jpeg(segment(0xe1, 'Exif\0\0', jpeg()))),
  file('jpeg without EOI', 'image/jpeg', () => jpeg().subarray(0, -2)),
  file('jpeg without EOI, with a page after it', /an HTML page/, () =>
    bytes(jpeg().subarray(0, -2), '<html><script>1</script>'),
  ),
  file('jpeg without EOI, with a motion photo after it', 'image/jpeg', () =>
    bytes(jpeg().subarray(0, -2), 'ftypmp42', noise(3_000, 5)),
  ),
  file('jpeg without EOI, with a script after it', /a script/, () =>
    bytes(jpeg().subarray(0, -2), '\r\n#!/bin/sh\nexit\n'),
  ),
  file('jpeg truncated in a segment', /JPEG/, () => jpeg().subarray(0, 60)),
  file('jpeg without a frame header', /JPEG/, bytes([0xff, 0xd8], JFIF, TABLES, SCAN, ENTROPY, EOI)),
  file('jpeg without a scan', /JPEG/, bytes([0xff, 0xd8], JFIF, TABLES, FRAME, EOI)),
  file('jpeg beginning alone', /JPEG/, bytes([0xff, 0xd8, 0xff, 0xe0])),
  file('jpeg with an archive after it', /JPEG/, bytes(jpeg(), 'PK\x03\x04', noise(40))),

  file('gif', 'image/gif', gif()),
  file('gif 87a', 'image/gif', bytes('GIF87a', gif().subarray(6))),
  file(
    'gif animated',
    'image/gif',
    gif(
      [0x21, 0xff, 11],
      'NETSCAPE2.0',
      [3, 1, 0, 0, 0],
      [0x21, 0xf9, 4, 0, 10, 0, 0, 0],
      gifImage(),
      gifImage(),
    ),
  ),
  file(
    'gif with a long comment',
    'image/gif',
    gif([0x21, 0xfe], 255, noise(255), 255, noise(255), 7, noise(7), 0),
  ),
  file(
    'gif whose picture has colours of its own',
    'image/gif',
    gif(0x2c, u16le(0), u16le(0), u16le(2), u16le(2), 0x81, noise(12), 2, 1, 7, 0),
  ),
  file('gif without a trailer', 'image/gif', () => gif().subarray(0, -1)),
  file('gif of a screen alone', /GIF/, bytes('GIF89a', u16le(2), u16le(2), [0, 0, 0])),
  file('gif cut within its picture', /GIF/, () => gif().subarray(0, -4)),
  file('gif without a picture', /GIF/, bytes('GIF89a', u16le(2), u16le(2), [0, 0, 0], 0x3b)),
  file('gif truncated in its colours', /GIF/, () => gif().subarray(0, 15)),
  file(
    'gif that is JavaScript, without structure',
    'text/plain',
    bytes('GIF89a/*', 'x'.repeat(20), '*/=1;alert(1)'),
  ),
  file('gif that is JavaScript after the trailer', /GIF/, bytes(gif(), '*/=1;alert(1)')),
  file(
    'gif that is JavaScript in a comment, whole to the trailer',
    'image/gif',
    gif([0x21, 0xfe], 9, '*/=1;//hi', 0),
  ),

  file('webp lossy', 'image/webp', webp),
  file('webp lossless', 'image/webp', riff('WEBP', VP8L)),
  file('webp extended', 'image/webp', riff('WEBP', VP8X, VP8L, riffChunk('EXIF', noise(31)))),
  ...animation(),
  file('webp truncated', /WebP/, () => webp.subarray(0, -6)),
  file('webp with a size below its own', /WebP/, bytes('RIFF', u32le(20), webp.subarray(8))),
  file('webp without a picture', /WebP/, riff('WEBP', VP8X)),
  file('webp without a start code', /WebP/, riff('WEBP', riffChunk('VP8 ', noise(30)))),
  file('webp with junk after it', 'image/webp', bytes(webp, 'junk')),

  file('bmp', /BMP/, bytes('BM', u32le(70), u32le(0), u32le(54), u32le(40), u32le(2), u32le(2), noise(46))),
  file('tiff', /TIFF/, bytes('II*\0', u32le(8), noise(60))),
  file('tiff big-endian', /TIFF/, bytes('MM\0*', u32be(8), noise(60))),
  file('ico', /icon/, bytes([0, 0, 1, 0, 1, 0], noise(60))),
  file('psd', /Photoshop/, bytes('8BPS', [0, 1], noise(60))),
  file('heic', /HEIC/, bytes(u32be(24), 'ftypheic', noise(60))),
  file('avif', /AVIF/, bytes(u32be(24), 'ftypavif', noise(60))),
  file('jpeg xl', /JPEG XL/, bytes([0xff, 0x0a], noise(60))),
]
