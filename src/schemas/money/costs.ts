import { COST_NANO_MAX, USD_MAX } from './money-limits.ts'

/** The number of tokens that a price refers to. */
export const TOKENS_PER_PRICE = 1_000_000

export interface Price {
  /** Nano-USD per million tokens of the prompt. */
  readonly promptNanoPerMillion: number
  /** Nano-USD. */
  readonly requestNano: number
}

/** Cost of one call in whole nano-USD, rounded up once; at most COST_NANO_MAX. */
export function costNano(tokens: number, price: Price): number {
  const product = tokens * price.promptNanoPerMillion
  return Math.min(COST_NANO_MAX, promptNano(product, tokens, price) + price.requestNano)
}

function promptNano(product: number, tokens: number, price: Price): number {
  if (Number.isSafeInteger(product)) return Math.ceil(product / TOKENS_PER_PRICE)
  const exact = BigInt(tokens) * BigInt(price.promptNanoPerMillion)
  return Number((exact + BigInt(TOKENS_PER_PRICE) - 1n) / BigInt(TOKENS_PER_PRICE))
}

/** The finite limits of a call, and whether each counts calls that the workspace pays itself. B2.9, */
export interface LimitFlags {
  readonly isCreditLimited: boolean
  readonly isWorkspaceLimited: boolean
  readonly isKeyLimited: boolean
  readonly workspaceCountsByok: boolean
  readonly keyCountsByok: boolean
}

/** Whether a finite limit counts the calls of an endpoint. @param isOwn the endpoint is called with a credential of the workspace */
export function isCounted(flags: LimitFlags, isOwn: boolean): boolean {
  if (!isOwn) return flags.isCreditLimited || flags.isWorkspaceLimited || flags.isKeyLimited
  // Credit is the operator's money.
  return (
    (flags.isWorkspaceLimited && flags.workspaceCountsByok) || (flags.isKeyLimited && flags.keyCountsByok)
  )
}

/** The charged part of a cost: no more than the bound that was computed before the call. Design §6.4. */
export function chargedNano(
  cost: { readonly costNano: number; readonly isByok: boolean },
  bound: { readonly paidNano: number | null; readonly anyNano: number | null },
): number {
  return Math.min(cost.costNano, (cost.isByok ? bound.anyNano : bound.paidNano) ?? Infinity)
}

/** Tokens of a call in buckets that do not overlap: whole numbers of at least 0. */
export interface TokenCounts {
  /** Input that was not read from a cache. */
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** The part of `cacheWrite` that is cached for an hour, which costs more; absent: none. */
  readonly cacheWriteHour?: number
  /** Text and tool calls. */
  readonly output: number
  readonly reasoning: number
  /** Web searches by the provider, each of which has a price; absent: none. */
  readonly searches?: number
  /** The tokens in the other buckets that are sounds or pictures, which may have different prices; absent: none. */
  readonly media?: MediaFigures
}

/** A figure for each kind of sound and picture tokens. */
export interface MediaFigures {
  /** Of `input`. */
  readonly audio: number
  /** Of `input`. */
  readonly image: number
  /** Of `cacheRead`. */
  readonly audioRead: number
  /** Of `output`. */
  readonly audioOutput: number
}

export const MEDIA_KINDS = ['audio', 'image', 'audioRead', 'audioOutput'] as const

export const NO_MEDIA: MediaFigures = { audio: 0, image: 0, audioRead: 0, audioOutput: 0 }

/** Tokens of the prompt, including cached ones. */
export function inputTokens({ input, cacheRead, cacheWrite }: TokenCounts): number {
  return input + cacheRead + cacheWrite
}

/** Tokens of the answer, including reasoning. */
export function outputTokens({ output, reasoning }: TokenCounts): number {
  return output + reasoning
}

/** Prices of a text model: nano-USD per million tokens, and nano-USD per request and per search. */
export interface TextPrice {
  readonly promptNanoPerMillion: number
  readonly cacheReadNanoPerMillion: number
  readonly cacheWriteNanoPerMillion: number
  readonly cacheWriteHourNanoPerMillion: number
  readonly completionNanoPerMillion: number
  readonly reasoningNanoPerMillion: number
  readonly requestNano: number
  /** Nano-USD of a web search by the provider. */
  readonly searchNano: number
  /** Nano-USD per million tokens of sounds and pictures; absent: the same prices as for texts. */
  readonly media?: MediaFigures
}

