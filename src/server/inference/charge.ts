import {
  BYTES_PER_TOKEN,
  REASONING_TOKENS_PER_SECOND,
  TAUGHT_CALLS_MIN,
  TAUGHT_PAIRS_MAX,
  TAUGHT_PROMPT_BYTES_MAX,
  TAUGHT_PROMPT_BYTES_MIN,
  TOKENS_PER_100_BYTES_MAX,
  TOKENS_PER_100_BYTES_MIN,
} from '../../schemas/inference/token-limits.ts'
import type { EffortClass, EstimatedText, TextSize, TextInput } from '../../schemas/inference/text-request.ts'
import type { Caller } from '../../schemas/values/callers.ts'
import type { Endpoint } from '../ports/models/models.ts'
import type { TokenUsage, ReportedTiers } from '../../dialects/parts.ts'
import { searchesOf, withSearches, countOf } from '../../dialects/usage.ts'
import {
  TIER_MEMBERS,
  type TierMember,
  NO_TIERS,
  tiersOf,
  USUAL_TIER,
  type Tiers,
  unpricedTierOf,
} from '../../schemas/models/price-conditions.ts'
import { priceAt, type PriceFacts, type ResolvedPrice } from '../../schemas/money/price-at.ts'
import type { CallInstants } from '../upstream/cost-bound.ts'
import { inputTokens, textCostNano } from '../../schemas/money/costs.ts'

/** Calls after which the weight of a call in an estimate has decayed to about a third. Decision. */
export const TAUGHT_CALLS_KEPT = 64

/** Facts about a call from its request and its clock. */
export interface AskedText {
  readonly text: EstimatedText
  /** Tokens of the endpoint's context; null when unknown. */
  readonly contextTokens: number | null
  /** The most tokens that the answers may have. */
  readonly outputTokensMax: number
  /** Whether the model reasons; null when neither the catalogue nor its calls show it. */
  readonly reasons: boolean | null
  /** The reasoning effort that the request asks for; absent: the model decides. */
  readonly effort?: EffortClass
  /** Seconds since the head of the request was written, excluding time in which the provider was not read. */
  readonly seconds: number
  /** True when its figures may improve the estimates: its prompt is ordinary text and includes no other input. */
  readonly isTeaching: boolean
}

/** The part of a call that passed through the front. */
export interface SeenText extends AskedText {
  /** UTF-8 bytes of text, reasoning and arguments that were delivered, over all answers. */
  readonly outputBytes: number
  /** True when the answer is complete. */
  readonly isWhole: boolean
}

interface JudgedTextUsage {
  readonly usage: TokenUsage
  /** True when the answer broke off, or Sluice estimated a figure that the provider did not report credibly. */
  readonly isEstimated: boolean
}

/**
 * Share of the estimate below which a reported figure of a broken-off answer is outdated: a provider that
 * reports usage while it streams may have reported it before the last bytes. Decision.
 */
const STALE_SHARE = 1 / 4

/** Weight of the earlier calls that remains after each call. */
const KEPT = 1 - 1 / TAUGHT_CALLS_KEPT

/** Two decaying sums, whose ratio is used for an estimate. */
class LearnedRate {
  #calls = 0
  #sum = 0
  #of = 0

  /** @param of above 0 */
  learn(sum: number, of: number): void {
    this.#calls++
    this.#sum = this.#sum * KEPT + sum
    this.#of = this.#of * KEPT + of
  }

  /** @param before used until there were TAUGHT_CALLS_MIN calls */
  orElse(before: number): number {
    return this.#calls < TAUGHT_CALLS_MIN ? before : this.#sum / this.#of
  }
}

/** Rates learned from the finished calls of an organization at one endpoint. */
export class TextRates {
  /** Tokens a byte. */
  readonly #prompt = new LearnedRate()
  /** Tokens a byte. */
  readonly #output = new LearnedRate()
  /** Hidden tokens for each call, by its effort: calls of a low effort show nothing about those of a high one. */
  readonly #hidden = new Map<EffortClass | undefined, LearnedRate>()
  /** Tokens a second. */
  readonly #speed = new LearnedRate()

  /** @param input tokens @param output tokens without the reasoning, which is in `reasoning` */
  learn(seen: SeenText, input: number, { output, reasoning }: OutputTokens): void {
    const { text, outputBytes, seconds, reasons, isTeaching } = seen
    if (!isTeaching || text.bytes < TAUGHT_PROMPT_BYTES_MIN || text.bytes > TAUGHT_PROMPT_BYTES_MAX) return
    if (isOrdinary(input, text.bytes)) this.#prompt.learn(input, text.bytes)
    const all = output + reasoning
    // If there was reasoning, its text may or may not be among the bytes.
    if (reasoning === 0 && isOrdinary(all, outputBytes)) this.#output.learn(all, outputBytes)
    if (seconds > 0) this.#speed.learn(all, seconds)
    if (reasons === false) return
    // Providers may count hidden reasoning as output.
    const most = reasoning > 0 ? reasoning : 100 * all > TOKENS_PER_100_BYTES_MAX * outputBytes ? all : 0
    const hidden = this.#hidden.get(seen.effort) ?? new LearnedRate()
    this.#hidden.set(seen.effort, hidden)
    hidden.learn(Math.min(most, Math.max(0, all - this.outputTokens(outputBytes))), 1)
  }

