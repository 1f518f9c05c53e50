import { parsedArguments } from '../../../schemas/inference/forms/call-arguments.ts'
import { carriedSignature, SIGNATURE_FORMATS, UNSIGNED } from '../../../dialects/signatures.ts'
import type { FinishReason, WrittenPart } from '../../../dialects/parts.ts'

/** An event of a streamed message. */
export type MessageEvent = Readonly<Record<string, unknown>> & { readonly type: string }

/** A block that is being written, or is whole. */
interface Block {
  readonly kind: 'text' | 'reasoning' | 'redacted' | 'tool'
  /** Members of its begin beside those of its content. */
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
  /** Kind of the block. */
  readonly of: Block['kind']
  /** What stands between the index and the text. */
  readonly before: string
}

/** A refusal also ends the message otherwise. */
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
 * What a model writes, as the blocks of a message and the events that tell of them. One block is written after
 * the other. A signature that is not Anthropic's travels in a carrier; that of a call in a block of its own
 * behind the call. The mapping table of part D.
 */
export class MessageBlocks {
  end: MessageEnd = { stop_reason: 'end_turn', stop_sequence: null }
  readonly #blocks: Block[] = []
  /** Blocks are kept: the answer is wanted whole. */
  readonly #isWhole: boolean
  #open: Block | null = null
  /** Blocks so far, with the open one. */
  #count = 0
  #hasRefusal = false

  constructor(form: 'events' | 'whole') {
    this.#isWhole = form === 'whole'
  }

  /** The blocks of a whole answer. */
  get content(): readonly object[] {
    return this.#blocks.map(wholeOf)
  }

  /**
   * The event of a part that only goes on with the open block, as most do; null: the part does more. It equals
   * that of `add`, without the objects in between.
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
        return [...this.#within('text'), this.#said('text_delta', 'text', part.text)]
      case 'refusal':
        this.#hasRefusal = true
        return [...this.#within('text'), this.#said('text_delta', 'text', part.text)]
      case 'reasoning':
        return [...this.#within('reasoning'), this.#said('thinking_delta', 'thinking', part.text)]
      case 'signature':
        return this.#signed(part)
      case 'tool':
        return this.#begin('tool', { id: part.id, name: part.name })
      case 'arguments':
        return this.#open?.kind === 'tool' ? [this.#said('input_json_delta', 'partial_json', part.text)] : []
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
  #said(type: string, member: string, text: string): MessageEvent {
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
      // Arguments that a maximum of tokens cut are no JSON.
      return { type: 'tool_use', ...named, input: parsedArguments(text) ?? {} }
    default:
      return kind satisfies never
  }
}
