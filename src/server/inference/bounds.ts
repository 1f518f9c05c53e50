import type { Issue } from '../../schemas/failure-metadata.ts'
import { MAKER_TOKENS_MIN } from '../../schemas/models/openai-maker.ts'
import type { ServerTools } from '../../schemas/inference/server-tools.ts'
import type { Dialect } from '../../schemas/inference/text-request.ts'
import {
  TOKENS_ADDED_EACH_MAX,
  TOKENS_ADDED_FORMS_MAX,
  TOKENS_TRANSLATED_TOOL_MAX,
} from '../../schemas/inference/token-limits.ts'
import { TOKENS_PER_PRICE, exactCount, pricedNano } from '../../schemas/money/costs.ts'
import { dearestPricesAt, type DearestPrices } from '../../schemas/money/price-at.ts'
import type { Endpoint } from '../ports/models/models.ts'
import type { CostBound } from '../ports/money/money.ts'
import { dearestBound } from '../upstream/cost-bound.ts'
import {
  isMaker,
  protocolFor,
  translatedTo,
  isBounded,
  maxOfOurs,
  known,
  type AnswerMaximum,
} from '../upstream/inference/spoken.ts'
import { askedAt, isFree } from './charge.ts'
import { unpricedTierOf, USUAL_TIER, type Tiers } from '../../schemas/models/price-conditions.ts'

/** Tokens of one picture in the bound of a call: the most that a provider is known to charge is 48,169. Decision. */
export const PICTURE_TOKENS_MAX = 65_536

/** The facts that bound the tokens of a call before it is sent. */
export interface TextBoundInput extends AnswerMaximum {
  readonly dialect: Dialect
  /** Bytes of the request's body, less the base64 of its media. */
  readonly promptBytes: number
  readonly messages: number
  readonly tools: number
  /** True when the request names a response format (`response_format`), whose schema the model reads. */
  readonly hasFormat: boolean
  /** Tools that the provider runs; it reads the whole input again for each use. Null: none. */
  readonly serverTools: ServerTools | null
  /** Number of pictures, inline or by URL. */
  readonly media: number
  /** True with a document, a sound or a video: the maximum of their tokens is unknown. */
  readonly hasLongMedia: boolean
  /** True when the input continues a conversation that a provider has stored under a workspace's own key. */
  readonly hasStored: boolean
  /** Answers to the call (`n`). */
  readonly choices: number
  /** A member that may make the call cost more than the catalogue's prices; null: none. */
  readonly dearMember: string | null
  /** The tiers that the call requests, by the names that price modifiers use. */
  readonly tiers: Tiers
  /** Unix milliseconds of the plan. */
  readonly from: number
  /** Unix milliseconds of the deadline. */
  readonly until: number
  /** Path of the member that makes the provider summarize the input first; absent: it does not. */
  readonly compactionPath?: string | undefined
}

type Targets = readonly { readonly endpoint: Endpoint }[]

/**
 * The most that a call may cost, over all endpoints that the call may reach. Every input token counts at the
 * highest price of input, every output token at the highest price of output.
 */
export function textBoundOf(targets: Targets, input: TextBoundInput): CostBound {
  const bound = dearestBound(targets, (endpoint) => {
    const { text } = endpoint
    if (text === null || mayCostMore(endpoint, input)) return null
    const read = mostPromptTokens(endpoint, input)
    const prices = dearestAt(endpoint, input, read)
    const prompt = tokensAt(prices.inputNanoPerMillionMax, read)
    const answers = tokensAt(prices.outputNanoPerMillionMax, mostAnswerTokens(endpoint, input))
    const summaries = tokensAt(prices.outputNanoPerMillionMax, mostSummaryTokens(endpoint, input))
    const other = mostOtherNano(endpoint, input)
    if (prompt === null || answers === null || summaries === null || other === null) return null
    const buckets = [
      [prompt, prices.inputNanoPerMillionMax],
      [answers * input.choices * stepsOf(input) + summaries, prices.outputNanoPerMillionMax],
    ] as const
    return pricedNano(buckets, other)
  })
  const dearer = dearerOf(targets, input)
  if (dearer !== null) return { ...bound, unbounded: dearer }
  const unbounded = bound.anyNano === null ? unboundedSteps(targets, input) : null
  return unbounded === null ? bound : { ...bound, unbounded }
}

/** Whether the catalogue has a price for a call at an endpoint. */
export function isPriced(
  endpoint: Endpoint,
  input: Pick<TextBoundInput, 'dearMember' | 'tiers' | 'serverTools'>,
): boolean {
  const { isUnpriced } = endpoint
  return !isUnpriced && !mayCostMore(endpoint, input) && !lacksSearchPrice(endpoint, input.serverTools)
}

/** Whether the tools that the provider runs may have costs without a price in the catalogue. */
export function lacksToolPrice(endpoint: Endpoint, tools: ServerTools | null): boolean {
  if (tools?.price === 'other') return !isFree(endpoint)
  return lacksSearchPrice(endpoint, tools)
}

