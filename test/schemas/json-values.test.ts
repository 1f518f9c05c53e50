import fc from 'fast-check'
import t from 'tap'
import { escapedBytes } from '../../src/schemas/values/json-bytes.ts'
import { hasMoreValues } from '../../src/dialects/translate.ts'

const has = (json: string, most: number): boolean => hasMoreValues(Buffer.from(json), most)

t.test('counts objects, lists and members, but nothing inside strings', (t) => {
  const list = `[${'{},'.repeat(9)}{}]`
  t.notOk(has(list, 20))
  t.ok(has(list, 19))
  t.ok(has('[1,2,3,4]', 3))
  const text = JSON.stringify({ a: '[{,",\\'.repeat(50), b: '\\' })
  t.notOk(has(text, 2))
  t.ok(has(text, 1))
  t.notOk(has('{"a', 1), 'a text without its end')
  t.end()
})

t.test('a 32 MiB body of empty objects exceeds the maximum; the same text inside a string does not', (t) => {
  const most = 1_048_576
  t.ok(has(`[${'{},'.repeat(11_000_000)}{}]`, most))
  t.notOk(has(`["${'{},'.repeat(11_000_000)}"]`, most))
  t.end()
})

/** Writes some characters as escapes. */
function written(text: string, isEscaped: (nth: number) => boolean): string {
  const units = Array.from({ length: text.length }, (_, nth) => text.charCodeAt(nth))
  const isPair = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff
  return units
    .map((unit, nth) => {
      const plain = JSON.stringify(String.fromCharCode(unit)).slice(1, -1)
      // Half of a pair stands alone in no valid text: all of them are escaped.
      return isPair(unit) || isEscaped(nth) ? `\\u${unit.toString(16).padStart(4, '0')}` : plain
    })
    .join('')
}

t.test('the bytes less the escaped bytes are the UTF-8 length of the text', async () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '"', '\\', '\n', 'é', '中', '😀', 'u', 'x'.repeat(70)),
  })
  fc.assert(
    fc.property(text, fc.nat(3), (text, step) => {
      const json = Buffer.from(written(text, (nth) => nth % (step + 1) === 0))
      return json.length - escapedBytes(json) === Buffer.byteLength(text)
    }),
    { numRuns: 1_000 },
  )
})

t.test('an escaped backslash does not begin an escape', async (t) => {
  t.equal(escapedBytes(Buffer.from('"\\\\u0041"')), 1)
  t.equal(escapedBytes(Buffer.from('"plain"')), 0)
})
