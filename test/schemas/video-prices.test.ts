import fc from 'fast-check'
import t from 'tap'
import { VIDEO_PRICE_USD_MAX, VIDEO_SECONDS_MAX } from '../../src/schemas/videos/video-model-limits.ts'
import {
  dearestVideoNano,
  isPriced,
  isVideoSku,
  videoCostNano,
  videoPricing,
  type VideoPricing,
} from '../../src/schemas/videos/video-prices.ts'
import { present } from '../support/must.ts'

const USD = 1_000_000_000

function priced(skus: Record<string, string>): VideoPricing {
  return present(videoPricing(skus))
}

const MANY = priced({
  duration_seconds: '0.05',
  duration_seconds_1080p: '0.2',
  duration_seconds_with_audio: '0.07',
  duration_seconds_with_audio_1080p: '0.3',
})

t.test(
  'the most specific price that applies is charged, and resolution takes precedence over audio',
  async (t) => {
    const cost = (resolution: string, hasAudio: boolean) =>
      videoCostNano(MANY, { seconds: 4, resolution, hasAudio }) / USD
    t.equal(cost('720p', false), 0.2)
    t.equal(cost('720p', true), 0.28)
    t.equal(cost('1080p', true), 1.2)
    t.equal(cost('1080p', false), 0.8)
    const both = priced({ duration_seconds_1080p: '0.2', duration_seconds_without_audio: '0.1' })
    t.equal(videoCostNano(both, { seconds: 1, resolution: '1080p', hasAudio: false }), 0.2 * USD)
  },
)

t.test('a resolution is matched regardless of case', async (t) => {
  const pricing = priced({ duration_seconds: '0.1', duration_seconds_4k: '0.6' })
  t.equal(videoCostNano(pricing, { seconds: 2, resolution: '4K', hasAudio: true }), 1.2 * USD)
})

t.test('per_video is charged once, alone or in addition to the seconds', async (t) => {
  t.equal(
    videoCostNano(priced({ duration_seconds: '0.1', per_video: '0.01' }), {
      seconds: 3,
      resolution: null,
      hasAudio: false,
    }),
    0.31 * USD,
  )
  t.equal(
    videoCostNano(priced({ per_video: '0.25' }), { seconds: 30, resolution: '720p', hasAudio: true }),
    0.25 * USD,
  )
})

t.test(
  'a video without a matching price, or of unknown resolution, costs the dearest possible price',
  async (t) => {
    const pricing = priced({ duration_seconds_480p: '0.01', duration_seconds_720p: '0.02' })
    t.equal(videoCostNano(pricing, { seconds: 1, resolution: '1080p', hasAudio: false }), 0.02 * USD)
    t.equal(videoCostNano(MANY, { seconds: 1, resolution: null, hasAudio: false }), 0.2 * USD)
    t.equal(videoCostNano(MANY, { seconds: 1, resolution: null, hasAudio: true }), 0.3 * USD)
    t.equal(
      videoCostNano(priced({ duration_seconds_with_audio: '0.1' }), {
        seconds: 1,
        resolution: '720p',
        hasAudio: false,
      }),
      0.1 * USD,
    )
  },
)

t.test('a fraction of a nano-USD is rounded up, once for the whole video', async (t) => {
  const pricing = priced({ duration_seconds: '0.000000001' })
  t.equal(videoCostNano(pricing, { seconds: 5.04, resolution: null, hasAudio: false }), 6)
  t.equal(videoCostNano(pricing, { seconds: 5, resolution: null, hasAudio: false }), 5)
  t.equal(
    videoCostNano(priced({ duration_seconds: '0.1' }), { seconds: 0.3, resolution: null, hasAudio: false }),
    30_000_000,
  )
})

t.test('the dearest price for the most seconds is still counted exactly', async (t) => {
  const pricing = priced({
    duration_seconds: String(VIDEO_PRICE_USD_MAX),
    per_video: String(VIDEO_PRICE_USD_MAX),
  })
  const cost = videoCostNano(pricing, { seconds: VIDEO_SECONDS_MAX, resolution: null, hasAudio: true })
  t.equal(cost, (VIDEO_SECONDS_MAX + 1) * VIDEO_PRICE_USD_MAX * USD)
  t.ok(Number.isSafeInteger(cost))
})

t.test('more seconds never cost less, and a known resolution never more than an unknown one', async () => {
  const sku = fc
    .constantFrom('', '_480p', '_720p', '_4k')
    .chain((end) =>
      fc.constantFrom('', '_with_audio', '_without_audio').map((sound) => `duration_seconds${sound}${end}`),
    )
  const pricing = fc
    .dictionary(
      sku,
      fc.integer({ min: 0, max: 999 }).map((price) => `0.00${price}`),
      { minKeys: 1 },
    )
    .map(priced)
  const seconds = fc.double({ min: 0, max: VIDEO_SECONDS_MAX, noNaN: true })
  const resolution = fc.constantFrom('480p', '720p', '4K')
  fc.assert(
    fc.property(pricing, seconds, seconds, resolution, fc.boolean(), (prices, a, b, known, hasAudio) => {
      const cost = (time: number, text: string | null) =>
        videoCostNano(prices, { seconds: time, resolution: text, hasAudio })
      const [short, long] = [Math.min(a, b), Math.max(a, b)]
      return cost(short, known) <= cost(long, known) && cost(long, known) <= cost(long, null)
    }),
  )
})

t.test('reserves the price of the dearest endpoint; an endpoint without a price is free', async (t) => {
  const made = { seconds: 2, resolution: '720p', hasAudio: false }
  t.equal(
    dearestVideoNano([null, priced({ duration_seconds: '0.1' }), priced({ duration_seconds: '0.3' })], made),
    0.6 * USD,
  )
  t.equal(dearestVideoNano([null], made), 0)
  t.equal(dearestVideoNano([], made), 0)
})

t.test('an unknown SKU, or a price too fine or too large to count, makes pricing invalid', async (t) => {
  for (const name of [
    'duration_second',
    'duration_seconds_',
    'duration_seconds_720',
    'with_audio',
    'duration_seconds_720p_with_audio',
    'per-video',
  ]) {
    t.notOk(isVideoSku(name), name)
    t.equal(videoPricing({ [name]: '1' }), null, name)
  }
  for (const usd of ['0.0000000001', String(VIDEO_PRICE_USD_MAX + 1), '-1', '1e3', ''])
    t.equal(videoPricing({ duration_seconds: usd }), null, usd)
})

t.test('reports whether a kind of video has a price', async (t) => {
  t.ok(isPriced(MANY, '480p', true))
  t.notOk(isPriced(priced({ duration_seconds_720p: '1' }), '480p', true))
  t.notOk(isPriced(priced({ duration_seconds_with_audio: '1' }), '480p', false))
  t.ok(isPriced(priced({ per_video: '1' }), '480p', false))
  t.notOk(isPriced(priced({}), '480p', false))
})
