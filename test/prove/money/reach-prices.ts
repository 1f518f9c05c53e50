/** A call costs what the catalogue's texts say for its length, hour and tiers, and never more than was held. F1. */
import type { Pricing } from '../../../src/schemas/models/models.ts'
import {
  OVERRIDE_KEYS,
  TIER_MEMBERS,
  TOKEN_PRICE_KEYS,
  UTC_DAYS,
  type PriceModifier,
  type PricingOverride,
  tierOf,
  type Tiers,
} from '../../../src/schemas/models/price-conditions.ts'
import { dearestPricesAt, priceAt, type Priced } from '../../../src/schemas/money/price-at.ts'
import { endpointPrices } from '../../../src/schemas/money/read-prices.ts'
import { loadCatalogue } from '../../../src/server/catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../../src/server/catalogue/shipped.ts'
import type { Proof, Program } from '../proof.ts'
import { oracleNano, type PricedCall } from './price-oracle.ts'
import {
  inputTokens,
  outputTokens,
  pricedNano,
  textCostNano,
  type TokenCounts,
} from '../../../src/schemas/money/costs.ts'

const CALLS = 1_000_000
const CALLS_SHORT = 10_000
const CALLS_OF_AN_ENDPOINT = 25
const TIERS = {
  service_tier: ['default', 'standard', 'flex', 'priority', 'fast', 'Priority', 'scale', 'ultrafast'],
  speed: ['standard', 'fast'],
  inference_geo: ['global', 'us', 'not_available'],
} as const

interface Offer {
  readonly pricing: Partial<Pricing>
  readonly modifiers: readonly PriceModifier[]
  readonly endpoint: Priced
}

export const program: Program = {
  text: 'random calls cost what the catalogue says for length, hour and tier, never more than their bound',
  async run(proof) {
    randomCalls(proof)
    knownCalls(proof)
    speed(proof)
    await Promise.resolve()
  },
}

function randomCalls(proof: Proof): void {
  const dice = new Dice(proof)
  const calls = proof.isShort ? CALLS_SHORT : CALLS
  let [other, over, conditional] = [0, 0, 0]
  let offer = dice.offer()
  for (let nth = 0; nth < calls; nth += 1) {
    if (nth % CALLS_OF_AN_ENDPOINT === 0) offer = dice.offer()
    const call = dice.call(offer)
    const reported = tiersOf(call.reported)
    const { usage } = call
    const at = call.at.getTime()
    const price = priceAt(offer.endpoint, { promptTokens: inputTokens(usage), at, reported })
    const charge = textCostNano(usage, price) + call.images * price.imageNano
    if (price.applied.overrides.length + price.applied.modifiers.length > 0) conditional += 1
    if (BigInt(charge) !== oracleNano(offer.pricing, offer.modifiers, call)) {
      other += 1
      if (other === 1) proof.say(JSON.stringify({ offer, call, charge }))
    }
    if (boundOf(offer, call, dice) < charge) {
      over += 1
      if (over === 1) proof.say(JSON.stringify({ offer, call, charge, isOver: true }))
    }
  }
  proof.check(`${calls} random calls are charged what the oracle says`, other === 0, `${other} are not`)
  proof.check('none is charged more than its bound', over === 0, `${over} are`)
  proof.check(
    'conditions apply to at least a quarter',
    conditional >= calls / 4,
    `${conditional} of ${calls}`,
  )
}

/** The bound of a call that was admitted up to an hour before, with more tokens than it used. */
function boundOf({ endpoint }: Offer, { usage, at, reported, images }: PricedCall, dice: Dice): number {
  const [tokens, written] = [inputTokens(usage) + dice.below(1_000), outputTokens(usage) + dice.below(1_000)]
  const [from, until] = [at.getTime() - dice.below(3_600_000), at.getTime() + dice.below(3_600_000)]
  const asked = tiersOf(reported)
  const dearest = dearestPricesAt(endpoint, { promptTokensMax: tokens, from, until, asked })
  const { requestNano, searchNano, imageNano } = endpoint.prices
  return pricedNano(
    [
      [tokens, dearest.inputNanoPerMillionMax],
      [written, dearest.outputNanoPerMillionMax],
    ],
    requestNano + (usage.searches ?? 0) * searchNano + images * imageNano,
  )
}

function tiersOf(reported: PricedCall['reported']): Tiers {
  return Object.fromEntries(
    TIER_MEMBERS.flatMap((member) => {
      const tier = tierOf(member, reported[member])
      return tier === undefined ? [] : [[member, tier]]
    }),
  )
}

function knownCalls(proof: Proof): void {
  const pricing = {
    ...{ prompt: '0.00000125', completion: '0.00001' },
    overrides: [{ min_prompt_tokens: 200_000, prompt: '0.0000025', completion: '0.000015' }],
  }
  const long = costOf(pricing, 300_000, 2_000)
  proof.check(
    '300,000 tokens read and 2,000 written cost 0.78 USD',
    long === 780_000_000,
    `${long / 1e9} USD`,
  )
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: null })
  const shipped = loaded.ok ? loaded.catalogue.resolve('google/gemini-2.5-pro')?.wire.pricing : undefined
  const both = [200_000, 200_001].map((tokens) => costOf(shipped ?? {}, tokens, 1_000))
  const isRight = both[0] === 260_000_000 && both[1] === 515_002_500
  proof.check('shipped gemini-2.5-pro: low price at 200,000, high at 200,001', isRight, both.join(' and '))
}