function lacksSearchPrice(endpoint: Endpoint, tools: ServerTools | null): boolean {
  return tools?.price === 'search' && !endpoint.prices.isSearchPriced && !isFree(endpoint)
}

/** Whether a finite spending limit counts a call at one of the endpoints, and the call may have a cost there. */
export function isHeld(targets: Targets, input: Pick<TextBoundInput, 'limits'>): boolean {
  return targets.some(({ endpoint }) => isBounded(endpoint, input) && !isFree(endpoint))
}

/** The reason why steps that the provider takes by itself make the cost unbounded; null: they do not. */
function unboundedSteps(targets: Targets, { serverTools, compactionPath }: TextBoundInput): Issue | null {
  const tools = serverTools === null ? null : unboundedTools(targets, serverTools)
  if (tools !== null || compactionPath === undefined) return tools
  return unknownContext(targets, compactionPath)
}

function unboundedTools(targets: Targets, serverTools: ServerTools): Issue | null {
  const { path, uses, remedy } = serverTools
  if (uses === null) return { path, ...(remedy === null ? BOUNDLESS : { ...UNBOUNDED, expected: remedy }) }
  const unpriced = targets.find(({ endpoint }) => lacksSearchPrice(endpoint, serverTools))
  if (unpriced !== undefined) {
    const message = `needs a price for web searches at ${unpriced.endpoint.tag}`
    return { path, message, expected: '`web_search` in the `pricing` of that endpoint' }
  }
  return unknownContext(targets, path)
}

function unknownContext(targets: Targets, path: string): Issue | null {
  const unknown = targets.find(({ endpoint }) => known(endpoint.contextLength) === null && !isFree(endpoint))
  if (unknown === undefined) return null
  const message = `reads the whole context at each use, but the context length is unknown for ${unknown.endpoint.tag}`
  return { path, message, expected: '`context_length` in the catalogue' }
}

const BOUNDLESS = {
  message: 'allows the provider to run tools of unlimited cost',
  expected: 'tools you run yourself',
}
const DEARER = {
  message: 'may cost more than the price in the catalogue',
  expected: 'the default value, or no value',
}
const UNBOUNDED = { message: 'must limit a tool run by the provider' }

type Asked = Pick<TextBoundInput, 'dearMember' | 'tiers'>

/**
 * Whether a call may cost the operator more than the catalogue says. Under a workspace's own key the workspace
 * pays; at a free endpoint nothing costs more.
 */
function mayCostMore(endpoint: Endpoint, { dearMember, tiers }: Asked): boolean {
  if (endpoint.ownWay !== undefined || isFree(endpoint)) return false
  return dearMember !== null || dearTierOf(endpoint, tiers) !== null
}

/** A requested tier without its own price, which may be more expensive than the base price; null: none. */
function dearTierOf(endpoint: Endpoint, tiers: Tiers): keyof Tiers | null {
  const asked = askedAt(endpoint, tiers)
  const member = unpricedTierOf(endpoint, asked)
  // No provider charges more for flex than for its default tier.
  return member === 'service_tier' && asked.service_tier === 'flex'
    ? unpricedTierOf(endpoint, { ...asked, service_tier: USUAL_TIER })
    : member
}

/** Values that need no modifier, as callers send them. */
const USUAL: Readonly<Record<keyof Tiers, string>> = {
  service_tier: '`auto`, `default`, `flex` or `standard_only`',
  speed: '`standard`',
  inference_geo: '`global`',
}

/** The member that may make a call cost more than its catalogue prices; null: no member may. */
function dearerOf(targets: Targets, input: TextBoundInput): Issue | null {
  const found = targets.find(({ endpoint }) => mayCostMore(endpoint, input))
  if (found === undefined) return null
  const { endpoint } = found
  const member = dearTierOf(endpoint, input.tiers)
  if (member === null) return { path: `/${input.dearMember}`, ...DEARER }
  const tier = askedAt(endpoint, input.tiers)[member]
  const message = `the \`modifiers\` of ${endpoint.tag} have no \`${member}: ${tier}\``
  return {
    path: `/${member}`,
    message,
    expected: `a modifier for this tier in the catalogue, or ${USUAL[member]}`,
  }
}

/** @param promptTokensMax null: not known */
function dearestAt(
  endpoint: Endpoint,
  { from, until, tiers }: Pick<TextBoundInput, 'from' | 'until' | 'tiers'>,
  promptTokensMax: number | null,
): DearestPrices {
  if (endpoint.prices.conditions === null) return endpoint.prices
  return dearestPricesAt(endpoint, { promptTokensMax, from, until, asked: askedAt(endpoint, tiers) })
}

/**
 * The most tokens of one answer with which the bound of a call is no more than `availableNano`, at each of the
 * endpoints; 0 when the input alone exceeds it or has no bound. Null: fewer tokens do not make the call
 * cheaper.
 * @param targets endpoints that have a price
 */
export function affordableOutputTokens(
  targets: Targets,
  input: TextBoundInput,
  availableNano: number,
): number | null {
  const each = targets.map(({ endpoint }) => affordableAt(endpoint, input, availableNano))
  const least = each.reduce((one, other) => Math.min(one, other), Infinity)
  return least === Infinity ? null : least
}