/** Tokens, and their price in nano-USD per million. */
export type PricedTokens = readonly [tokens: number, nanoPerMillion: number]

/** Cost of a call in whole nano-USD; at most COST_NANO_MAX. */
export function textCostNano(usage: TokenCounts, price: TextPrice): number {
  const { cacheWriteHour = 0, searches = 0 } = usage
  const prices = price.media ?? NO_MEDIA
  const media = price.media === undefined ? NO_MEDIA : (usage.media ?? NO_MEDIA)
  const { audio, image, audioRead, audioOutput } = media
  return pricedNano(
    [
      [usage.input - audio - image, price.promptNanoPerMillion],
      [usage.cacheRead - audioRead, price.cacheReadNanoPerMillion],
      [usage.cacheWrite - cacheWriteHour, price.cacheWriteNanoPerMillion],
      [cacheWriteHour, price.cacheWriteHourNanoPerMillion],
      [usage.output - audioOutput, price.completionNanoPerMillion],
      [usage.reasoning, price.reasoningNanoPerMillion],
      [audio, prices.audio],
      [image, prices.image],
      [audioRead, prices.audioRead],
      [audioOutput, prices.audioOutput],
    ],
    price.requestNano + searches * price.searchNano,
  )
}

/** Cost of all buckets, plus `otherNano` for everything that is not tokens, in whole nano-USD: rounded up once, at most COST_NANO_MAX. */
export function pricedNano(buckets: readonly PricedTokens[], otherNano: number): number {
  let sum = 0
  // Destructuring the pair would create an iterator.
  for (const bucket of buckets) sum += bucket[0] * bucket[1]
  // Every term is at least 0, so if the sum is exact, each product is exact.
  return Math.min(
    COST_NANO_MAX,
    (Number.isSafeInteger(sum) ? wholeNano(sum) : largeNano(buckets)) + otherNano,
  )
}

/** A number of tokens that costs more than COST_NANO_MAX even at the lowest price. */
const TOKENS_COUNTED_MAX = 2 * COST_NANO_MAX * TOKENS_PER_PRICE

/** A product of counts as a bigint; as a number it may be infinite. */
export function exactCount(count: number): bigint {
  return BigInt(Math.min(count, TOKENS_COUNTED_MAX))
}

function wholeNano(sum: number): number {
  const rest = sum % TOKENS_PER_PRICE
  return (sum - rest) / TOKENS_PER_PRICE + (rest === 0 ? 0 : 1)
}

function largeNano(buckets: readonly PricedTokens[]): number {
  const sum = buckets.reduce((all, [tokens, price]) => all + exactCount(tokens) * BigInt(price), 0n)
  return Number((sum + BigInt(TOKENS_PER_PRICE) - 1n) / BigInt(TOKENS_PER_PRICE))
}

export const NANO_PER_USD = 1_000_000_000

const NANO_PLACES = 9

/**
 * Whole nano-USD of a JSON number of USD: the nearest amount, and of two equally near ones, the one farther
 * from zero. Computed from the number's decimal digits, since a product would already be rounded.
 * @param usd may be negative
 * @returns null when the number is not finite, or farther from zero than USD_MAX
 */
export function nanoOfUsd(usd: number): bigint | null {
  if (!Number.isFinite(usd) || Math.abs(usd) > USD_MAX) return null
  return BigInt(usd.toFixed(NANO_PLACES).replace('.', ''))
}

/**
 * The JSON number of USD nearest to an amount in nano-USD. `nanoOfUsd` returns the same amount below 2²³ USD;
 * above that, adjacent numbers are more than a nano-USD apart.
 */
export function usdOfNano(nano: bigint | number): number {
  // Below 2⁵³ a division rounds only once; a larger bigint would be rounded twice, so it is converted by parsing its decimal text, which rounds once.
  const whole = Number(nano)
  return Number.isSafeInteger(whole) ? whole / NANO_PER_USD : Number(`${nano}e-${NANO_PLACES}`)
}

/** Exact USD as text for people, from whole nano-USD: `0.000000001`, `9.99`, `-10`; never `1e-9`. */
export function usdText(nano: number | bigint): string {
  const digits = String(nano < 0 ? -BigInt(nano) : BigInt(nano)).padStart(NANO_PLACES + 1, '0')
  const fraction = digits.slice(-NANO_PLACES).replace(/0+$/, '')
  return `${nano < 0 ? '-' : ''}${digits.slice(0, -NANO_PLACES)}${fraction === '' ? '' : `.${fraction}`}`
}
