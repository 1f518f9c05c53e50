import { statusOf, textOf, type Failure } from '../../schemas/failures.ts'
import type { ChatUsage } from '../../schemas/inference/chat.ts'
import type { TextRequest } from '../../schemas/inference/text-request.ts'
import { inputTokens, NO_MEDIA, outputTokens } from '../../schemas/money/text-costs.ts'
import { shownTier } from '../../schemas/money/tiers.ts'
import { usdOfNano } from '../../schemas/money/usd.ts'
import type { AnsweredBy } from '../../server/ports/inference/inference.ts'
import type { Static } from 'typebox'
import { CallFragments, wholeCall } from '../../server/operations/inference/chat-calls.ts'
import {
  addDetail,
  ReasoningDetails,
  type ReasoningDetail,
} from '../../server/operations/inference/reasoning-details.ts'
import type { CalledTool, ShownUsage, WrittenPart } from '../parts.ts'
import { serverToolUse } from '../usage.ts'
import {
  SILENCE,
  type FailureFacts,
  type PaidUsage,
  type TextEvents,
  type Author,
  type TextHead,
  type WholeText,
} from '../answers.ts'

type Usage = Static<typeof ChatUsage>
type MediaTokens = Pick<Usage['prompt_tokens_details'], 'audio_tokens' | 'image_tokens'>

/**
 * Usage in the form of chat, which counts cached tokens in the prompt and reasoning in the completion. D24.
 * @param nano the charged part of its cost
 */
export function chatUsage({ usage, isByok, isEstimated, reported }: PaidUsage, nano: number): ShownUsage {
  const [prompt, completion] = [inputTokens(usage), outputTokens(usage)]
  const { audio, audioRead, image, audioOutput } = usage.media ?? NO_MEDIA
  const shown: Usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite,
      ...mediaTokens(audio + audioRead, image),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      ...mediaTokens(audioOutput, 0),
    },
    cost: usdOfNano(nano),
    cost_details: {
      upstream_inference_cost: null,
      upstream_inference_prompt_cost: 0,
      upstream_inference_completions_cost: 0,
    },
    is_byok: isByok,
    ...(isEstimated ? { is_estimated: true } : null),
    ...serverToolUse(usage),
  }
  return { whole: JSON.stringify(shown), added: null, ...shownTier(reported) }
}

const NO_MEDIA_TOKENS: MediaTokens = {}

/** Counts of kinds of which there are none are left out. */
function mediaTokens(audio: number, image: number): MediaTokens {
  if (audio === 0 && image === 0) return NO_MEDIA_TOKENS
  return { ...(audio > 0 && { audio_tokens: audio }), ...(image > 0 && { image_tokens: image }) }
}

const DONE = 'data: [DONE]\n\n'

/** The server-sent events of an answer of chat. D13. */
export class ChatEvents implements TextEvents {
  readonly silence = SILENCE
  readonly #head: TextHead
  /** The caller asked for the usage in OpenAI's form, an event without choices. D7. */
  readonly #isUsageAlone: boolean
  /** Begins every event. */
  #prefix: string
  /** Choices whose role was told. */
  readonly #begun = new Map<number, BegunChoice>()
  /** Events of a provider that speaks chat have what it reports. */
  #isPassed = false

  constructor(head: TextHead, { isUsageAlone }: Pick<TextRequest, 'isUsageAlone'>) {
    this.#head = head
    this.#prefix = prefixOf(head, null)
    this.#isUsageAlone = isUsageAlone
  }

