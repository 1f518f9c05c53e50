/** Cost of a call to a text model, to the nano-USD. C14. */
import fc from 'fast-check'
import t from 'tap'
import { COST_NANO_MAX } from '../../../src/schemas/money/money-limits.ts'
import {
  MEDIA_KINDS,
  NO_MEDIA,
  pricedNano,
  textCostNano,
  type MediaFigures,
  type TextPrice,
  type TokenCounts,
} from '../../../src/schemas/money/costs.ts'

const NONE = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
/**
 * USD per million tokens: 3 fresh, 0.3 read, 3.75 written, 6 written for an hour, 15 of text and of
 * reasoning.
 */
const PRICE: TextPrice = {
  promptNanoPerMillion: 3_000_000_000,
  cacheReadNanoPerMillion: 300_000_000,
  cacheWriteNanoPerMillion: 3_750_000_000,
  cacheWriteHourNanoPerMillion: 6_000_000_000,
  completionNanoPerMillion: 15_000_000_000,
  reasoningNanoPerMillion: 15_000_000_000,
  requestNano: 0,
  searchNano: 10_000_000,
}

t.test('each token bucket costs its own price', async (t) => {
  for (const [bucket, nano] of [
    ['input', 3_000],
    ['cacheRead', 300],
    ['cacheWrite', 3_750],
    ['output', 15_000],
    ['reasoning', 15_000],
  ] as const) {
    t.equal(textCostNano({ ...NONE, [bucket]: 2 }, PRICE), 2 * nano, bucket)
  }
  t.equal(textCostNano(NONE, { ...PRICE, requestNano: 7 }), 7)
  t.equal(textCostNano({ ...NONE, searches: 3 }, PRICE), 30_000_000)
  t.equal(textCostNano({ ...NONE, cacheWrite: 5, cacheWriteHour: 2 }, PRICE), 3 * 3_750 + 2 * 6_000)
})

t.test('audio and pictures cost their own prices, or the text prices if they have none', async (t) => {
  const media = { audio: 1, image: 2, audioRead: 3, audioOutput: 4 }
  const usage = { ...NONE, input: 10, cacheRead: 10, output: 10, media }
  const plain = textCostNano({ ...NONE, input: 10, cacheRead: 10, output: 10 }, PRICE)
  t.equal(textCostNano(usage, PRICE), plain)
  const million = 1_000_000
  const prices = { audio: 7, image: 70, audioRead: 700, audioOutput: 7_000 }
  const scaled = Object.fromEntries(MEDIA_KINDS.map((kind) => [kind, prices[kind] * million]))
  const found = textCostNano(usage, { ...PRICE, media: scaled as unknown as MediaFigures })
  t.equal(found, 7 * 3_000 + 7 * 300 + 6 * 15_000 + 7 + 2 * 70 + 3 * 700 + 4 * 7_000)
  t.equal(textCostNano({ ...usage, media: NO_MEDIA }, { ...PRICE, media: NO_MEDIA }), plain)
})

t.test('the sum of the buckets is rounded up, not each bucket', async (t) => {
  const fine = {
    promptNanoPerMillion: 1,
    cacheReadNanoPerMillion: 1,
    cacheWriteNanoPerMillion: 1,
    cacheWriteHourNanoPerMillion: 1,
    completionNanoPerMillion: 1,
    reasoningNanoPerMillion: 1,
    requestNano: 0,
    searchNano: 1,
  }
  const each = { input: 1, cacheRead: 1, cacheWrite: 1, output: 1, reasoning: 1 }
  t.equal(textCostNano(each, fine), 1)
  t.equal(textCostNano({ ...NONE, input: 500_000, output: 500_000 }, fine), 1)
  t.equal(textCostNano({ ...NONE, input: 500_000, output: 500_001 }, fine), 2)
  t.equal(textCostNano({ ...NONE, input: 500_000, output: 500_001, searches: 2 }, fine), 4)
})

t.test('no cost of a call exceeds the safe integers', async (t) => {
  const most = Number.MAX_SAFE_INTEGER
  t.equal(pricedNano([[most, most]], most), COST_NANO_MAX)
  t.equal(pricedNano([[1, 1]], most), COST_NANO_MAX)
})

t.test('a whole cost is not rounded, even if its products exceed the safe integers', async (t) => {
  t.equal(pricedNano([[33_554_432, 3_000_000_000]], 0), 100_663_296_000)
  t.equal(pricedNano([[33_554_432, 3_000_000_001]], 0), 100_663_296_034)
})

