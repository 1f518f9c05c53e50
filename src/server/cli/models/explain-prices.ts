import {
  TIER_MEMBERS,
  type TierMember,
  type WrittenPrice,
  tiersOf,
  unpricedTierOf,
} from '../../../schemas/models/price-conditions.ts'
import { priceAt, type ResolvedPrice } from '../../../schemas/money/price-at.ts'
import { UNIT_PRICE_PLACES, unscaled } from '../../../schemas/money/prices.ts'
import { writtenPrice } from '../../../schemas/money/read-prices.ts'
import type { ModelEndpoint } from '../../../schemas/models/models.ts'
import { readableCount } from '../../../schemas/values/readable.ts'
import type { Endpoint, ResolvedModel } from '../../ports/models/models.ts'
import { table } from '../parts/verb.ts'
import { askedAt } from '../../inference/charge.ts'

export interface PriceCase {
  readonly promptTokens: number
  readonly at: Date
  /** Tiers under the names in answers; undefined: the default of the account. */
  readonly tiers: Readonly<Record<TierMember, string | undefined>>
}

export interface PricedEndpoint {
  readonly endpoint: Endpoint
  /** As lists show it. */
  readonly written: ModelEndpoint | undefined
  /** Null: the catalogue has no price. */
  readonly price: ResolvedPrice | null
  /** The tier that has no price modifier, so that the base price is charged; null: none. */
  readonly unpricedTier: TierMember | null
}

/** @param model the model of the endpoints */
export function pricedAt(
  model: ResolvedModel,
  endpoints: readonly Endpoint[],
  asked: PriceCase,
): readonly PricedEndpoint[] {
  const { data } = JSON.parse(Buffer.from(model.bodies.endpoints).toString()) as {
    readonly data: { readonly endpoints: readonly ModelEndpoint[] }
  }
  return endpoints.map((endpoint) =>
    pricedOne(endpoint, data.endpoints[model.endpoints.indexOf(endpoint)], asked),
  )
}

function pricedOne(
  endpoint: Endpoint,
  written: ModelEndpoint | undefined,
  { promptTokens, at, tiers }: PriceCase,
): PricedEndpoint {
  const reported = askedAt(endpoint, tiersOf(tiers))
  return {
    endpoint,
    written,
    price: endpoint.isUnpriced ? null : priceAt(endpoint, { promptTokens, at: at.getTime(), reported }),
    unpricedTier: unpricedTierOf(endpoint, reported),
  }
}

/** Members of an endpoint in JSON; prices are as `x.price` of GET /generation has them. */
export function pricesOf({ price, unpricedTier }: PricedEndpoint): {
  readonly price: WrittenPrice | null
  readonly unpriced_tier: TierMember | null
} {
  return { price: price === null ? null : writtenPrice(price), unpriced_tier: unpricedTier }
}

/** The name of a price and the function that reads it; undefined: the endpoint has no such price. */
type Row = readonly [string, (price: ResolvedPrice) => number | undefined]

/** In nano-USD for a million tokens. */
const OF_TOKENS: readonly Row[] = [
  ['prompt', (price) => price.promptNanoPerMillion],
  ['completion', (price) => price.completionNanoPerMillion],
  ['input_cache_read', (price) => price.cacheReadNanoPerMillion],
  ['input_cache_write', (price) => price.cacheWriteNanoPerMillion],
  ['input_cache_write_1h', (price) => price.cacheWriteHourNanoPerMillion],
  ['internal_reasoning', (price) => price.reasoningNanoPerMillion],
  ['audio', (price) => price.media?.audio],
  ['image_token', (price) => price.media?.image],
  ['input_audio_cache', (price) => price.media?.audioRead],
  ['audio_output', (price) => price.media?.audioOutput],
]

/** In nano-USD each. */
const OF_UNITS: readonly Row[] = [
  ['request', (price) => price.requestNano],
  ['image', (price) => price.imageNano],
  ['web_search', (price) => price.searchNano],
]

/** The case, then a column for each endpoint. */
export function priceText(priced: readonly PricedEndpoint[], asked: PriceCase): string {
  const prices = priced.map(({ price }) => price)
  const cells = (rows: readonly Row[]): readonly (readonly string[])[] =>
    rows
      .filter(([name, read]) => name === ALWAYS || prices.some((price) => price !== null && read(price)))
      .map(([name, read]) => [name, ...prices.map((price) => (price === null ? NO_PRICE : usd(read(price))))])
  const units = cells(OF_UNITS)
  const applied = [
    ['overrides', ...priced.map(overridesOf)],
    ['modifiers', ...priced.map(modifiersOf)],
  ].filter(([, ...texts]) => texts.some((text) => text !== NONE))
  const tags = priced.map(({ endpoint }) => endpoint.tag)
  return [
    `Prices ${caseWords(asked)}:`,
    table([['USD per million tokens', ...tags], ...cells(OF_TOKENS)]),
    ...(units.length === 0 ? [] : [table([['USD each', ...tags], ...units])]),
    ...(applied.length === 0 ? [] : [table([['applied', ...tags], ...applied])]),
    ...priced.flatMap((one) => remarkOf(one) ?? []),
  ].join('\n\n')
}

const NONE = '-'
const NO_PRICE = 'no price'
/** The price that is shown even when it is 0. */
const ALWAYS = 'prompt'

function usd(nano: number | undefined): string {
  return nano === undefined ? NONE : unscaled(nano, UNIT_PRICE_PLACES)
}

/** Characters of an instant that are shown, to the minute: prices change on the minute. */
const MINUTE_CHARS = '2026-11-26T03:00'.length

function caseWords({ promptTokens, at, tiers }: PriceCase): string {
  const named = Object.entries(tiers).flatMap(([member, tier]) =>
    tier === undefined ? [] : [`, ${member}: ${tier}`],
  )
  return `for a prompt of ${readableCount(promptTokens)} tokens at ${at.toISOString().slice(0, MINUTE_CHARS)}Z${named.join('')}`
}

function overridesOf({ price, written }: PricedEndpoint): string {
  const { overrides = [] } = written?.pricing ?? {}
  return placesOf(price?.applied.overrides, overrides.map(conditionsOf))
}

function modifiersOf({ price, written }: PricedEndpoint): string {
  return placesOf(
    price?.applied.modifiers,
    (written?.x?.modifiers ?? []).map(({ when }) => conditionsOf(when)),
  )
}

const CONDITIONS = ['min_prompt_tokens', 'utc_start', 'utc_end', 'utc_days', ...TIER_MEMBERS]

/** Conditions by the names of the catalogue. */
function conditionsOf(entry: object): string {
  return Object.entries(entry)
    .flatMap(([name, value]) => (CONDITIONS.includes(name) ? [`${name}: ${String(value)}`] : []))
    .join(', ')
}

/** `0 (min_prompt_tokens: 200000)` */
function placesOf(places: readonly number[] = [], words: readonly string[]): string {
  return places.length === 0 ? NONE : places.map((place) => `${place} (${words[place]})`).join(', ')
}

function remarkOf({ endpoint: { tag }, unpricedTier }: PricedEndpoint): string | null {
  if (unpricedTier === null) return null
  return `${tag} has no price modifier for this ${unpricedTier}: such answers are charged at the base price.`
}
