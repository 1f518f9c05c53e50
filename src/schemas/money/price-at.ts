/** The prices of a call: base prices, overrides by length and hour, and modifiers by the reported tier. */
import {
  TOKEN_PRICE_KEYS,
  type TierMember,
  type TokenPriceKey,
  type Tiers,
} from '../models/price-conditions.ts'
import { MEDIA_KINDS, type TextPrice } from './costs.ts'

/** Nano-USD per million tokens of each of TOKEN_PRICE_KEYS; ABSENT: no separate price. */
export type TokenPrices = readonly number[]
export const ABSENT = -1

export interface PriceFacts {
  /** Tokens of the prompt, including cached tokens and media. */
  readonly promptTokens: number
  /** Unix milliseconds at which the headers of the request were written. */
  readonly at: number
  readonly reported: Tiers
}

export interface Override {
  /** Applies if the prompt has more tokens than this; -1: to any prompt. */
  readonly minPromptTokens: number
  /** Minutes of the UTC day, end excluded. Equal: the whole day. An end before the start: the window includes midnight. */
  readonly startMinute: number
  readonly endMinute: number
  /** Bit n: the day n of `Date.getUTCDay`. */
  readonly days: number
  readonly prices: TokenPrices
}

export interface Modifier {
  readonly member: TierMember
  readonly tier: string
  /** Millionths; null: `prices` and `overrides` apply instead. */
  readonly multiplierMicro: number | null
  readonly prices: TokenPrices
  readonly overrides: readonly Override[]
}

export interface PriceConditions {
  /** The base. */
  readonly prices: TokenPrices
  readonly overrides: readonly Override[]
  readonly modifiers: readonly Modifier[]
}

export interface AppliedConditions {
  readonly overrides: readonly number[]
  readonly modifiers: readonly number[]
}
export const NOTHING_APPLIED: AppliedConditions = { overrides: [], modifiers: [] }

export interface ResolvedPrice extends TextPrice {
  /** Nano-USD for each picture in the request, in addition to its tokens. */
  readonly imageNano: number
  /** False: the catalogue has no price for a search. */
  readonly isSearchPriced: boolean
  readonly applied: AppliedConditions
}

/** Prices of a call, as stored in its record. */
export type KeptPrice = Omit<ResolvedPrice, 'isSearchPriced'>

/** Copies only the prices, since a resolved price may be the endpoint's object with its conditions. */
export function keptPrice(price: KeptPrice): KeptPrice {
  return {
    promptNanoPerMillion: price.promptNanoPerMillion,
    completionNanoPerMillion: price.completionNanoPerMillion,
    cacheReadNanoPerMillion: price.cacheReadNanoPerMillion,
    cacheWriteNanoPerMillion: price.cacheWriteNanoPerMillion,
    cacheWriteHourNanoPerMillion: price.cacheWriteHourNanoPerMillion,
    reasoningNanoPerMillion: price.reasoningNanoPerMillion,
    ...(price.media !== undefined && { media: price.media }),
    requestNano: price.requestNano,
    searchNano: price.searchNano,
    imageNano: price.imageNano,
    applied: price.applied,
  }
}

/** The highest price of an input token, however it is read, and of an output token. */
export interface DearestPrices {
  readonly inputNanoPerMillionMax: number
  readonly outputNanoPerMillionMax: number
}

export interface EndpointPrices extends ResolvedPrice, DearestPrices {
  /** Null: every call has the base prices. */
  readonly conditions: PriceConditions | null
  /** The account's tier for calls that request none; absent: the default one. */
  readonly accountTier?: string
}

export interface Priced {
  readonly prices: EndpointPrices
}

/**
 * All prices of a call. For each key, later overrides win. Then modifiers apply in order, and last the
 * defaults replace absent prices. The prices apply to the whole call.
 */
export function priceAt({ prices }: Priced, { promptTokens, at, reported }: PriceFacts): ResolvedPrice {
  const { conditions } = prices
  if (conditions === null) return prices
  const resolved = conditions.prices.slice()
  const overrides = applyOverrides(resolved, conditions.overrides, { promptTokens, at })
  const modifiers: number[] = []
  for (const [index, modifier] of conditions.modifiers.entries()) {
    if (reported[modifier.member] !== modifier.tier) continue
    modifiers.push(index)
    if (modifier.multiplierMicro !== null) multiply(resolved, modifier.multiplierMicro)
    else {
      replace(resolved, modifier.prices)
      applyOverrides(resolved, modifier.overrides, { promptTokens, at })
    }
  }
  const tokens = withDefaults(resolved)
  // Written without spreads: spreading two objects takes ten times as long as everything above.
  const price = {
    promptNanoPerMillion: tokens.promptNanoPerMillion,
    completionNanoPerMillion: tokens.completionNanoPerMillion,
    cacheReadNanoPerMillion: tokens.cacheReadNanoPerMillion,
    cacheWriteNanoPerMillion: tokens.cacheWriteNanoPerMillion,
    cacheWriteHourNanoPerMillion: tokens.cacheWriteHourNanoPerMillion,
    reasoningNanoPerMillion: tokens.reasoningNanoPerMillion,
    requestNano: prices.requestNano,
    searchNano: prices.searchNano,
    imageNano: prices.imageNano,
    isSearchPriced: prices.isSearchPriced,
    applied: { overrides, modifiers },
  }
  return tokens.media === undefined ? price : { ...price, media: tokens.media }
}

