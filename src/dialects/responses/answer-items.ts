import { carriedSignature, UNSIGNED } from '../prompt/signatures.ts'
import type { CalledTool, WrittenPart } from '../parts.ts'

/** An event of a streamed response, without its number. */
export type ResponseEvent = Readonly<Record<string, unknown>> & { readonly type: string }
type Item = Record<string, unknown>
/** The text of an item. */
type ItemText = string | PreparedJson
export type IncompleteReason = 'max_output_tokens' | 'content_filter'

interface OpenItem {
  readonly kind: 'text' | 'refusal' | 'reasoning' | 'tool' | 'freeform'
  readonly id: string
  readonly index: number
  /** Members at the beginning of its events, except the events of the item itself. */
  readonly at: Readonly<Record<string, unknown>>
  /** `at` as JSON, without braces. */
  readonly atJson: string
  /** Null: not a call. */
  readonly tool: CalledTool | null
  /** Its part has begun. */
  hasPart: boolean
  text: string
  /** Encrypted reasoning that the provider needs back; null: the provider sent none, or the caller did not request it. */
  encrypted: string | null
}

/** A text event without its number, which is not known here. */
export interface GoingOn {
  readonly type: string
  /** JSON after the type and the number, without braces. */
  readonly members: string
}

export interface ResponseItemsOptions {
  /** Of `resp_…`. */
  readonly tail: string
  /** The caller wants signatures. */
  readonly isEncryptedAsked: boolean
  /** Called with the whole text of an item. */
  readonly textOf: (text: string) => ItemText
}

/**
 * The output of a model as response items and their events. Items are written one after the other: reasoning,
 * tool calls, a message. A signature is written in a carrier, and a call's signature in a reasoning item
 * after the call.
 */
export class ResponseItems {
  /** Items that are whole. */
  readonly items: Item[] = []
  /** Null: the answer is complete. */
  incomplete: IncompleteReason | null = null
  /** The part of the id after `resp_`, which the ids of the items repeat. */
  readonly #tail: string
  readonly #isEncryptedAsked: boolean
  readonly #textOf: (text: string) => ItemText
  #open: OpenItem | null = null

  constructor({ tail, isEncryptedAsked, textOf }: ResponseItemsOptions) {
    this.#tail = tail
    this.#isEncryptedAsked = isEncryptedAsked
    this.#textOf = textOf
  }

  /**
   * The event of a part that only continues the open item, as most parts do; null: the part does more. The
   * result is that of `add`, made without intermediate objects.
   */
  goingOn(part: WrittenPart): GoingOn | null {
    const open = this.#open
    if (open?.hasPart !== true || !('text' in part)) return null
    const isOfOpen = part.kind === 'arguments' ? open.tool !== null : part.kind === open.kind
    if (!isOfOpen) return null
    open.text += part.text
    const after = open.kind === 'text' ? ',"logprobs":[]' : ''
    return {
      type: `response.${WORDS[open.kind]}.delta`,
      members: `${open.atJson},"delta":${JSON.stringify(part.text)}${after}`,
    }
  }

  /** Adds a part; a response has only one choice. */
  add(part: WrittenPart): readonly ResponseEvent[] {
    switch (part.kind) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        return [...this.#within(part.kind), ...this.#addText(part.text)]
      case 'signature':
        return this.#signed(part)
      case 'tool':
        return this.#next(part.isFreeform === true ? 'freeform' : 'tool', part)
      case 'arguments':
        return (this.#open?.tool ?? null) === null ? [] : this.#addText(part.text)
      case 'finish':
        this.incomplete = INCOMPLETE[part.reason] ?? null
        return this.#close(this.incomplete === null ? 'completed' : 'incomplete')
      default:
        return part satisfies never
    }
  }

  #signed(part: Extract<WrittenPart, { kind: 'signature' }>): readonly ResponseEvent[] {
    const isShown = part.of === 'reasoning'
    if (!this.#isEncryptedAsked)
      return isShown && this.#open?.kind === 'reasoning' ? this.#close('completed') : []
    const begun = isShown ? this.#within('reasoning') : this.#next('reasoning', null)
    if (this.#open !== null) this.#open.encrypted = carriedSignature(part, ENCRYPTED)
    return [...begun, ...this.#close('completed')]
  }

  /** Begins an item, unless one of this kind is open. */
  #within(kind: OpenItem['kind']): readonly ResponseEvent[] {
    return this.#open?.kind === kind ? [] : this.#next(kind, null)
  }

  #next(kind: OpenItem['kind'], tool: OpenItem['tool']): readonly ResponseEvent[] {
    const closed = this.#close('completed')
    const index = this.items.length
    const id = `${PREFIXES[kind]}_${this.#tail}${index === 0 ? '' : `_${index}`}`
    const part = kind === 'reasoning' ? { summary_index: 0 } : { content_index: 0 }
    const inner = tool === null ? part : {}
    const at = { item_id: id, output_index: index, ...inner }
    const open: OpenItem = {
      kind,
      id,
      index,
      at,
      atJson: JSON.stringify(at).slice(1, -1),
      tool,
      hasPart: false,
      text: '',
      encrypted: null,
    }
    this.#open = open
    const item = itemOf(open, '', 'in_progress')
    return [...closed, { type: 'response.output_item.added', output_index: index, item }]
  }

  #addText(text: string): readonly ResponseEvent[] {
    const open = this.#open
    if (open === null) return []
    const begun = open.hasPart ? [] : partEvent(open, '', 'added')
    open.hasPart = true
    open.text += text
    const logprobs = open.kind === 'text' ? { logprobs: [] } : {}
    return [...begun, { type: `response.${WORDS[open.kind]}.delta`, ...open.at, delta: text, ...logprobs }]
  }