function costOf(pricing: Partial<Pricing>, input: number, output: number): number {
  const usage = { input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const facts = { promptTokens: input, at: Date.UTC(2026, 10, 26), reported: {} }
  return textCostNano(usage, priceAt({ prices: endpointPrices({ pricing }) }, facts))
}

function speed(proof: Proof): void {
  const overrides = Array.from({ length: 8 }, (_, nth) => ({
    ...{ min_prompt_tokens: nth * 10_000, utc_start: 100, utc_end: 2300, prompt: '0.000001' },
  }))
  const endpoint = { prices: endpointPrices({ pricing: { prompt: '0.000001', overrides } }) }
  const facts = { promptTokens: 100_000, at: Date.UTC(2026, 10, 26, 12), reported: {} }
  const times = 200_000
  for (let nth = 0; nth < times; nth += 1) priceAt(endpoint, facts)
  const began = process.hrtime.bigint()
  for (let nth = 0; nth < times; nth += 1) priceAt(endpoint, facts)
  const ns = Number(process.hrtime.bigint() - began) / times
  proof.checkTimed('a price with 8 overrides takes 1 µs at most', ns <= 1_000, `${Math.round(ns)} ns`)
}

const PERCENT = 100

/** Random catalogues and calls; the same seed gives the same. */
class Dice {
  readonly #proof: Proof

  constructor(proof: Proof) {
    this.#proof = proof
  }

  below(end: number): number {
    return this.#proof.random(end)
  }

  #is(chance: number): boolean {
    return this.#proof.random(PERCENT) < chance * PERCENT
  }

  #of<T>(list: readonly [T, ...T[]] | readonly T[]): T {
    const one = list[this.below(list.length)]
    if (one === undefined) throw new Error('an empty list')
    return one
  }

  /** With so few places that three multipliers of two places leave it countable. */
  #usd(): string {
    return `0.${String(this.below(20_000)).padStart(9, '0')}`
  }

  #prices(keys: readonly string[], chance: number): Record<string, string> {
    return Object.fromEntries(keys.flatMap((key) => (this.#is(chance) ? [[key, this.#usd()]] : [])))
  }

  #overrides(): PricingOverride[] {
    return Array.from({ length: this.below(4) }, () => {
      const start = this.below(24) * 100 + this.below(60)
      const end = this.below(24) * 100 + this.below(60)
      return {
        ...(this.#is(0.6) && { min_prompt_tokens: this.below(4) * 50_000 }),
        ...(this.#is(0.4) && start !== end && { utc_start: start, utc_end: end }),
        ...(this.#is(0.3) && { utc_days: UTC_DAYS.filter(() => this.#is(0.5)) }),
        prompt: this.#usd(),
        ...this.#prices(OVERRIDE_KEYS, 0.3),
      }
    })
  }

  #modifiers(): PriceModifier[] {
    return TIER_MEMBERS.flatMap((member) =>
      // A catalogue has one name for each tier.
      [...new Set(TIERS[member].map((tier) => tierOf(member, tier) ?? ''))]
        .filter(() => this.#is(0.4))
        .map((tier): PriceModifier => {
          const when = { [member]: tier } as PriceModifier['when']
          if (this.#is(0.5)) return { when, multiplier: `${this.below(7)}.${this.below(100)}` }
          const pricing = { ...this.#prices(TOKEN_PRICE_KEYS, 0.3), overrides: this.#overrides() }
          return { when, pricing }
        }),
    )
  }

  offer(): Offer {
    const pricing: Partial<Pricing> = {
      ...{ prompt: this.#usd(), completion: this.#usd() },
      ...this.#prices(TOKEN_PRICE_KEYS, 0.4),
      ...this.#prices(['request', 'web_search', 'image'], 0.3),
      overrides: this.#overrides(),
    }
    const modifiers = this.#modifiers()
    return { pricing, modifiers, endpoint: { prices: endpointPrices({ pricing, modifiers }) } }
  }

  /** Prompts near and at the thresholds; some reports are missing. */
  call({ modifiers }: Offer): PricedCall {
    const input = this.below(4) * 50_000 + (this.#is(0.5) ? this.below(3) : this.below(50_000))
    const cacheRead = this.#is(0.4) ? this.below(60_000) : 0
    const cacheWrite = this.#is(0.3) ? this.below(20_000) : 0
    const output = this.below(5_000)
    const usage: TokenCounts = {
      ...{ input, cacheRead, cacheWrite, output, reasoning: this.#is(0.3) ? this.below(9_000) : 0 },
      ...(this.#is(0.5) && { cacheWriteHour: this.below(cacheWrite + 1) }),
      ...(this.#is(0.3) && { searches: this.below(5) }),
      ...(this.#is(0.3) && { media: this.#media(input, cacheRead, output) }),
    }
    const reported = Object.fromEntries(
      TIER_MEMBERS.flatMap((member) => (this.#is(0.5) ? [[member, this.#tier(member, modifiers)]] : [])),
    )
    const at = new Date(Date.UTC(2026, 10, 1) + this.below(28 * 86_400_000))
    return { usage, at, reported, images: this.#is(0.2) ? this.below(4) : 0 }
  }

  #media(input: number, cacheRead: number, output: number): NonNullable<TokenCounts['media']> {
    const [audio, audioRead, audioOutput] = [
      this.below(input + 1),
      this.below(cacheRead + 1),
      this.below(output + 1),
    ]
    return { audio, image: this.below(input - audio + 1), audioRead, audioOutput }
  }

  #tier(member: (typeof TIER_MEMBERS)[number], modifiers: readonly PriceModifier[]): string {
    const known = modifiers.flatMap(({ when }) =>
      Object.entries(when).flatMap(([of, tier]) => (of === member ? [tier] : [])),
    )
    return known.length > 0 && this.#is(0.6) ? this.#of(known) : this.#of<string>(TIERS[member])
  }
}
