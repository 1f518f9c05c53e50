import type { TextInput, TextRequest } from '../../../schemas/inference/text-request.ts'
import { OUTPUT_TOKENS_USUAL, BYTES_PER_TOKEN } from '../../../schemas/inference/token-limits.ts'
import { textCostNano } from '../../../schemas/money/text-costs.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { InferenceJob } from '../../ports/inference/inference.ts'
import type { CallableModel, Endpoint } from '../../ports/models/models.ts'
import type { RoutedCall } from '../routing/route.ts'
import { mostAnswerTokens, type TextBoundInput } from './bounds.ts'
import { textPriceOf } from './text-price.ts'
import { isPlainPrompt, type AskedText } from './text-usage.ts'

/** What bounds the tokens of a call. D25. */
export function boundInputOf({ request, limits, defaultTokensMax = null }: BoundJob): TextBoundInput {
  const { dialect, size, choices, dearMember, compactionPath } = request
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
    compactionPath,
  }
}

type BoundJob = Pick<InferenceJob, 'limits' | 'defaultTokensMax'> & {
  readonly request: Pick<TextInput, 'dialect' | 'size' | 'choices' | 'dearMember' | 'compactionPath'>
}

/** The attempt of a call. */
interface AskedOf {
  readonly model: CallableModel
  readonly target: { readonly endpoint: Endpoint }
  /** Milliseconds of the clock. */
  readonly startedAt: number
}

/**
 * What the usage of an attempt is estimated from, besides what was delivered.
 * @param now of the same clock
 */
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
    seconds: (now - startedAt) / 1_000,
    isTeaching: isPlainPrompt(size),
  }
}

/** Whether the model reasons in a call; null: the catalogue does not say. */
function reasonsAt({ reasons }: CallableModel, { asksReasoning }: TextInput): boolean | null {
  if (reasons === 'never') return false
  if (asksReasoning !== null) return asksReasoning
  return reasons === undefined ? null : reasons === 'usually'
}

interface ConversedBy {
  readonly caller: Pick<Caller, 'key'>
  /** The caller's own name of the conversation, in a header or as `session_id`; null: the call has none. */
  readonly session: string | null
}

/** A call as preferences see it. */
export class RoutedText implements RoutedCall {
  readonly taking: RoutedCall['taking']
  readonly #request: TextRequest
  readonly #by: ConversedBy

  constructor(request: TextRequest, by: ConversedBy, taking?: RoutedCall['taking']) {
    this.taking = taking
    this.#request = request
    this.#by = by
  }

  /**
   * The session, else the name in the body, else the texts that the conversation begins with. Names are those
   * of one key: two callers who chose the same one share no conversation. D4.
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
    const price = textPriceOf(endpoint)
    if (price === null) return Infinity
    const { promptBytesMost, tokensMax } = this.#request.size
    const input = Math.ceil(promptBytesMost / BYTES_PER_TOKEN)
    const output = Math.min(tokensMax ?? OUTPUT_TOKENS_USUAL, OUTPUT_TOKENS_USUAL) * this.#request.choices
    return textCostNano({ input, cacheRead: 0, cacheWrite: 0, output, reasoning: 0 }, price)
  }

  hasMedia(kind: 'image' | 'audio'): boolean {
    return this.#request.size.media[kind] > 0
  }
}