  #close(status: 'completed' | 'incomplete'): readonly ResponseEvent[] {
    const open = this.#open
    if (open === null) return []
    this.#open = null
    if (open.kind === 'reasoning' && this.#isEncryptedAsked) open.encrypted ??= UNSIGNED
    const text = this.#textOf(open.text)
    const item = itemOf(open, text, status)
    this.items.push(item)
    const done = { type: 'response.output_item.done', output_index: open.index, item }
    // Reasoning with only a signature has no part. A tool call always has its arguments.
    if (!open.hasPart && open.tool === null) return [done]
    return [
      { type: `response.${WORDS[open.kind]}.done`, ...open.at, ...wholeOf(open, text) },
      ...partEvent(open, text, 'done'),
      done,
    ]
  }
}

/**
 * The place `encrypted_content`. OpenAI's own signature is also put into a carrier: it is bound to the id of
 * its item, and the items here have ids made by Sluice.
 */
const ENCRYPTED = { format: '' }

const INCOMPLETE: Readonly<Partial<Record<string, IncompleteReason>>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

const PREFIXES = { text: 'msg', refusal: 'msg', reasoning: 'rs', tool: 'fc', freeform: 'ctc' } as const

const WORDS = {
  text: 'output_text',
  refusal: 'refusal',
  reasoning: 'reasoning_summary_text',
  tool: 'function_call_arguments',
  freeform: 'custom_tool_call_input',
} as const

function wholeOf({ kind, tool }: OpenItem, text: ItemText): object {
  switch (kind) {
    case 'tool':
      return { name: tool?.name, arguments: text }
    case 'freeform':
      return { input: text }
    case 'text':
      return { text, logprobs: [] }
    case 'refusal':
      return { refusal: text }
    case 'reasoning':
      return { text }
    default:
      return kind satisfies never
  }
}

function partOf({ kind }: OpenItem, text: ItemText): object {
  if (kind === 'text') return { type: 'output_text', text, annotations: [], logprobs: [] }
  return kind === 'refusal' ? { type: 'refusal', refusal: text } : { type: 'summary_text', text }
}

function partEvent(open: OpenItem, text: ItemText, what: 'added' | 'done'): readonly ResponseEvent[] {
  if (open.tool !== null) return []
  const name = open.kind === 'reasoning' ? 'reasoning_summary_part' : 'content_part'
  return [{ type: `response.${name}.${what}`, ...open.at, part: partOf(open, text) }]
}

function itemOf(open: OpenItem, text: ItemText, status: string): Item {
  const { kind, id, tool, encrypted } = open
  if (tool !== null) return { id, ...callOf(tool, text, status) }
  const parts = open.hasPart ? [partOf(open, text)] : []
  if (kind === 'reasoning')
    return {
      id,
      type: 'reasoning',
      summary: parts,
      ...(encrypted === null ? null : { encrypted_content: encrypted }),
    }
  return { id, type: 'message', role: 'assistant', status, content: parts }
}

function callOf({ id, name, namespace, isFreeform }: CalledTool, text: ItemText, status: string): object {
  const called = { status, call_id: id, name, ...(namespace !== undefined && { namespace }) }
  return isFreeform === true
    ? { type: 'custom_tool_call', ...called, input: text }
    : { type: 'function_call', ...called, arguments: text }
}

/** JSON of a text that occurs in several places, serialized once, since a long text takes milliseconds. */
export class PreparedJson {
  readonly bytes: Uint8Array

  constructor(value: string) {
    this.bytes = Buffer.from(JSON.stringify(value))
  }
}

export class JsonWriter {
  readonly #written: Uint8Array[] = []
  /** Text that follows the part already written. */
  #text = ''

  add(text: string): this {
    this.#text += text
    return this
  }

  /** Adds plain data as `JSON.stringify` writes it; prepared texts are copied. */
  value(value: unknown): this {
    if (value instanceof PreparedJson) return this.#bytes(value.bytes)
    if (Array.isArray(value)) return this.#list(value)
    return typeof value === 'object' && value !== null
      ? this.#members(Object.entries(value))
      : this.add(JSON.stringify(value))
  }

  whole(): Uint8Array {
    return Buffer.concat([...this.#written, Buffer.from(this.#text)])
  }

  #bytes(bytes: Uint8Array): this {
    this.#written.push(Buffer.from(this.#text), bytes)
    this.#text = ''
    return this
  }

  #list(values: readonly unknown[]): this {
    this.add('[')
    for (const [at, value] of values.entries()) this.add(at === 0 ? '' : ',').value(value)
    return this.add(']')
  }

  #members(members: readonly (readonly [string, unknown])[]): this {
    let before = '{'
    for (const [name, value] of members) {
      if (value === undefined) continue
      this.add(`${before}${JSON.stringify(name)}:`).value(value)
      before = ','
    }
    return this.add(before === '{' ? '{}' : '}')
  }
}