function affordableAt(endpoint: Endpoint, input: TextBoundInput, availableNano: number): number {
  const { text } = endpoint
  if (text === null || !isPriced(endpoint, input)) return 0
  const most = mostPromptTokens(endpoint, input)
  const { inputNanoPerMillionMax: inputMax, outputNanoPerMillionMax: outputMax } = dearestAt(
    endpoint,
    input,
    most,
  )
  const prompt = tokensAt(inputMax, most)
  const other = mostOtherNano(endpoint, input)
  const summaries = tokensAt(outputMax, mostSummaryTokens(endpoint, input))
  if (prompt === null || summaries === null || other === null) return 0
  const available = (BigInt(availableNano) - exactCount(other)) * BigInt(TOKENS_PER_PRICE)
  const read = exactCount(prompt) * BigInt(inputMax)
  const left = available - read - exactCount(summaries) * BigInt(outputMax)
  if (left < 0n) return 0
  if (outputMax === 0) return Infinity
  const tokens = left / (BigInt(outputMax) * exactCount(input.choices * stepsOf(input)))
  if (tokens < leastAnswerTokens(endpoint, input)) return 0
  return Number(tokens > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : tokens)
}

/** The cost of tokens; zero-priced tokens need no bound. */
function tokensAt(nanoPerMillion: number, tokens: number | null): number | null {
  return nanoPerMillion === 0 ? 0 : tokens
}

/** Tokens of the input: one for each byte at most, and no more than the context. Null: not known. */
function mostPromptTokens(endpoint: Endpoint, input: TextBoundInput): number | null {
  const { contextLength, ownWay } = endpoint
  const context = known(contextLength)
  // Results of the tools, and summaries, also become input.
  if (input.serverTools !== null || input.compactionPath !== undefined)
    return context === null ? null : context * (stepsOf(input) + summariesOf(input))
  // Nothing is stored under the operator's key.
  if (input.hasLongMedia || (input.hasStored && ownWay !== undefined)) return context
  const isNew = isTranslated(endpoint, input)
  const tokens =
    input.promptBytes +
    (input.messages + input.tools) * TOKENS_ADDED_EACH_MAX +
    (input.tools > 0 || input.hasFormat || isNew ? TOKENS_ADDED_FORMS_MAX : 0) +
    (isNew ? input.tools * TOKENS_TRANSLATED_TOOL_MAX : 0) +
    input.media * PICTURE_TOKENS_MAX
  return Math.min(tokens, context ?? Infinity)
}

/** Most nano-USD for items other than tokens. Null: tools of the provider have no maximum or no price. */
function mostOtherNano(endpoint: Endpoint, { serverTools, media }: TextBoundInput): number | null {
  const { requestNano, imageNano, searchNano } = endpoint.prices
  const nano = requestNano + media * imageNano
  if (serverTools === null || isFree(endpoint)) return nano
  if (serverTools.uses === null || lacksSearchPrice(endpoint, serverTools)) return null
  return nano + serverTools.searches * searchNano
}

/** Number of times that the model reads the input and writes: one more than the maximum of tool uses. */
function stepsOf({ serverTools }: TextBoundInput): number {
  return 1 + (serverTools?.uses ?? 0)
}

/** Number of summaries: the provider may summarize the model's input before each step. */
function summariesOf(input: TextBoundInput): number {
  return input.compactionPath === undefined ? 0 : stepsOf(input)
}

/** Most tokens of all summaries; the maximum in the request may not apply to them. Null: there is no known maximum. */
function mostSummaryTokens({ text, contextLength }: Endpoint, input: TextBoundInput): number | null {
  const summaries = summariesOf(input)
  if (summaries === 0) return 0
  const each = text?.maxCompletionTokens ?? known(contextLength)
  return each === null ? null : each * summaries
}

/** Most tokens of one answer in one step. Null: there is no known maximum. */
export function mostAnswerTokens(
  endpoint: Endpoint,
  input: Pick<TextBoundInput, 'dialect' | 'tokensMax' | 'defaultTokensMax' | 'limits'>,
): number | null {
  const most = input.tokensMax ?? maxOfOurs(endpoint, input) ?? known(endpoint.contextLength)
  return most === null ? null : Math.max(most, leastAnswerTokens(endpoint, input))
}

type SpokenBy = Pick<TextBoundInput, 'dialect'>

/** The least maximum of tokens: for OpenAI's Responses API a smaller one is raised to it. */
function leastAnswerTokens(endpoint: Endpoint, { dialect }: SpokenBy): number {
  const { text } = endpoint
  const isRaised = text !== null && protocolFor(text, dialect) === 'responses' && isMaker(endpoint)
  return isRaised ? MAKER_TOKENS_MIN : 0
}

/** True when the request is translated: it may then get tools that earlier turns call but that it no longer declares. */
function isTranslated({ text }: Endpoint, { dialect }: SpokenBy): boolean {
  return translatedTo(text, dialect) !== null
}
