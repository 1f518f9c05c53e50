import { statusOf, textOf, type Failure } from '../../../schemas/failures.ts'
import { messageError } from '../../../schemas/inference/message-errors.ts'
import type { TextRequest } from '../../../schemas/inference/text-request.ts'
import { outputTokens } from '../../../schemas/money/text-costs.ts'
import { usdOfNano } from '../../../schemas/money/usd.ts'
import type {
  AnsweredBy,
  FinishReason,
  InferenceEnd,
  ShownUsage,
  WrittenPart,
} from '../../ports/inference/inference.ts'
import { serverToolUse } from './server-tool-use.ts'
import { SILENCE, type FailureFacts, type TextEvents, type TextHead, type WholeText } from './text-replies.ts'

/**
 * Usage in the form of messages, whose input leaves cached tokens out, and whose output has the reasoning.
 * D24.
 * @param nano the charged part of its cost
 */
export function messagesUsage(
  { usage, isByok, isEstimated }: Pick<InferenceEnd, 'usage' | 'isByok' | 'isEstimated'>,
  nano: number,
): ShownUsage {
  const tokens = {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: outputTokens(usage),
    ...serverToolUse(usage),
  }
  const added = { cost: usdOfNano(nano), is_byok: isByok }
  const estimated = isEstimated ? { is_estimated: true } : null
  return {
    whole: JSON.stringify({ ...tokens, ...added, ...estimated }),
    added: isEstimated ? null : JSON.stringify(added).slice(1, -1),
  }
}

const PING = Buffer.from('event: ping\ndata: {"type":"ping"}\n\n')

/** Why a message ended, in Anthropic's words. */
const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
}

/** The server-sent events of an answer of messages. D13. */
export class MessageEvents implements TextEvents {
  #head: TextHead
  readonly #promptWords: number
  /** `message_start` was written. */
  #hasBegun = false
  /** The block that is open, by the kind of its parts; null: none is. */
  #kind: WrittenPart['kind'] | null = null
  /** Blocks so far, with the open one. */
  #blocks = 0
  #stopReason = 'end_turn'

  constructor(head: TextHead, { promptWords }: Pick<TextRequest, 'promptWords'>) {
    this.#head = head
    this.#promptWords = promptWords
  }

  /** Clients take a ping only behind the begin of the message. D16. */
  get silence(): Uint8Array {
    return this.#hasBegun ? PING : SILENCE
  }

  begin({ model }: AnsweredBy): void {
    this.#head = { ...this.#head, model }
  }

  eventsOf(parts: readonly WrittenPart[]): Uint8Array {
    const begin = this.#hasBegun ? '' : this.#begun()
    this.#hasBegun = true
    return Buffer.from(begin + parts.map((part) => this.#textOf(part)).join(''))
  }

  passed(): void {
    this.#hasBegun = true
  }

  lastOf({ whole }: ShownUsage): Uint8Array {
    const delta = { stop_reason: this.#stopReason, stop_sequence: null }
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

  #textOf(part: WrittenPart): string {
    switch (part.kind) {
      case 'text':
        return this.#within('text', { type: 'text', text: '' }) + this.#delta('text_delta', 'text', part.text)
      case 'reasoning': {
        const begin = this.#within('reasoning', { type: 'thinking', thinking: '', signature: '' })
        return begin + this.#delta('thinking_delta', 'thinking', part.text)
      }
      case 'tool':
        return (
          this.#blockEnd() +
          this.#block('tool', { type: 'tool_use', id: part.id, name: part.name, input: {} })
        )
      case 'arguments':
        return this.#delta('input_json_delta', 'partial_json', part.text)
      case 'finish':
        this.#stopReason = STOP_REASONS[part.reason]
        return this.#blockEnd()
      default:
        return part satisfies never
    }
  }

  /** Opens a block, unless a block of this kind is open. */
  #within(kind: WrittenPart['kind'], block: object): string {
    return this.#kind === kind ? '' : this.#blockEnd() + this.#block(kind, block)
  }

  #block(kind: WrittenPart['kind'], content_block: object): string {
    this.#kind = kind
    const type = 'content_block_start'
    return event(type, { type, index: this.#blocks++, content_block })
  }

  #delta(kind: string, member: string, text: string): string {
    const type = 'content_block_delta'
    return event(type, { type, index: this.#blocks - 1, delta: { type: kind, [member]: text } })
  }

  #blockEnd(): string {
    if (this.#kind === null) return ''
    this.#kind = null
    const type = 'content_block_stop'
    return event(type, { type, index: this.#blocks - 1 })
  }
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}

/** @param head id of the call: that of its message has another prefix. C9, D32 */
function messageBegin({ id, model }: Pick<TextHead, 'id' | 'model'>): object {
  return { id: id.replace(/^gen_/, 'msg_'), type: 'message', role: 'assistant', model }
}

/** A block of a message, in pieces. */
interface Block {
  readonly kind: WrittenPart['kind']
  readonly tool: { readonly id: string; readonly name: string } | null
  text: string
}

/** An answer of messages that is sent when it is whole. D14. */
export class WholeMessage implements WholeText {
  #head: TextHead
  readonly #blocks: Block[] = []
  #stopReason = 'end_turn'

  constructor(head: TextHead) {
    this.#head = head
  }

  begin({ model }: AnsweredBy): void {
    this.#head = { ...this.#head, model }
  }

  add(part: WrittenPart): void {
    if (part.kind === 'finish') this.#stopReason = STOP_REASONS[part.reason]
    else if (part.kind === 'tool') this.#blocks.push({ kind: 'tool', tool: part, text: '' })
    else {
      const kind = part.kind === 'arguments' ? 'tool' : part.kind
      const last = this.#blocks.at(-1)
      if (last?.kind === kind) last.text += part.text
      else this.#blocks.push({ kind, tool: null, text: part.text })
    }
  }

  answer({ whole }: ShownUsage): object {
    const usage: unknown = JSON.parse(whole)
    const ending = { stop_reason: this.#stopReason, stop_sequence: null, usage }
    return { ...messageBegin(this.#head), content: this.#blocks.map(blockOf), ...ending }
  }
}

function blockOf({ kind, tool, text }: Block): object {
  if (kind === 'reasoning') return { type: 'thinking', thinking: text, signature: '' }
  if (tool === null) return { type: 'text', text }
  return { type: 'tool_use', id: tool.id, name: tool.name, input: inputOf(text) }
}

/** Arguments that a maximum of tokens cut are no JSON. */
function inputOf(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text) as unknown
  } catch {
    return {}
  }
}
