import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import t from 'tap'
import { Utf8Check } from '../../../../src/workers/content/text/text.ts'
import { chunks } from '../../../support/wire/chunks.ts'

function check(bytes: Uint8Array, sizes: readonly number[]): boolean {
  const utf8 = new Utf8Check()
  for (const chunk of chunks(bytes, sizes)) utf8.push(chunk)
  return utf8.finish()
}

const SIZES = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 })

/** Characters of every length, with pieces of characters and wrong bytes between them. */
const NEAR_UTF8 = fc
  .array(
    fc.oneof(
      {
        weight: 9,
        arbitrary: fc
          .constantFrom('a', 'é', '€', '\ud7ff', '\ue000', '😀', '\u{10ffff}')
          .map((text) => Buffer.from(text)),
      },
      { weight: 1, arbitrary: fc.uint8Array({ min: 1, maxLength: 3 }).map((bytes) => Buffer.from(bytes)) },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom(
            'c0af',
            'e08080',
            'eda080',
            'f4908080',
            'f0808080',
            'e282',
            'f09f98',
            '80',
            'f8888080',
          )
          .map((hex) => Buffer.from(hex, 'hex')),
      },
    ),
    { maxLength: 8 },
  )
  .map((parts) => Buffer.concat(parts))

t.test('bytes are UTF-8 exactly when Node accepts the whole, however they are split', async (t) => {
  fc.assert(
    fc.property(NEAR_UTF8, SIZES, (bytes, sizes) => check(bytes, sizes) === isUtf8(bytes)),
    { numRuns: 20_000 },
  )
  t.pass('no difference')
})

t.test('a NUL byte is refused wherever it stands', async (t) => {
  for (const text of ['\0', 'a\0', '\0a', 'é\0é']) t.equal(check(Buffer.from(text), [1]), false)
})

t.test('a sequence that the end cuts off is refused', async (t) => {
  for (const length of [1, 2, 3]) t.equal(check(Buffer.from('😀').subarray(0, length), [1]), false)
})
