import fc from 'fast-check'
import t from 'tap'
import { nano, nanoPerMillion, scaled } from '../../src/schemas/money/prices.ts'

t.test('a price in USD per token becomes whole nano-USD per million tokens', async (t) => {
  t.equal(nanoPerMillion('0.00000002'), 20_000_000)
  t.equal(nanoPerMillion('0.00000013'), 130_000_000)
  t.equal(nanoPerMillion('0'), 0)
  t.equal(nanoPerMillion('1'), 10 ** 15)
})

t.test('a price in USD per request becomes whole nano-USD', async (t) => {
  t.equal(nano('0.0005'), 500_000)
  t.equal(nano('12.5'), 12_500_000_000)
})

t.test('every amount of money up to the largest converts from its decimal text exactly', async () => {
  const amount = fc.bigInt({ min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) })
  fc.assert(
    fc.property(amount, fc.integer({ min: 1, max: 15 }), fc.boolean(), (value, places, isPadded) => {
      const digits = value.toString().padStart(places + 1, '0')
      const text = `${digits.slice(0, -places)}.${digits.slice(-places)}`
      return scaled(isPadded ? text : text.replace(/\.?0+$/, ''), places) === Number(value)
    }),
  )
})

t.test('a price finer than the unit or larger than a safe integer is refused, never rounded', async (t) => {
  t.equal(nanoPerMillion('0.0000000000000001'), null)
  t.equal(nanoPerMillion('10'), null)
  t.equal(nano('0.0000000001'), null)
  t.equal(nano('0.0000000010'), 1)
})

t.test('refuses text that is not a plain decimal', async (t) => {
  for (const text of ['', '.5', '1.', '-1', '+1', '1e-8', '1,5', ' 1', '0x1', 'NaN'])
    t.equal(nano(text), null, text)
})

t.test('a price of a million digits is read without delay', async (t) => {
  const zeros = '0'.repeat(1_000_000)
  t.equal(nano(`0.${zeros}1`), null)
  t.equal(nano(`${zeros}1.5${zeros}`), 1_500_000_000)
  t.equal(nano('9'.repeat(1_000_000)), null)
})
