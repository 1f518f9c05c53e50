import {
  BYTES_PER_TOKEN,
  RATE_CALLS_MAX,
  SEARCHES_TOLD_MAX,
  TOKENS_TOLD_MAX,
} from '../../../schemas/inference/token-limits.ts'
import type { TokenUsage } from '../../ports/inference/inference.ts'
import type { Endpoint } from '../../ports/models/models.ts'

/** What passed through the front of a call. */
export interface SeenText {
  /** Bytes of the request's body, less the base64 of its media. */
  readonly promptBytes: number
  /** UTF-8 bytes of text, reasoning and arguments that were delivered, over all answers. */
  readonly outputBytes: number
  /** The answer came to its end. */
  readonly isWhole: boolean
}

export interface JudgedTextUsage {
  readonly usage: TokenUsage
  /** The answer broke off, or Sluice estimated a figure that the provider did not tell credibly. D26. */
  readonly isEstimated: boolean
}

/**
 * A provider that tells its usage while it streams may have told it before the last bytes: a figure of a
 * broken answer below this share of the estimate is older than what was delivered. Decision.
 */
const STALE_SHARE = 1 / 4

/** Tokens per byte of the last finished calls of an endpoint, in one direction. D26. */
export class TokensPerByte {
  readonly #tokens: number[] = []
  readonly #bytes: number[] = []
  #next = 0
  #tokensSum = 0
  #bytesSum = 0

  /** @param tokens as told by the provider, at least 1 @param bytes at least 1; fewer teach nothing */
  learn(tokens: number, bytes: number): void {
    if (!(tokens >= 1) || !(bytes >= 1)) return
    // A token has a byte at least: what exceeds it is hidden reasoning or a picture, not the text.
    const most = Math.min(tokens, bytes)
    this.#tokensSum += most - (this.#tokens[this.#next] ?? 0)
    this.#bytesSum += bytes - (this.#bytes[this.#next] ?? 0)
    this.#tokens[this.#next] = most
    this.#bytes[this.#next] = bytes
    this.#next = (this.#next + 1) % RATE_CALLS_MAX
  }

  /** Tokens that so many bytes usually are: 0 of no bytes, else at least 1. */
  estimate(bytes: number): number {
    if (this.#bytesSum === 0) return Math.ceil(bytes / BYTES_PER_TOKEN)
    return Math.ceil((bytes * this.#tokensSum) / this.#bytesSum)
  }
}

/** What the finished calls of one endpoint have taught. */
export class TextRates {
  readonly prompt = new TokensPerByte()
  readonly output = new TokensPerByte()
}

/**
 * The rates of the endpoints that a front has called. An endpoint of the catalogue has one set under all of
 * its models and variants; the rates of a workspace's own endpoint go with it.
 */
export class LearnedRates {
  readonly #byTag = new Map<string, TextRates>()
  readonly #ofOwn = new WeakMap<Endpoint, TextRates>()

  of(endpoint: Endpoint): TextRates {
    const { tag, ownWay } = endpoint
    const known = ownWay === undefined ? this.#byTag.get(tag) : this.#ofOwn.get(endpoint)
    if (known !== undefined) return known
    const rates = new TextRates()
    if (ownWay === undefined) this.#byTag.set(tag, rates)
    else this.#ofOwn.set(endpoint, rates)
    return rates
  }
}

/**
 * Takes the provider's figures where they are credible, else estimates: input and output each by itself. A
 * figure above the call's bound is credible: the call pays its bound, and the rest becomes an overrun. A
 * whole answer with credible figures teaches `rates`. D24, D26.
 * @param told null: the provider told none
 */
export function judgeTextUsage(told: TokenUsage | null, seen: SeenText, rates: TextRates): JudgedTextUsage {
  const input = told === null ? null : credibleInput(told, seen)
  const output = told === null ? null : credibleOutput(told, seen, rates)
  if (seen.isWhole && input !== null && output !== null) {
    rates.prompt.learn(input.input + input.cacheRead + input.cacheWrite, seen.promptBytes)
    rates.output.learn(output.output + output.reasoning, seen.outputBytes)
  }
  const isEstimated = !seen.isWhole || input === null || output === null
  const usage = withSearches(usageOf(input, output, { seen, rates }), searchesOf(told?.searches))
  // Shares of estimated figures are not known.
  const media = input === null || output === null ? undefined : told?.media
  return { usage: media === undefined ? usage : { ...usage, media }, isEstimated }
}

/** Written out: usage is read all over a call, and objects of one shape are read quickest. */
function usageOf(
  input: InputTokens | null,
  output: OutputTokens | null,
  { seen, rates }: { readonly seen: SeenText; readonly rates: TextRates },
): TokenUsage {
  const usage = {
    input: input === null ? rates.prompt.estimate(seen.promptBytes) : input.input,
    cacheRead: input === null ? 0 : input.cacheRead,
    cacheWrite: input === null ? 0 : input.cacheWrite,
    output: output === null ? rates.output.estimate(seen.outputBytes) : output.output,
    reasoning: output === null ? 0 : output.reasoning,
  }
  const hour = input?.cacheWriteHour
  return hour === undefined ? usage : { ...usage, cacheWriteHour: hour }
}

type InputTokens = Pick<TokenUsage, 'input' | 'cacheRead' | 'cacheWrite' | 'cacheWriteHour'>
type OutputTokens = Pick<TokenUsage, 'output' | 'reasoning'>

function credibleInput(told: TokenUsage, seen: SeenText): InputTokens | null {
  const { input, cacheRead, cacheWrite, cacheWriteHour } = told
  if ([input, cacheRead, cacheWrite].some((tokens) => countOf(tokens) === null)) return null
  // Nothing but its prompt makes a model write.
  if (input + cacheRead + cacheWrite === 0 && seen.promptBytes > 0) return null
  const tokens = { input, cacheRead, cacheWrite }
  return cacheWriteHour === undefined ? tokens : { ...tokens, cacheWriteHour }
}

function credibleOutput(
  { output, reasoning }: TokenUsage,
  { outputBytes, isWhole }: SeenText,
  rates: TextRates,
): OutputTokens | null {
  if (countOf(output) === null || countOf(reasoning) === null) return null
  const tokens = output + reasoning
  if (tokens === 0 && outputBytes > 0) return null
  const isStale = !isWhole && tokens < rates.output.estimate(outputBytes) * STALE_SHARE
  return isStale ? null : { output, reasoning }
}

/**
 * Searches of the web that a provider tells, or that its answer shows. What exceeds SEARCHES_TOLD_MAX counts
 * as that, since it has to exceed the bound of its call, too. 0: it is missing, or no count. D24.
 */
export function searchesOf(figure: unknown): number {
  return Number.isSafeInteger(figure) ? Math.min(Math.max(0, Number(figure)), SEARCHES_TOLD_MAX) : 0
}

/** The figures with so many searches, if there were any. */
export function withSearches(usage: TokenUsage, searches: number): TokenUsage {
  return searches === 0 ? usage : { ...usage, searches }
}

/** A count of tokens that a provider tells; null: it is missing, or no count. D24. */
export function countOf(figure: unknown): number | null {
  const isCount = Number.isSafeInteger(figure) && Number(figure) >= 0 && Number(figure) <= TOKENS_TOLD_MAX
  return isCount ? Number(figure) : null
}