/** Whether a call costs the same at two endpoints, whatever its input and output. */
export function isSamePrice(one: ResolvedPrice, other: ResolvedPrice): boolean {
  return (
    one === other ||
    (SCALARS.every((name) => one[name] === other[name]) &&
      MEDIA_KINDS.every((kind) => one.media?.[kind] === other.media?.[kind]))
  )
}

const SCALARS = [
  'promptNanoPerMillion',
  'completionNanoPerMillion',
  'cacheReadNanoPerMillion',
  'cacheWriteNanoPerMillion',
  'cacheWriteHourNanoPerMillion',
  'reasoningNanoPerMillion',
  'requestNano',
  'searchNano',
  'imageNano',
  'isSearchPriced',
] as const

/** The possible facts of a call before it is sent. */
export interface PriceSpan {
  /** The most tokens of the prompt; null: not known. */
  readonly promptTokensMax: number | null
  /** Unix milliseconds between which the headers of the request are written. */
  readonly from: number
  readonly until: number
  /** Requested tiers, which the answer may or may not report. */
  readonly asked: Tiers
}

/**
 * The highest prices that a call can have: for each key the maximum of the base price and reachable
 * overrides, with and without each requested modifier. An upper bound for every combination of entries, since
 * each step is monotonic in each key.
 */
export function dearestPricesAt({ prices }: Priced, span: PriceSpan): DearestPrices {
  const { conditions } = prices
  if (conditions === null) return prices
  const most = conditions.prices.slice()
  raiseByOverrides(most, conditions.overrides, span)
  for (const { member, tier, multiplierMicro, prices: replaced, overrides } of conditions.modifiers) {
    if (span.asked[member] !== tier) continue
    if (multiplierMicro === null) {
      raise(most, replaced)
      raiseByOverrides(most, overrides, span)
    } else if (multiplierMicro > MICRO) multiply(most, multiplierMicro)
  }
  return dearestOf(most)
}

type Instant = Pick<PriceFacts, 'promptTokens' | 'at'>

function applyOverrides(prices: number[], overrides: readonly Override[], when: Instant): readonly number[] {
  if (overrides.length === 0) return NOTHING_APPLIED.overrides
  const minute = Math.floor(when.at / MINUTE_MS)
  const minuteOfDay = minute % DAY_MINUTES
  const day = dayBit(minute)
  const applied: number[] = []
  for (let index = 0; index < overrides.length; index += 1) {
    const override = overrides[index]
    if (override === undefined || when.promptTokens <= override.minPromptTokens) continue
    if ((override.days & day) === 0 || !isOpen(override, minuteOfDay)) continue
    applied.push(index)
    replace(prices, override.prices)
  }
  return applied
}

function raiseByOverrides(most: number[], overrides: readonly Override[], span: PriceSpan): void {
  const { promptTokensMax } = span
  for (const override of overrides) {
    if (promptTokensMax !== null && promptTokensMax <= override.minPromptTokens) continue
    if (opensWithin(override, span)) raise(most, override.prices)
  }
}

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60
/** 1 January 1970 was a Thursday. */
const FIRST_DAY = 4

function dayBit(minute: number): number {
  return 1 << ((Math.floor(minute / DAY_MINUTES) + FIRST_DAY) % 7)
}

function isOpen({ startMinute, endMinute }: Override, minuteOfDay: number): boolean {
  if (startMinute === endMinute) return true
  return startMinute < endMinute
    ? minuteOfDay >= startMinute && minuteOfDay < endMinute
    : minuteOfDay >= startMinute || minuteOfDay < endMinute
}

/** Whether a window is open at some time in the span. It opens only at its start or at midnight, so only these times are checked. */
function opensWithin(override: Override, { from, until }: PriceSpan): boolean {
  const last = Math.floor(until / MINUTE_MS)
  const first = Math.floor(from / MINUTE_MS)
  const isOpenAt = (minute: number): boolean =>
    (override.days & dayBit(minute)) !== 0 && isOpen(override, minute % DAY_MINUTES)
  if (isOpenAt(first)) return true
  const midnight = first - (first % DAY_MINUTES)
  // In a span longer than a week, every window opens.
  const end = Math.min(last, first + 8 * DAY_MINUTES)
  for (let day = midnight; day <= end; day += DAY_MINUTES) {
    if (day > first && isOpenAt(day)) return true
    const start = day + override.startMinute
    if (start > first && start <= end && isOpenAt(start)) return true
  }
  return false
}

