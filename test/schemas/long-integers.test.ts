import fc from 'fast-check'
import t from 'tap'
import { markedNumber, parseMarked, withoutMarks } from '../../src/schemas/values/long-integers.ts'

const copied = (json: string): string => withoutMarks(JSON.stringify(parseMarked(json)))

t.test('integers keep their digits at every place', (t) => {
  for (const json of [
    '{"id":12345678901234567890}',
    '[-9007199254740993,9007199254740991,{"a":[1234567890123456789]}]',
    '90071992547409930000000000000000000000000000000000000000000000000001',
    '{"a1234567890123456789":"1234567890123456789 \\" 1234567890123456789","b":9007199254740993}',
    '{"a":"\\\\","b":9007199254740993,"c":"\\\\\\""}',
  ])
    t.equal(copied(json), json)
  t.end()
})

t.test('integers in JSON within a JSON text keep their digits, at every depth', (t) => {
  const inner = '{"id":9007199254740993}'
  let written = JSON.stringify({ a: JSON.stringify(parseMarked(inner)) })
  let expected = JSON.stringify({ a: inner })
  for (let depth = 0; depth < 4; depth++) {
    t.equal(withoutMarks(written), expected)
    written = JSON.stringify([written])
    expected = JSON.stringify([expected])
  }
  t.end()
})

t.test('all other JSON parses as with JSON.parse', (t) => {
  fc.assert(
    fc.property(fc.json(), fc.bigInt(), (json, long) => {
      const both = `[${json},${long},1.2345678901234567,-0,1234567890123456.5]`
      t.same(JSON.parse(copied(both)), JSON.parse(both))
      t.equal(copied(`[${long}]`), `[${long}]`)
    }),
  )
  t.same(parseMarked('[1,9007199254740991]'), [1, 9_007_199_254_740_991])
  for (const broken of ['', '{', '{1234567890123456789:1}', '[01234567890123456789]', '[1234567890123456789'])
    t.throws(() => parseMarked(broken), broken)
  t.end()
})

t.test('a marked integer is read as its number', (t) => {
  t.equal(markedNumber(parseMarked('90071992547409930')), 90_071_992_547_409_930)
  for (const value of [1, '1', null, '90071992547409930']) t.equal(markedNumber(value), null)
  t.end()
})
