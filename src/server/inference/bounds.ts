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

/**
 * Tokens of one picture, as the bound of a call counts them: the most that a provider is known to charge is
 * 48,169. Decision.
 */
export const PICTURE_TOKENS_MAX = 65_536

/** What bounds the tokens of a call before anything of it is sent. */
export interface TextBoundInput extends AnswerMaximum {
  readonly dialect: Dialect
  /** Bytes of the request's body, less the base64 of its media. */
  readonly promptBytes: number
  readonly messages: number
  readonly tools: number
  /** The request names a form of answer (`response_format`), whose schema the model reads. */
  readonly hasFormat: boolean
  /** Tools that the provider runs, at each use of which it reads the whole input again; null: none. */
  readonly serverTools: ServerTools | null
  /** Pictures, inline or by address. */
  readonly media: number
  /** A document, a sound or a video is there: no maximum of its tokens is known. */
  readonly hasLongMedia: boolean
  /** The input goes on from what a provider has stored under a workspace's own key. */
  readonly hasStored: boolean
  /** Answers to the call (`n`). */
  readonly choices: number
  /** A member by which the call may cost more than the catalogue says; null: no such member. */
  readonly dearMember: string | null
  /** What the call asks for, as modifiers name it. */
  readonly tiers: Tiers
  /** Unix milliseconds of the plan. */
  readonly from: number
  /** Unix milliseconds of the deadline. */
  readonly until: number
  /** Path of the member by which the provider summarizes the input first; left out: it does not. */
  readonly compactionPath?: string | undefined
}

type Targets = readonly { readonly endpoint: Endpoint }[]

/**
 * The most that a call may cost, over all endpoints that the call may reach. Every token of the input counts
 * at the dearest price of an input, every token of the output at the dearest of an output.
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

/** Whether the catalogue has the price of a call at an endpoint. */
export function isPriced(
  endpoint: Endpoint,
  input: Pick<TextBoundInput, 'dearMember' | 'tiers' | 'serverTools'>,
): boolean {
  const { isUnpriced } = endpoint
  return !isUnpriced && !mayCostMore(endpoint, input) && !lacksSearchPrice(endpoint, input.serverTools)
}

/** Whether the tools that the provider runs may cost what the catalogue does not say. */
export function lacksToolPrice(endpoint: Endpoint, tools: ServerTools | null): boolean {
  if (tools?.price === 'other') return !isFree(endpoint)
  return lacksSearchPrice(endpoint, tools)
}

function lacksSearchPrice(endpoint: Endpoint, tools: ServerTools | null): boolean {
  return tools?.price === 'search' && !endpoint.prices.isSearchPriced && !isFree(endpoint)
}

/** Whether a finite limit counts a call at one of the endpoints, and the call may cost something there. */
export function isHeld(targets: Targets, input: Pick<TextBoundInput, 'limits'>): boolean {
  return targets.some(({ endpoint }) => isBounded(endpoint, input) && !isFree(endpoint))
}

/** Why what the provider does by itself makes a call unbounded; null: it is not the cause. */
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

/** Under a workspace's own key the account is the workspace's. What costs nothing costs no more of it. */
function mayCostMore(endpoint: Endpoint, { dearMember, tiers }: Asked): boolean {
  if (endpoint.ownWay !== undefined || isFree(endpoint)) return false
  return dearMember !== null || dearTierOf(endpoint, tiers) !== null
}

/** A tier without a price of its own, which may be dearer than the base. */
function dearTierOf(endpoint: Endpoint, tiers: Tiers): keyof Tiers | null {
  const asked = askedAt(endpoint, tiers)
  const member = unpricedTierOf(endpoint, asked)
  // No provider asks more for it than for its usual tier.
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
 * The most tokens of one answer with which the bound of a call is no more than `availableNano`, at each of
 * the endpoints; 0 where the input alone exceeds it or has no bound. Null: fewer tokens make the call no
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

/** What costs nothing needs no bound. */
function tokensAt(nanoPerMillion: number, tokens: number | null): number | null {
  return nanoPerMillion === 0 ? 0 : tokens
}

/** Tokens of the input: one for each byte at most, and no more than the context. Null: not known. */
function mostPromptTokens(endpoint: Endpoint, input: TextBoundInput): number | null {
  const { contextLength, ownWay } = endpoint
  const context = known(contextLength)
  // What the tools find, and a summary, become input, too.
  if (input.serverTools !== null || input.compactionPath !== undefined)
    return context === null ? null : context * (stepsOf(input) + summariesOf(input))
  // Under the operator's key nothing is stored.
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

/** Nano-USD of what is no tokens. Null: tools of the provider are without a maximum, or without a price. */
function mostOtherNano(endpoint: Endpoint, { serverTools, media }: TextBoundInput): number | null {
  const { requestNano, imageNano, searchNano } = endpoint.prices
  const nano = requestNano + media * imageNano
  if (serverTools === null || isFree(endpoint)) return nano
  if (serverTools.uses === null || lacksSearchPrice(endpoint, serverTools)) return null
  return nano + serverTools.searches * searchNano
}

/** Times that the model reads the input, and writes: one more than the uses of tools that have a maximum. */
function stepsOf({ serverTools }: TextBoundInput): number {
  return 1 + (serverTools?.uses ?? 0)
}

/** Before each step the provider may summarize what the model is to read. */
function summariesOf(input: TextBoundInput): number {
  return input.compactionPath === undefined ? 0 : stepsOf(input)
}

/** Tokens of all summaries, which the maximum of the request need not bound. Null: nothing says a maximum. */
function mostSummaryTokens({ text, contextLength }: Endpoint, input: TextBoundInput): number | null {
  const summaries = summariesOf(input)
  if (summaries === 0) return 0
  const each = text?.maxCompletionTokens ?? known(contextLength)
  return each === null ? null : each * summaries
}

/** Tokens of one answer at one step. Null: nothing says a maximum. */
export function mostAnswerTokens(
  endpoint: Endpoint,
  input: Pick<TextBoundInput, 'dialect' | 'tokensMax' | 'defaultTokensMax' | 'limits'>,
): number | null {
  const most = input.tokensMax ?? maxOfOurs(endpoint, input) ?? known(endpoint.contextLength)
  return most === null ? null : Math.max(most, leastAnswerTokens(endpoint, input))
}

type SpokenBy = Pick<TextBoundInput, 'dialect'>

/** A smaller maximum is raised to it on the way to OpenAI's responses. */
function leastAnswerTokens(endpoint: Endpoint, { dialect }: SpokenBy): number {
  const { text } = endpoint
  const isRaised = text !== null && protocolFor(text, dialect) === 'responses' && isMaker(endpoint)
  return isRaised ? MAKER_TOKENS_MIN : 0
}

/** The request is rewritten, and may get tools that earlier turns call and it no longer declares. */
function isTranslated({ text }: Endpoint, { dialect }: SpokenBy): boolean {
  return translatedTo(text, dialect) !== null
}
