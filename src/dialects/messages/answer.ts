import { statusOf, textOf, type Failure } from '../../schemas/failures.ts'
import { messageError } from '../../schemas/inference/message-errors.ts'
import type { TextRequest } from '../../schemas/inference/text-request.ts'
import type { ShownUsage, TokenUsage, WrittenPart, FinishReason } from '../parts.ts'
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
import { carriedSignature, SIGNATURE_FORMATS, UNSIGNED } from '../prompt/signatures.ts'
import { parsedArguments } from '../prompt/calls.ts'
import { outputTokens, usdOfNano } from '../../schemas/money/costs.ts'
import { shownTier, USUAL_TIER } from '../../schemas/models/price-conditions.ts'

/**
 * Usage in the form of the Messages dialect: the input excludes cached tokens, the output includes reasoning.
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

/** Anthropic has a different name for the default tier. */
function tierIn({ tier }: Pick<ShownUsage, 'tier'>): object | null {
  return tier === undefined ? null : { service_tier: tier === USUAL_TIER ? 'standard' : tier }
}

/** The tokens of each kind of cache write, and of thinking; null when there are none. */
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

/** The server-sent events of an answer of messages. */
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

  /** Clients accept a ping only after the start of the message. */
  get silence(): Uint8Array {
    return this.#hasBegun ? PING : SILENCE
  }

  begin({ model }: Author): void {
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

/** @param head has the id of the call; the message's id has another prefix */
function messageBegin({ id, model }: Pick<TextHead, 'id' | 'model'>): object {
  return { id: id.replace(/^gen_/, 'msg_'), type: 'message', role: 'assistant', model }
}

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

/** An event of a streamed message. */
export type MessageEvent = Readonly<Record<string, unknown>> & { readonly type: string }

/** A block that is being written, or is whole. */
interface Block {
  readonly kind: 'text' | 'reasoning' | 'redacted' | 'tool'
  /** Members of its start event, other than those of its content. */
  readonly named: Readonly<Record<string, string>>
  text: string
  signature: string
}

/** The end of a message, in Anthropic's words. */
export interface MessageEnd {
  readonly stop_reason: string
  readonly stop_sequence: string | null
}

const BEFORE_INDEX = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":'

interface GoingOn {
  readonly of: Block['kind']
  /** JSON between the index and the text. */
  readonly before: string
}

/** A null means that the part does more than add text: a refusal also changes how the message ends. */
const GOING_ON: Readonly<Record<'text' | 'refusal' | 'reasoning' | 'arguments', GoingOn | null>> = {
  text: { of: 'text', before: ',"delta":{"type":"text_delta","text":' },
  refusal: null,
  reasoning: { of: 'reasoning', before: ',"delta":{"type":"thinking_delta","thinking":' },
  arguments: { of: 'tool', before: ',"delta":{"type":"input_json_delta","partial_json":' },
}

const THINKING = { format: SIGNATURE_FORMATS.messages }

const REDACTED = { ...THINKING, of: 'redacted' } as const

/** Why a message ended, in Anthropic's words. */
const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
}

/**
 * The output of a model as message blocks and their events. Blocks are written one after the other. A
 * signature of another provider is wrapped in a carrier; a call's signature is a separate block after the
 * call. Source: the mapping table of part D.
 */
export class MessageBlocks {
  end: MessageEnd = { stop_reason: 'end_turn', stop_sequence: null }
  readonly #blocks: Block[] = []
  /** Blocks are kept, since the caller wants a whole answer. */
  readonly #isWhole: boolean
  #open: Block | null = null
  /** Number of blocks so far, including the open one. */
  #count = 0
  #hasRefusal = false

  constructor(form: 'events' | 'whole') {
    this.#isWhole = form === 'whole'
  }

  get content(): readonly object[] {
    return this.#blocks.map(wholeOf)
  }

