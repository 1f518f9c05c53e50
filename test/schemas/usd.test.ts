import fc from 'fast-check'
import t from 'tap'
import { USD_MAX } from '../../src/schemas/money/money-limits.ts'
import { nanoOfUsd, usdOfNano, usdText } from '../../src/schemas/money/costs.ts'

const NANO_MAX = BigInt(USD_MAX) * 1_000_000_000n

t.test('a number of USD becomes whole nano-USD', async (t) => {
  t.equal(nanoOfUsd(10), 10_000_000_000n)
  t.equal(nanoOfUsd(0.1), 100_000_000n)
  t.equal(nanoOfUsd(1e-9), 1n)
  t.equal(nanoOfUsd(-0.000_001_5), -1_500n)
  t.equal(nanoOfUsd(0), 0n)
  t.equal(nanoOfUsd(-0), 0n)
})

t.test('rounds a fraction of a nano-USD to the nearest', async (t) => {
  t.equal(nanoOfUsd(0.4e-9), 0n)
  t.equal(nanoOfUsd(0.6e-9), 1n)
  t.equal(nanoOfUsd(-0.6e-9), -1n)
  t.equal(nanoOfUsd(1 / 3), 333_333_333n)
})

t.test('refuses NaN, infinities and amounts beyond USD_MAX', async (t) => {
  for (const usd of [Number.NaN, Infinity, -Infinity, USD_MAX * 1.000_001, -USD_MAX - 1, 1e21])
    t.equal(nanoOfUsd(usd), null, String(usd))
  t.equal(nanoOfUsd(USD_MAX), NANO_MAX)
  t.equal(nanoOfUsd(-USD_MAX), -NANO_MAX)
})

t.test('every amount below 2^23 USD converts to a number and back exactly', async () => {
  const amount = fc.bigInt({ min: -(2n ** 23n) * 1_000_000_000n + 1n, max: 2n ** 23n * 1_000_000_000n - 1n })
  fc.assert(
    fc.property(amount, (nano) => nanoOfUsd(usdOfNano(nano)) === nano),
    { numRuns: 500 },
  )
})

t.test('a number of USD is converted to nano-USD with an error of at most half a nano-USD', async () => {
  fc.assert(
    fc.property(fc.double({ min: -USD_MAX, max: USD_MAX, noNaN: true }), (usd) => {
      const nano = nanoOfUsd(usd)
      if (nano === null) return false
      const { numerator, denominator } = fractionOf(usd)
      const off = numerator * 1_000_000_000n - nano * denominator
      return 2n * (off < 0n ? -off : off) <= denominator
    }),
    { numRuns: 500 },
  )
})

t.test('an amount becomes the nearest number of USD, even above 2^53 nano-USD', async () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: NANO_MAX }),
      (nano) =>
        usdOfNano(nano) ===
        Number(`${nano / 1_000_000_000n}.${String(nano % 1_000_000_000n).padStart(9, '0')}`),
    ),
    { numRuns: 500 },
  )
})

t.test('a safe integer gives the same number of USD as the bigint of its value', async () => {
  fc.assert(fc.property(fc.maxSafeInteger(), (nano) => usdOfNano(nano) === usdOfNano(BigInt(nano))))
})

/** A double as the fraction that it is. */
function fractionOf(value: number): { readonly numerator: bigint; readonly denominator: bigint } {
  let scaled = value
  let denominator = 1n
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    denominator *= 2n
  }
  return { numerator: BigInt(scaled), denominator }
}

t.test('USD is written exactly, and never with an exponent', async (t) => {
  const cases: readonly (readonly [number | bigint, string])[] = [
    [0, '0'],
    [1, '0.000000001'],
    [9_990_000_000, '9.99'],
    [10_000_000_000, '10'],
    [-1_500_000_000, '-1.5'],
    [Number.MAX_SAFE_INTEGER, '9007199.254740991'],
    [123_456_789_012_345_678_901n, '123456789012.345678901'],
  ]
  for (const [nano, text] of cases) t.equal(usdText(nano), text)
})
