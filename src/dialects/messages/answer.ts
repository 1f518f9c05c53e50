import { statusOf, textOf, type Failure } from '../../schemas/failures.ts'
import { messageError } from '../../schemas/inference/message-errors.ts'
import type { TextRequest } from '../../schemas/inference/text-request.ts'
import { outputTokens } from '../../schemas/money/text-costs.ts'
import { shownTier, USUAL_TIER } from '../../schemas/money/tiers.ts'
import { usdOfNano } from '../../schemas/money/usd.ts'
import type { AnsweredBy } from '../../server/ports/inference/inference.ts'
import { MessageBlocks } from '../../server/operations/inference/message-blocks.ts'
import type { ShownUsage, TokenUsage, WrittenPart } from '../parts.ts'
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

/**
 * Usage in the form of messages, whose input leaves cached tokens out, and whose output has the reasoning.
 * D24.
 * @param nano the charged part of its cost
 */
export function messagesUsage({ usage, isByok, isEstimated, reported }: PaidUsage, nano: number): ShownUsage {
  const tokens = {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: outputTokens(usage),
    ...sharesOf(usage),
    ...serverToolUse(usage),
    ...tierIn(shownTier(reported)),
  }
  const added = { cost: usdOfNano(nano), is_byok: isByok }
  const estimated = isEstimated ? { is_estimated: true } : null
  return {
    whole: JSON.stringify({ ...tokens, ...added, ...estimated }),
    added: isEstimated ? null : JSON.stringify(added).slice(1, -1),
  }
}

/** Anthropic has a word of its own for the usual tier. */
function tierIn({ tier }: Pick<ShownUsage, 'tier'>): object | null {
  return tier === undefined ? null : { service_tier: tier === USUAL_TIER ? 'standard' : tier }
}

/** The tokens of each kind of cache write, and those of thinking; null where there are none. */
function sharesOf({ cacheWrite, cacheWriteHour = 0, reasoning }: TokenUsage): object | null {
  if (cacheWrite === 0 && reasoning === 0) return null
  const cache_creation = {
    ephemeral_5m_input_tokens: cacheWrite - cacheWriteHour,
    ephemeral_1h_input_tokens: cacheWriteHour,
  }
  return {
    ...(cacheWrite > 0 && { cache_creation }),
    ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
  }
}

const PING = Buffer.from('event: ping\ndata: {"type":"ping"}\n\n')

/** The server-sent events of an answer of messages. D13. */
export class MessageEvents implements TextEvents {
  #head: TextHead
  readonly #promptWords: number
  /** `message_start` was written. */
  #hasBegun = false
  readonly #blocks = new MessageBlocks('events')

  constructor(head: TextHead, { promptWords }: Pick<TextRequest, 'promptWords'>) {
    this.#head = head
    this.#promptWords = promptWords
  }

  /** Clients take a ping only behind the begin of the message. D16. */
  get silence(): Uint8Array {
    return this.#hasBegun ? PING : SILENCE
  }

  begin({ model }: AnsweredBy): void {
    const { id, createdS } = this.#head
    this.#head = { id, createdS, model }
  }

  eventsOf(parts: readonly WrittenPart[]): Uint8Array {
    let text = this.#hasBegun ? '' : this.#begun()
    this.#hasBegun = true
    for (const part of parts) text += this.#blocks.goingOn(part) ?? this.#eventsOf(part)
    return Buffer.from(text)
  }

  passed(): void {
    this.#hasBegun = true
  }

  lastOf({ whole }: ShownUsage): Uint8Array {
    const delta = this.#blocks.end
    const usage: unknown = JSON.parse(whole)
    const type = 'message_delta'
    const stop = event('message_stop', { type: 'message_stop' })
    return Buffer.from(event(type, { type, delta, usage }) + stop)
  }

  failureOf(failure: Failure, { statuses, requestId }: FailureFacts): Uint8Array {
    const metadata = {
      error_type: failure.name,
      provider_name: failure.metadata?.provider_name ?? null,
      request_id: requestId,
    }
    const status = statusOf(failure.name, statuses)
    const error = messageError({ status, message: textOf(failure), metadata, requestId })
    return Buffer.from(event('error', error))
  }

  #eventsOf(part: WrittenPart): string {
    return this.#blocks
      .add(part)
      .map((one) => event(one.type, one))
      .join('')
  }

  #begun(): string {
    const usage = {
      input_tokens: this.#promptWords,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 0,
    }
    const ending = { content: [], stop_reason: null, stop_sequence: null, usage }
    return event('message_start', {
      type: 'message_start',
      message: { ...messageBegin(this.#head), ...ending },
    })
  }
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}

/** @param head id of the call: that of its message has another prefix. C9, D32 */
function messageBegin({ id, model }: Pick<TextHead, 'id' | 'model'>): object {
  return { id: id.replace(/^gen_/, 'msg_'), type: 'message', role: 'assistant', model }
}

/** An answer of messages that is sent when it is whole. D14. */
export class WholeMessage implements WholeText {
  #head: TextHead
  readonly #blocks = new MessageBlocks('whole')

  constructor(head: TextHead) {
    this.#head = head
  }

  begin({ model }: Author): void {
    const { id, createdS } = this.#head
    this.#head = { id, createdS, model }
  }

  add(part: WrittenPart): void {
    this.#blocks.add(part)
  }

  answer({ whole }: ShownUsage): object {
    const usage: unknown = JSON.parse(whole)
    const { content, end } = this.#blocks
    return { ...messageBegin(this.#head), content, ...end, usage }
  }
}