  /**
   * The event of a part that only continues the open block, as most parts do; null: the part does more. The
   * result is that of `add`, made without intermediate objects.
   */
  goingOn(part: WrittenPart): string | null {
    const open = this.#open
    if (open === null || this.#isWhole || !('text' in part)) return null
    const delta = GOING_ON[part.kind]
    if (delta === null || delta.of !== open.kind) return null
    return `${BEFORE_INDEX}${this.#count - 1}${delta.before}${JSON.stringify(part.text)}}}\n\n`
  }

  add(part: WrittenPart): readonly MessageEvent[] {
    switch (part.kind) {
      case 'text':
        return [...this.#within('text'), this.#textDelta('text_delta', 'text', part.text)]
      case 'refusal':
        this.#hasRefusal = true
        return [...this.#within('text'), this.#textDelta('text_delta', 'text', part.text)]
      case 'reasoning':
        return [...this.#within('reasoning'), this.#textDelta('thinking_delta', 'thinking', part.text)]
      case 'signature':
        return this.#signed(part)
      case 'tool':
        return this.#begin('tool', { id: part.id, name: part.name })
      case 'arguments':
        return this.#open?.kind === 'tool'
          ? [this.#textDelta('input_json_delta', 'partial_json', part.text)]
          : []
      case 'finish':
        this.end = endOf(part, this.#hasRefusal)
        return this.#close()
      default:
        return part satisfies never
    }
  }

  #signed(part: Extract<WrittenPart, { kind: 'signature' }>): readonly MessageEvent[] {
    if (part.of === 'redacted') {
      const data = carriedSignature(part, REDACTED)
      return [...this.#begin('redacted', { data }), ...this.#close()]
    }
    const begun = part.of === 'call' ? this.#begin('reasoning', {}) : this.#within('reasoning')
    const signature = carriedSignature(part, THINKING)
    if (this.#open !== null) this.#open.signature = signature
    return [...begun, this.#delta({ type: 'signature_delta', signature }), ...this.#close()]
  }

  /** Opens a block, unless a block of this kind is open. */
  #within(kind: Block['kind']): readonly MessageEvent[] {
    return this.#open?.kind === kind ? [] : this.#begin(kind, {})
  }

  #begin(kind: Block['kind'], named: Block['named']): readonly MessageEvent[] {
    const closed = this.#close()
    const block: Block = { kind, named, text: '', signature: '' }
    this.#open = block
    if (this.#isWhole) this.#blocks.push(block)
    const begun = { type: 'content_block_start', index: this.#count++, content_block: wholeOf(block) }
    return [...closed, begun]
  }

  /** @param member of the delta that has the text */
  #textDelta(type: string, member: string, text: string): MessageEvent {
    if (this.#isWhole && this.#open !== null) this.#open.text += text
    return this.#delta({ type, [member]: text })
  }

  #delta(delta: object): MessageEvent {
    return { type: 'content_block_delta', index: this.#count - 1, delta }
  }

  #close(): readonly MessageEvent[] {
    const open = this.#open
    if (open === null) return []
    this.#open = null
    const end = { type: 'content_block_stop', index: this.#count - 1 }
    if (open.kind !== 'reasoning' || open.signature !== '') return [end]
    open.signature = UNSIGNED
    return [this.#delta({ type: 'signature_delta', signature: UNSIGNED }), end]
  }
}

function endOf(
  { reason, stopSequence }: Extract<WrittenPart, { kind: 'finish' }>,
  hasRefusal: boolean,
): MessageEnd {
  if (reason === 'stop' && hasRefusal) return { stop_reason: 'refusal', stop_sequence: null }
  if (reason === 'stop' && stopSequence !== null)
    return { stop_reason: 'stop_sequence', stop_sequence: stopSequence }
  return { stop_reason: STOP_REASONS[reason], stop_sequence: null }
}

function wholeOf({ kind, named, text, signature }: Block): object {
  switch (kind) {
    case 'text':
      return { type: 'text', text }
    case 'reasoning':
      return { type: 'thinking', thinking: text, signature }
    case 'redacted':
      return { type: 'redacted_thinking', ...named }
    case 'tool':
      // Arguments that were cut off at the token maximum are not valid JSON.
      return { type: 'tool_use', ...named, input: parsedArguments(text) ?? {} }
    default:
      return kind satisfies never
  }
}