/** The cost by exact arithmetic alone. */
function oracle(usage: TokenCounts, price: TextPrice): number {
  const sum =
    BigInt(usage.input) * BigInt(price.promptNanoPerMillion) +
    BigInt(usage.cacheRead) * BigInt(price.cacheReadNanoPerMillion) +
    BigInt(usage.cacheWrite - (usage.cacheWriteHour ?? 0)) * BigInt(price.cacheWriteNanoPerMillion) +
    BigInt(usage.cacheWriteHour ?? 0) * BigInt(price.cacheWriteHourNanoPerMillion) +
    BigInt(usage.output) * BigInt(price.completionNanoPerMillion) +
    BigInt(usage.reasoning) * BigInt(price.reasoningNanoPerMillion) +
    mediaBeside(usage, price)
  const nano =
    sum / 1_000_000n +
    (sum % 1_000_000n === 0n ? 0n : 1n) +
    BigInt(price.requestNano) +
    BigInt(usage.searches ?? 0) * BigInt(price.searchNano)
  return nano > BigInt(COST_NANO_MAX) ? COST_NANO_MAX : Number(nano)
}

/** Additional cost of sounds and pictures over that of text. */
function mediaBeside({ media = NO_MEDIA }: TokenCounts, price: TextPrice): bigint {
  const { media: prices } = price
  if (prices === undefined) return 0n
  const texts: MediaFigures = {
    ...{ audio: price.promptNanoPerMillion, image: price.promptNanoPerMillion },
    audioRead: price.cacheReadNanoPerMillion,
    audioOutput: price.completionNanoPerMillion,
  }
  return MEDIA_KINDS.reduce(
    (sum, kind) => sum + BigInt(media[kind]) * (BigInt(prices[kind]) - BigInt(texts[kind])),
    0n,
  )
}

/** Each kind within the bucket that it is a part of. */
function mediaOf({ input, cacheRead, output }: TokenCounts, share: number): MediaFigures {
  const audio = Math.floor(input * share)
  const image = Math.floor((input - audio) * share)
  const [audioRead, audioOutput] = [Math.floor(cacheRead * share), Math.floor(output * share)]
  return { audio, image, audioRead, audioOutput }
}

const usagesOf = (figure: fc.Arbitrary<number>) =>
  fc
    .record({
      input: figure,
      cacheRead: figure,
      cacheWrite: figure,
      output: figure,
      reasoning: figure,
      searches: fc.oneof(fc.constant(0), figure),
    })
    .chain((usage) =>
      fc
        .tuple(fc.nat(Math.min(usage.cacheWrite, 2 ** 31 - 1)), fc.constantFrom(null, 0, 0.3, 1))
        .map(([cacheWriteHour, share]) => ({
          ...{ ...usage, cacheWriteHour },
          ...(share !== null && { media: mediaOf(usage, share) }),
        })),
    )
const pricesOf = (figure: fc.Arbitrary<number>) =>
  fc
    .tuple(textPricesOf(figure), fc.option(mediaPricesOf(figure), { freq: 3 }))
    .map(([texts, media]): TextPrice => (media === null ? texts : { ...texts, media }))
const mediaPricesOf = (figure: fc.Arbitrary<number>) =>
  fc.record({ audio: figure, image: figure, audioRead: figure, audioOutput: figure })
const textPricesOf = (figure: fc.Arbitrary<number>) =>
  fc.record({
    promptNanoPerMillion: figure,
    cacheReadNanoPerMillion: figure,
    cacheWriteNanoPerMillion: figure,
    cacheWriteHourNanoPerMillion: figure,
    completionNanoPerMillion: figure,
    reasoningNanoPerMillion: figure,
    requestNano: figure,
    searchNano: figure,
  })

t.test('100,000 random usages cost the same as in exact arithmetic', async () => {
  // Products of usual figures are exact. In the second range the sum is not, in the third the cost is not.
  for (const [tokens, price, runs] of [
    [fc.nat(200_000), fc.nat(2 ** 31 - 1), 40_000],
    [fc.nat(2 ** 31 - 1), fc.nat(2 ** 33), 40_000],
    [fc.oneof(fc.nat(1_000), fc.maxSafeNat()), fc.oneof(fc.nat(1_000), fc.maxSafeNat()), 20_000],
  ] as const) {
    fc.assert(
      fc.property(
        usagesOf(tokens),
        pricesOf(price),
        (usage, at) => textCostNano(usage, at) === oracle(usage, at),
      ),
      { numRuns: runs },
    )
  }
})
