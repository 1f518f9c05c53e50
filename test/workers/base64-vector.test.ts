import t from 'tap'
import { endOfBase64 } from '../../src/workers/base64-vector.ts'
import { NumberBytes } from '../../src/workers/number-list.ts'
import { randomFrom } from '../support/embeddings/random-answers.ts'
import { inScanMemory } from '../support/embeddings/vector-texts.ts'

/** Whole finite numbers in the form in which an encoder writes them. */
function isVector(text: string): boolean {
  const floats = Buffer.from(text, 'base64')
  if (floats.length === 0 || floats.length % 4 !== 0 || floats.toString('base64') !== text) return false
  const view = new DataView(floats.buffer, floats.byteOffset, floats.length)
  return Array.from({ length: floats.length / 4 }, (_, nth) => view.getFloat32(nth * 4, true)).every(
    Number.isFinite,
  )
}

/** The ends found in a string with more text after it, both copied to the code and in place in its memory. */
function endsOf(text: string): readonly number[] {
  const bytes = Buffer.from(
    `"${text}","index":0}],"usage":{"prompt_tokens":12345,"total_tokens":12345}}`,
    'latin1',
  )
  return [bytes, inScanMemory(bytes)].map((each) => endOfBase64(new NumberBytes(each), 0))
}

function mistake(text: string): string | null {
  const wanted = isVector(text) ? text.length + 2 : -1
  const ends = endsOf(text)
  return ends.every((end) => end === wanted) ? null : `${ends.join()}, not ${wanted}: ${JSON.stringify(text)}`
}

const bytesOf = (length: number, random: () => number): Buffer =>
  Buffer.from(new Float32Array(length).map(() => random() - 0.5).buffer)

t.test('accepts vectors of every length, and refuses a missing or an additional character', async (t) => {
  const random = randomFrom(1)
  for (let length = 0; length < 100; length++) {
    const text = bytesOf(length, random).toString('base64')
    for (const each of [
      text,
      text.slice(0, -1),
      `${text}A`,
      `${text}=`,
      `${text}AAAA`,
      text.replaceAll('=', ''),
    ]) {
      const wrong = mistake(each)
      if (wrong !== null) t.fail(wrong)
    }
  }
  t.pass()
})

t.test('a number that is not finite is found at every place, whatever its other bits', async (t) => {
  const random = randomFrom(2)
  const words = [
    0x7f800000, 0xff800000, 0x7fc00000, 0xffffffff, 0x7f7fffff, 0xff7fffff, 0x7f000000, 0x00800000,
  ]
  for (let place = 0; place < 30; place++) {
    const bytes = bytesOf(30, random)
    for (let nth = 0; nth < 600; nth++) {
      const bits = Math.floor(random() * 2 ** 32)
      // All but one bit of an exponent of ones, and any number.
      const near = (bits | 0x7f800000) ^ (0x00800000 << (nth % 9))
      bytes.writeUInt32LE((words[nth] ?? (nth % 3 === 0 ? bits : near)) >>> 0, place * 4)
      const wrong = mistake(bytes.toString('base64'))
      if (wrong !== null) t.fail(wrong)
    }
  }
  t.pass()
})

t.test('accepts a byte at any place only where the encoder could write it', async (t) => {
  const text = bytesOf(25, randomFrom(3)).toString('base64')
  for (let at = 0; at < text.length; at++) {
    for (let byte = 0; byte < 256; byte++) {
      const wrong = mistake(text.slice(0, at) + String.fromCharCode(byte) + text.slice(at + 1))
      // A quote ends the string earlier.
      if (wrong !== null && byte !== 0x22) t.fail(wrong)
    }
  }
  t.pass()
})

t.test('a vector longer than the Wasm memory is read in windows', async (t) => {
  const random = randomFrom(4)
  for (const length of [12_287, 12_288, 12_289, 40_000]) {
    const bytes = bytesOf(length, random)
    const text = bytes.toString('base64')
    t.equal(endOfBase64(new NumberBytes(Buffer.from(`"${text}"`)), 0), text.length + 2)
    bytes.writeUInt32LE(0x7fc00000, bytes.length - 4)
    t.equal(endOfBase64(new NumberBytes(Buffer.from(`"${bytes.toString('base64')}"`)), 0), -1)
  }
})