  /** Estimated tokens of a prompt. */
  promptTokens({ bytes, mediaTokens }: EstimatedText): number {
    return Math.ceil(bytes * this.#prompt.orElse(1 / BYTES_PER_TOKEN)) + mediaTokens
  }

  /** Estimated tokens of an answer of this many bytes: 0 for no bytes, else at least 1. */
  outputTokens(bytes: number): number {
    return Math.ceil(bytes * this.#output.orElse(1 / BYTES_PER_TOKEN))
  }

  /** Estimated hidden tokens of the model. @param left of the maximum of the request */
  hiddenTokens({ reasons, seconds, effort }: SeenText, left: number): number {
    if (reasons === false) return 0
    const before = reasons === true ? Infinity : 0
    const usual = this.#hidden.get(effort)?.orElse(before) ?? before
    return Math.ceil(Math.min(usual, seconds * this.#speed.orElse(REASONING_TOKENS_PER_SECOND), left))
  }
}

function isOrdinary(tokens: number, bytes: number): boolean {
  const hundredfold = 100 * tokens
  return (
    hundredfold >= bytes * TOKENS_PER_100_BYTES_MIN &&
    hundredfold <= bytes * TOKENS_PER_100_BYTES_MAX &&
    bytes > 0
  )
}

export function isPlainPrompt({ media, serverTools, hasStored }: TextSize): boolean {
  const { image, audio, video, file } = media
  return image + audio + video + file === 0 && serverTools === null && hasStored !== true
}

/**
 * The rates that calls have taught a front, by organization and endpoint, so that the calls of one
 * organization do not affect another. An endpoint that a workspace calls with its own credentials has rates
 * for that workspace.
 */
export class LearnedRates {
  /** In the order of their last use, the latest last. */
  readonly #byPair = new Map<string, TextRates>()

  of({ tag, ownWay }: Pick<Endpoint, 'tag' | 'ownWay'>, caller: Caller): TextRates {
    const pair = `${ownWay === undefined ? caller.organizationId : caller.workspaceId}/${tag}`
    const known = this.#byPair.get(pair)
    const rates = known ?? new TextRates()
    if (known !== undefined) this.#byPair.delete(pair)
    this.#byPair.set(pair, rates)
    if (this.#byPair.size > TAUGHT_PAIRS_MAX) this.#forgetOldest()
    return rates
  }

  #forgetOldest(): void {
    for (const pair of this.#byPair.keys()) return void this.#byPair.delete(pair)
  }
}

/**
 * Takes the provider's figures if they are credible, else estimates; input and output are judged separately. A
 * reported figure above the call's bound is credible: the call pays its bound, and the rest becomes an
 * overrun. A complete answer with credible figures updates `rates`.
 * @param reported null when the answer had no usage
 */
export function judgeTextUsage(
  reported: TokenUsage | null,
  seen: SeenText,
  rates: TextRates,
): JudgedTextUsage {
  const input = reported === null ? null : credibleInput(reported, seen)
  const output = reported === null ? null : credibleOutput(reported, seen, rates)
  if (seen.isWhole && input !== null && output !== null)
    rates.learn(seen, input.input + input.cacheRead + input.cacheWrite, output)
  const isEstimated = !seen.isWhole || input === null || output === null
  const usage = withSearches(
    usageOf(input ?? estimatedInput(seen, rates), output ?? estimatedOutput(seen, rates)),
    searchesOf(reported?.searches),
  )
  // The shares of media are unknown for estimated figures.
  const media = input === null || output === null ? undefined : reported?.media
  return { usage: media === undefined ? usage : { ...usage, media }, isEstimated }
}

/** The estimated input, always below the bound of the call, which counts a token for each byte, and never more than the context. */
function estimatedInput({ text, contextTokens }: SeenText, rates: TextRates): InputTokens {
  const input = Math.min(rates.promptTokens(text), contextTokens ?? Infinity)
  return { input, cacheRead: 0, cacheWrite: 0 }
}

function estimatedOutput(seen: SeenText, rates: TextRates): OutputTokens {
  const output = Math.min(rates.outputTokens(seen.outputBytes), seen.outputTokensMax)
  return { output, reasoning: rates.hiddenTokens(seen, seen.outputTokensMax - output) }
}

/** Written out: usage is read often during a call, and objects of one shape are read fastest. */
function usageOf(
  { input, cacheRead, cacheWrite, cacheWriteHour }: InputTokens,
  { output, reasoning }: OutputTokens,
): TokenUsage {
  return cacheWriteHour === undefined
    ? { input, cacheRead, cacheWrite, output, reasoning }
    : { input, cacheRead, cacheWrite, output, reasoning, cacheWriteHour }
}

type InputTokens = Pick<TokenUsage, 'input' | 'cacheRead' | 'cacheWrite' | 'cacheWriteHour'>
type OutputTokens = Pick<TokenUsage, 'output' | 'reasoning'>

function credibleInput(reported: TokenUsage, seen: SeenText): InputTokens | null {
  const { input, cacheRead, cacheWrite, cacheWriteHour } = reported
  if ([input, cacheRead, cacheWrite].some((tokens) => countOf(tokens) === null)) return null
  // A model that got a prompt has read some tokens: zero is not credible.
  if (input + cacheRead + cacheWrite === 0 && seen.text.bytes > 0) return null
  return cacheWriteHour === undefined
    ? { input, cacheRead, cacheWrite }
    : { input, cacheRead, cacheWrite, cacheWriteHour }
}

function credibleOutput(
  { output, reasoning }: TokenUsage,
  { outputBytes, isWhole, reasons }: SeenText,
  rates: TextRates,
): OutputTokens | null {
  if (countOf(output) === null || countOf(reasoning) === null) return null
  const tokens = output + reasoning
  // While the answer is not complete, 0 may only mean that hidden reasoning is not reported yet.
  if (tokens === 0 && (outputBytes > 0 || (!isWhole && reasons !== false))) return null
  const isStale = !isWhole && tokens < rates.outputTokens(outputBytes) * STALE_SHARE
  return isStale ? null : { output, reasoning }
}

type PricedRequest = Pick<TextInput, 'tiers' | 'size'>

interface ChargedUse {
  readonly usage: TokenUsage
  readonly reported: ReportedTiers
  /** Time of the clock when the head of the request was written. */
  readonly startedAt: number
}

interface TextCharge {
  /** Whole nano-USD. */
  readonly costNano: number
  readonly price: ResolvedPrice
  /** The reported tier that has no price modifier; null: each has one. */
  readonly unpricedTier: TierMember | null
}

/** The prices of the answers to one call. */
export class CallPrices {
  readonly instants: CallInstants
  readonly #request: PricedRequest

  constructor(request: PricedRequest, instants: CallInstants) {
    this.#request = request
    this.instants = instants
  }

  /** Charges by the tier that the answer reports; if it reports none, by the more expensive of the requested and the default tier. */
  charge(endpoint: Endpoint, { usage, reported, startedAt }: ChargedUse): TextCharge {
    const { prices } = endpoint
    const unpricedTier = this.unpricedTierAt(endpoint, reported)
    if (prices.conditions === null)
      return { costNano: this.#costNano(usage, prices), price: prices, unpricedTier }
    const facts = { promptTokens: inputTokens(usage), at: this.instants.at(startedAt) }
    let dearest: Omit<TextCharge, 'unpricedTier'> | null = null
    for (const one of possibleTiers(tiersOf(reported), askedAt(endpoint, this.#request.tiers))) {
      const price = priceAt(endpoint, { ...facts, reported: one } satisfies PriceFacts)
      const costNano = this.#costNano(usage, price)
      if (dearest === null || costNano > dearest.costNano) dearest = { costNano, price }
    }
    const { costNano, price } = dearest ?? { costNano: 0, price: prices }
    return { costNano, price, unpricedTier }
  }

  /** The reported tier without a price in the catalogue, if the operator pays; null: each has one. */
  unpricedTierAt(endpoint: Endpoint, reported: ReportedTiers): TierMember | null {
    const tiers = tiersOf(reported)
    if (tiers === NO_TIERS || endpoint.ownWay !== undefined || isFree(endpoint)) return null
    return unpricedTierOf(endpoint, tiers)
  }

  #costNano(usage: TokenUsage, price: ResolvedPrice): number {
    return textCostNano(usage, price) + this.#request.size.media.image * price.imageNano
  }
}

/** Whether all calls of the endpoint are free. */
export function isFree({ text, prices }: Pick<Endpoint, 'text' | 'prices'>): boolean {
  if (text === null || prices.conditions !== null) return false
  const { inputNanoPerMillionMax, outputNanoPerMillionMax, requestNano, searchNano, imageNano } = prices
  return inputNanoPerMillionMax + outputNanoPerMillionMax + requestNano + searchNano + imageNano === 0
}

/**
 * The tiers that a call asks for at an endpoint. If it leaves the tier to the account, the setting of the
 * operator's account applies; with a workspace's own account it is unknown.
 */
export function askedAt({ prices, ownWay }: Pick<Endpoint, 'prices' | 'ownWay'>, tiers: Tiers): Tiers {
  const { accountTier } = prices
  if (accountTier === undefined || tiers.service_tier !== undefined || ownWay !== undefined) return tiers
  return { ...tiers, service_tier: accountTier }
}

function possibleTiers(reported: Tiers, asked: Tiers): readonly Tiers[] {
  let possible: readonly Tiers[] = [reported]
  for (const member of TIER_MEMBERS) {
    const tier = asked[member]
    if (reported[member] !== undefined || tier === undefined || tier === USUAL_TIER) continue
    possible = possible.flatMap((one) => [one, { ...one, [member]: tier }])
  }
  return possible
}
