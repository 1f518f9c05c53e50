import type { TextInput, TextRequest, PlacedModality } from '../../schemas/inference/text-request.ts'
import { BYTES_PER_TOKEN } from '../../schemas/inference/token-limits.ts'
import { priceAt, type ResolvedPrice } from '../../schemas/money/price-at.ts'
import type { Caller } from '../../schemas/values/callers.ts'
import type { InferenceJob, CountJob, InlineFile, TextJob } from '../ports/inference/inference.ts'
import type { CallableModel, Endpoint } from '../ports/models/models.ts'
import type { RoutedCall } from '../upstream/routing/route.ts'
import {
  mostAnswerTokens,
  type TextBoundInput,
  affordableOutputTokens,
  isHeld,
  textBoundOf,
} from './bounds.ts'
import type { CallInstants } from '../upstream/cost-bound.ts'
import { isPlainPrompt, type AskedText, askedAt, type LearnedRates, type CallPrices } from './charge.ts'
import { fail, ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import { isTextType } from '../../schemas/inference/counted-media.ts'
import { inlineFormOf } from '../../schemas/inference/inline-files.ts'
import { isReached, keeps, mayReadOther, spokenBy } from '../upstream/inference/spoken.ts'
import { textCostNano } from '../../schemas/money/costs.ts'
import { ADMITTED_OUTPUT_TOKENS_MAX } from '../../schemas/limits/rate-limits.ts'
import type { CostBound } from '../ports/money/money.ts'
import type { Meters } from '../ports/observe.ts'
import type { Attempts, Choice } from '../upstream/routing/attempts.ts'
import type { MediaEgress } from '../upstream/inference/inline/call-media.ts'
import type { OpenStreams } from './meter.ts'
import type { WritingProtocol } from '../upstream/inference/protocol.ts'
import { isPrivate } from '../upstream/cost-bound.ts'
import { pointerOf } from '../../schemas/values/json-path.ts'

/** Tokens of an answer of usual length, by which `sort: price` compares endpoints. Decision. */
export const OUTPUT_TOKENS_USUAL = 512

/** The facts that bound the cost of a call. */
export function boundInputOf(
  { request, limits, defaultTokensMax = null }: BoundJob,
  { from, until }: Pick<CallInstants, 'from' | 'until'>,
): TextBoundInput {
  const { dialect, size, choices, dearMember, tiers, compactionPath } = request
  const { promptBytesMost, messages, tools, hasFormat, serverTools, media, tokensMax } = size
  return {
    dialect,
    promptBytes: promptBytesMost,
    messages,
    tools,
    hasFormat,
    serverTools,
    media: media.image,
    hasLongMedia: media.audio + media.video + media.file > 0,
    hasStored: size.hasStored === true,
    tokensMax,
    defaultTokensMax,
    limits,
    choices,
    dearMember,
    tiers,
    from,
    until,
    compactionPath,
  }
}

type BoundJob = Pick<InferenceJob, 'limits' | 'defaultTokensMax'> & {
  readonly request: Pick<
    TextInput,
    'dialect' | 'size' | 'choices' | 'dearMember' | 'tiers' | 'compactionPath'
  >
}

/** An attempt of a call. */
interface AskedOf {
  readonly model: CallableModel
  readonly target: { readonly endpoint: Endpoint }
  /** Milliseconds of the clock. */
  readonly startedAt: number
}

/** The facts from which the usage of an attempt is estimated, apart from the delivered output. @param now of the same clock */
export function askedOf({ model, target, startedAt }: AskedOf, job: InferenceJob, now: number): AskedText {
  const { endpoint } = target
  const { request, limits, defaultTokensMax = null } = job
  const { dialect, size, choices } = request
  const asked = { dialect, tokensMax: size.tokensMax, defaultTokensMax, limits }
  return {
    text: size.text,
    contextTokens: endpoint.contextLength === 0 ? null : endpoint.contextLength,
    outputTokensMax: (mostAnswerTokens(endpoint, asked) ?? Infinity) * choices,
    reasons: reasonsAt(model, request),
    ...(request.effort && { effort: request.effort }),
    seconds: (now - startedAt) / 1_000,
    isTeaching: isPlainPrompt(size),
  }
}

/** Whether the model reasons in a call; null: unknown. */
function reasonsAt({ reasons }: CallableModel, { asksReasoning }: TextInput): boolean | null {
  if (reasons === 'never') return false
  if (asksReasoning !== null) return asksReasoning
  return reasons === undefined ? null : reasons === 'usually'
}

interface RoutedBy {
  /** Unix milliseconds. */
  readonly at: number
  readonly caller: Pick<Caller, 'key'>
  /** The caller's name for the conversation, from a header or `session_id`; null: the call has none. */
  readonly session: string | null
}

export class RoutedText implements RoutedCall {
  readonly taking: RoutedCall['taking']
  readonly #request: TextRequest
  readonly #by: RoutedBy

  constructor(request: TextRequest, by: RoutedBy, taking?: RoutedCall['taking']) {
    this.taking = taking
    this.#request = request
    this.#by = by
  }

  /**
   * The conversation: the session, else the name in the body, else the first texts. Names belong to one key:
   * two callers with the same name share nothing.
   */
  conversationAt({ id }: CallableModel): string {
    const { session, caller } = this.#by
    const { name, prefix } = this.#request.conversation
    return [caller.key, id, session ?? name ?? prefix].join('\0')
  }

  get preferences(): RoutedCall['preferences'] {
    return this.#request.provider
  }

  parameters(): readonly string[] {
    return this.#request.parameters
  }

  costAt(endpoint: Endpoint): number {
    if (endpoint.text === null) return Infinity
    const price = this.priceAt(endpoint)
    const { tokensMax } = this.#request.size
    const input = this.#promptTokens()
    const output = Math.min(tokensMax ?? OUTPUT_TOKENS_USUAL, OUTPUT_TOKENS_USUAL) * this.#request.choices
    return textCostNano({ input, cacheRead: 0, cacheWrite: 0, output, reasoning: 0 }, price)
  }

  /** The price now, for the estimated tokens and the requested tiers. */
  priceAt(endpoint: Endpoint): ResolvedPrice {
    if (endpoint.prices.conditions === null) return endpoint.prices
    const reported = askedAt(endpoint, this.#request.tiers)
    return priceAt(endpoint, { promptTokens: this.#promptTokens(), at: this.#by.at, reported })
  }

  #promptTokens(): number {
    return Math.ceil(this.#request.size.promptBytesMost / BYTES_PER_TOKEN)
  }

  hasMedia(kind: 'image' | 'audio'): boolean {
    return this.#request.size.media[kind] > 0
  }
}

type Asked = Pick<CountJob, 'request' | 'files'>

/**
 * The endpoints of a model that can serve a call at all: they support its dialect, may store the data that it
 * needs stored, cannot interpret its body differently, read its media and write the requested outputs.
 * Failures: model_unfit, stateless, body_invalid, input_unsupported, not_supported.
 */
export function fittingEndpoints(model: CallableModel, asked: Asked): Outcome<readonly Endpoint[]> {
  const { request } = asked
  const speaking = model.endpoints.filter((endpoint) => isReached(endpoint, request.dialect))
  if (speaking.length === 0) return fail('model_unfit', { detail: spokenBy(model, request.dialect) })
  const path = request.statePath ?? request.accountPath
  const keeping = path === undefined ? speaking : speaking.filter((one) => keeps(one, request))
  if (path !== undefined && keeping.length === 0) return stateless(path)
  const { ambiguous } = request.source
  const reading = ambiguous === null ? keeping : keeping.filter((one) => !mayReadOther(one, request))
  if (ambiguous !== null && reading.length === 0)
    return fail('body_invalid', { metadata: { issues: [ambiguous] } })
  const refused = foreignTo(model, asked)
  if (refused === null) return ok(reading)
  // The catalogue does not describe a workspace's own server that has the model's name.
  const own = reading.filter(isPrivate)
  return own.length === 0 ? refused : ok(own)
}

function stateless(path: string): Outcome<never> {
  const issue = {
    path,
    message: 'needs an account with the provider',
    expected: 'the whole conversation in the request',
  }
  return fail('stateless', { metadata: { issues: [issue] } })
}

/** Null: according to the catalogue, the model reads the prompt and writes the requested outputs. */
function foreignTo({ declared }: CallableModel, { request, files = [] }: Asked): Outcome<never> | null {
  if (declared === undefined) return null
  const { inputs, outputs } = declared
  const { placed = [] } = request.size
  const input = firstBeyond(inputs, placed) ?? firstBeyond(inputs, files.flatMap(placedFile))
  if (input !== undefined) return fail('input_unsupported', issueOf('input', input, inputs))
  const output = firstBeyond(outputs, request.outputs ?? [])
  return output === undefined ? null : fail('not_supported', issueOf('output', output, outputs))
}

/** @param known undefined: the catalogue does not say */
function firstBeyond(
  known: readonly string[] | undefined,
  used: readonly PlacedModality[],
): PlacedModality | undefined {
  return known === undefined ? undefined : used.find(({ name }) => !known.includes(name))
}

function issueOf(
  direction: 'input' | 'output',
  { name, path }: PlacedModality,
  known: readonly string[] = [],
): Pick<Failure, 'metadata'> {
  const message = `is ${name}, which the model does not support as ${direction}`
  return { metadata: { issues: [{ path, message, expected: known.join(' or ') }] } }
}

/** The modality of a file; a text file counts as text, whichever member contains it. */
function placedFile({ use, mimeType, at }: InlineFile): readonly PlacedModality[] {
  const name = isTextType(mimeType) ? null : inlineFormOf(use, mimeType)
  return name === null || name === 'text' ? [] : [{ name, path: pointerOf(at) }]
}

export type WritingChoice = Choice<WritingProtocol>

export interface SharedByCalls {
  readonly attempts: Attempts<WritingProtocol>
  readonly rates: LearnedRates
  readonly open: OpenStreams
  readonly meters: Pick<Meters, 'upstream' | 'streams'>
  readonly egress: MediaEgress
  /** Milliseconds without output after which the head of a streamed answer is sent. */
  readonly streamHoldMs: number
  /** Milliseconds of the same clock as the deadlines. */
  readonly now: () => number
}

/** A call whose endpoints are chosen. */
interface TextPlanInput {
  readonly job: TextJob
  readonly choices: readonly WritingChoice[]
  readonly prices: CallPrices
  /** The facts that bound its cost. */
  readonly bounded: TextBoundInput
  readonly shared: SharedByCalls
}

/** The plan of a call, with its possible cost, before anything is sent. */
export class TextPlan {
  readonly job: TextJob
  readonly choices: readonly WritingChoice[]
  readonly prices: CallPrices
  readonly shared: SharedByCalls
  readonly bound: CostBound
  readonly #bounded: TextBoundInput
  readonly #targets: readonly WritingChoice['target'][]

  constructor({ job, choices, prices, bounded, shared }: TextPlanInput) {
    this.job = job
    this.choices = choices
    this.prices = prices
    this.shared = shared
    this.#bounded = bounded
    this.#targets = choices.map(({ target }) => target)
    this.bound = textBoundOf(this.#targets, bounded)
  }

  /** True when a finite spending limit counts the call. */
  get isHeld(): boolean {
    return isHeld(this.#targets, this.#bounded)
  }

  /** Estimated tokens of the prompt and its answers at the endpoint that is tried first. */
  estimatedTokens(): number {
    const { request, caller, defaultTokensMax = null } = this.job
    const { size, choices } = request
    const [first] = this.#targets
    if (first === undefined) return 0
    const { endpoint } = first
    const most = size.tokensMax ?? defaultTokensMax ?? endpoint.text?.maxCompletionTokens ?? Infinity
    const prompt = this.shared.rates.of(endpoint, caller).promptTokens(size.text)
    return prompt + Math.min(most, ADMITTED_OUTPUT_TOKENS_MAX) * choices
  }

  /** The most tokens of one answer for this money; 0: the prompt alone may cost more. Null: fewer tokens do not make the call cheaper. */
  affordableTokens(availableNano: number): number | null {
    return affordableOutputTokens(this.#targets, this.#bounded, availableNano)
  }
}

/** True if the call itself ended, so that the endpoint did not fail. */
export function isOfCall({ name }: Failure): boolean {
  return name === 'client_gone' || name === 'draining' || name === 'deadline_exceeded'
}