function replace(prices: number[], by: TokenPrices): void {
  for (let key = 0; key < by.length; key += 1) {
    const price = by[key] ?? ABSENT
    if (price !== ABSENT) prices[key] = price
  }
}

function raise(prices: number[], by: TokenPrices): void {
  for (let key = 0; key < by.length; key += 1)
    prices[key] = Math.max(prices[key] ?? ABSENT, by[key] ?? ABSENT)
}

/** A multiplier of 1. */
export const MICRO = 1_000_000

function multiply(prices: number[], micro: number): void {
  for (let key = 0; key < prices.length; key += 1) {
    const price = prices[key] ?? ABSENT
    if (price !== ABSENT) prices[key] = multiplied(price, micro)
  }
}

/** Rounded up; the catalogue refuses a product that is not a whole number of nano-USD per million tokens. */
function multiplied(price: number, micro: number): number {
  const product = price * micro
  if (Number.isSafeInteger(product)) return Math.ceil(product / MICRO)
  const exact = (BigInt(price) * BigInt(micro) + BigInt(MICRO) - 1n) / BigInt(MICRO)
  return exact > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(exact)
}

/** Indexes of the keys, since a lookup by name takes longer than everything else. */
const KEY = Object.fromEntries(TOKEN_PRICE_KEYS.map((key, index) => [key, index])) as Readonly<
  Record<TokenPriceKey, number>
>
const [PROMPT, COMPLETION, REASONING] = [KEY.prompt, KEY.completion, KEY.internal_reasoning] as const
const [CACHE_READ, CACHE_WRITE, CACHE_WRITE_HOUR] = [
  KEY.input_cache_read,
  KEY.input_cache_write,
  KEY.input_cache_write_1h,
] as const
const [AUDIO, IMAGE, AUDIO_READ, AUDIO_OUTPUT] = [
  KEY.audio,
  KEY.image_token,
  KEY.input_audio_cache,
  KEY.audio_output,
] as const

type TokenPart = Omit<TextPrice, 'requestNano' | 'searchNano'>

/**
 * A missing cache price is that of the prompt, a missing reasoning price that of the completion, and a
 * missing price of a one-hour cache that of a five-minute cache. Missing prices of sounds and pictures are
 * those of texts.
 */
export function withDefaults(prices: TokenPrices): TokenPart {
  const prompt = priceOr(prices, PROMPT, 0)
  const completion = priceOr(prices, COMPLETION, 0)
  const cacheRead = priceOr(prices, CACHE_READ, prompt)
  const cacheWrite = priceOr(prices, CACHE_WRITE, prompt)
  return {
    promptNanoPerMillion: prompt,
    completionNanoPerMillion: completion,
    cacheReadNanoPerMillion: cacheRead,
    cacheWriteNanoPerMillion: cacheWrite,
    cacheWriteHourNanoPerMillion: priceOr(prices, CACHE_WRITE_HOUR, cacheWrite),
    reasoningNanoPerMillion: priceOr(prices, REASONING, completion),
    ...(hasMedia(prices) && {
      media: {
        audio: priceOr(prices, AUDIO, prompt),
        image: priceOr(prices, IMAGE, prompt),
        audioRead: priceOr(prices, AUDIO_READ, cacheRead),
        audioOutput: priceOr(prices, AUDIO_OUTPUT, completion),
      },
    }),
  }
}

function priceOr(prices: TokenPrices, key: number, otherwise: number): number {
  const price = prices[key] ?? ABSENT
  return price === ABSENT ? otherwise : price
}

function hasMedia(prices: TokenPrices): boolean {
  for (const key of MEDIA) if ((prices[key] ?? ABSENT) !== ABSENT) return true
  return false
}

const MEDIA = [AUDIO, IMAGE, AUDIO_READ, AUDIO_OUTPUT] as const
const OUTPUT_KEYS: ReadonlySet<string> = new Set(['completion', 'internal_reasoning', 'audio_output'])
const IS_OUTPUT: readonly boolean[] = TOKEN_PRICE_KEYS.map((key) => OUTPUT_KEYS.has(key))

/** An absent price equals that of another key, or 0, so it is never the highest. */
export function dearestOf(prices: TokenPrices): DearestPrices {
  let [input, output] = [0, 0]
  for (let key = 0; key < prices.length; key += 1) {
    const price = prices[key] ?? ABSENT
    if (IS_OUTPUT[key] === true) output = Math.max(output, price)
    else input = Math.max(input, price)
  }
  return { inputNanoPerMillionMax: input, outputNanoPerMillionMax: output }
}