  begin({ provider, model, createdS = this.#head.createdS }: AnsweredBy): void {
    this.#prefix = prefixOf({ model, createdS, id: this.#head.id }, provider)
  }

  eventsOf(parts: readonly WrittenPart[]): Uint8Array {
    return Buffer.from(parts.map((part) => this.#textOf(part)).join(''))
  }

  passed(): void {
    this.#isPassed = true
  }

  lastOf({ whole, tier }: ShownUsage): Uint8Array {
    const choices = this.#isUsageAlone ? '[]' : `[${choice(0, '{"role":"assistant","content":""}')}]`
    const reported = tier === undefined || this.#isPassed ? '' : `,"service_tier":${JSON.stringify(tier)}`
    return Buffer.from(`${this.#prefix}${choices}${reported},"usage":${whole}}\n\n${DONE}`)
  }

  failureOf(failure: Failure, { statuses, requestId }: FailureFacts): Uint8Array {
    const code = statusOf(failure.name, statuses)
    const metadata = {
      error_type: failure.name,
      provider_name: failure.metadata?.provider_name ?? null,
      request_id: requestId,
    }
    const error = { code, message: textOf(failure), type: failure.name, metadata }
    const choices = '[{"index":0,"delta":{"content":""},"finish_reason":"error"}]'
    return Buffer.from(`${this.#prefix}${choices},"error":${JSON.stringify(error)}}\n\n`)
  }

  #textOf(part: WrittenPart): string {
    const index = part.choice
    const known = this.#begun.get(index)
    if (known !== undefined) return this.#chunk(choiceOf(part, known))
    const begun: BegunChoice = { calls: new CallFragments(), details: new ReasoningDetails() }
    this.#begun.set(index, begun)
    return (
      this.#chunk(choice(index, '{"role":"assistant","content":""}')) + this.#chunk(choiceOf(part, begun))
    )
  }

  #chunk(choices: string): string {
    return `${this.#prefix}[${choices}]}\n\n`
  }
}

/** How far a choice of a streamed answer has come. */
interface BegunChoice {
  readonly calls: CallFragments
  readonly details: ReasoningDetails
}

function choiceOf(part: WrittenPart, begun: BegunChoice): string {
  const { choice: index } = part
  switch (part.kind) {
    case 'text':
      return choice(index, `{"content":${JSON.stringify(part.text)}}`)
    case 'refusal':
      return choice(index, `{"refusal":${JSON.stringify(part.text)}}`)
    case 'reasoning': {
      const { text: reasoning } = part
      return choice(index, JSON.stringify({ reasoning, reasoning_details: [begun.details.text(part)] }))
    }
    case 'signature':
      return choice(index, JSON.stringify({ reasoning_details: [begun.details.signature(part)] }))
    case 'tool':
      begun.details.called(part.id)
      return choice(index, begun.calls.begin(part))
    case 'arguments':
      return choice(index, begun.calls.add(part.text))
    case 'finish': {
      const native = JSON.stringify(part.native)
      return `{"index":${index},"delta":{},"finish_reason":"${part.reason}","native_finish_reason":${native}}`
    }
    default:
      return part satisfies never
  }
}

/** @param provider null: no endpoint has answered */
function prefixOf({ id, createdS: created, model }: TextHead, provider: string | null): string {
  const named = provider === null ? null : { provider }
  const begin = JSON.stringify({ id, object: 'chat.completion.chunk', created, model, ...named })
  return `data: ${begin.slice(0, -1)},"choices":`
}

function choice(index: number, delta: string): string {
  return `{"index":${index},"delta":${delta},"finish_reason":null}`
}

interface Message {
  text: string
  refusal: string
  reasoning: string
  readonly details: ReasoningDetails
  readonly reasoningDetails: ReasoningDetail[]
  readonly tools: { readonly call: CalledTool; text: string }[]
  finish: string
  native: string
}

/** An answer of chat that is sent when it is whole. D14. */
export class WholeChat implements WholeText {
  readonly #head: TextHead
  readonly #choices = new Map<number, Message>()
  #provider = ''
  #model = ''

  constructor(head: TextHead) {
    this.#head = head
  }

  begin({ provider, model }: Author): void {
    this.#provider = provider
    this.#model = model
  }

  add(part: WrittenPart): void {
    const message = this.#messageOf(part.choice)
    switch (part.kind) {
      case 'text':
        message.text += part.text
        return
      case 'refusal':
        message.refusal += part.text
        return
      case 'reasoning':
        message.reasoning += part.text
        addDetail(message.reasoningDetails, message.details.text(part))
        return
      case 'signature':
        addDetail(message.reasoningDetails, message.details.signature(part))
        return
      case 'tool':
        message.details.called(part.id)
        message.tools.push({ call: part, text: '' })
        return
      case 'arguments': {
        const last = message.tools.at(-1)
        if (last !== undefined) last.text += part.text
        return
      }
      case 'finish':
        message.finish = part.reason
        message.native = part.native
        return
      default:
        part satisfies never
    }
  }

  answer({ whole, tier }: ShownUsage): object {
    const { id, createdS: created } = this.#head
    const usage: unknown = JSON.parse(whole)
    const [provider, model] = [this.#provider, this.#model]
    const choices = [...this.#choices].map(([index, message]) => ({
      index,
      finish_reason: message.finish,
      native_finish_reason: message.native,
      message: messageOf(message),
    }))
    const object = 'chat.completion'
    const reported = tier === undefined ? null : { service_tier: tier }
    // Clients that validate want the member, and take null.
    return { id, object, created, model, provider, ...reported, system_fingerprint: null, choices, usage }
  }

  #messageOf(index: number): Message {
    const known = this.#choices.get(index)
    if (known !== undefined) return known
    const made: Message = {
      text: '',
      refusal: '',
      reasoning: '',
      details: new ReasoningDetails(),
      reasoningDetails: [],
      tools: [],
      finish: 'stop',
      native: 'stop',
    }
    this.#choices.set(index, made)
    return made
  }
}

function messageOf({ text, refusal, reasoning, reasoningDetails, tools }: Message): object {
  const calls = tools.map((tool) => wholeCall(tool.call, tool.text))
  return {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    ...(refusal === '' ? null : { refusal }),
    ...(reasoning === '' ? null : { reasoning }),
    ...(reasoningDetails.length === 0 ? null : { reasoning_details: reasoningDetails }),
    ...(calls.length === 0 ? null : { tool_calls: calls }),
  }
}
