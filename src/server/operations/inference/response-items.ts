import type { WrittenPart } from '../../ports/inference/inference.ts'

/** An event of a streamed response, without its number. */
export type ResponseEvent = Readonly<Record<string, unknown>> & { readonly type: string }
type Item = Record<string, unknown>

/** The item that is being written. */
interface OpenItem {
  readonly kind: 'text' | 'reasoning' | 'tool'
  readonly id: string
  readonly index: number
  /** Its events but for the item's own begin with this. */
  readonly at: Readonly<Record<string, unknown>>
  readonly tool: { readonly id: string; readonly name: string } | null
  text: string
}

/**
 * What a model writes, as the items of a response and the events that tell of them. One item is written after
 * the other: reasoning, calls of tools, a message. D5, D35.
 */
export class ResponseItems {
  /** Items that are whole. */
  readonly items: Item[] = []
  /** The answer was cut at its maximum of tokens. */
  isCut = false
  /** Of `resp_…`, which the ids of the items repeat. */
  readonly #tail: string
  #open: OpenItem | null = null

  constructor(tail: string) {
    this.#tail = tail
  }

  /** A response has one choice. */
  add(part: WrittenPart): readonly ResponseEvent[] {
    switch (part.kind) {
      case 'text':
      case 'reasoning': {
        const begun = this.#open?.kind === part.kind ? [] : this.#next(part.kind, null)
        return [...begun, ...this.#said(part.text)]
      }
      case 'tool':
        return this.#next('tool', { id: part.id, name: part.name })
      case 'arguments':
        return this.#said(part.text)
      case 'finish':
        this.isCut = part.reason === 'length'
        return this.#close(this.isCut ? 'incomplete' : 'completed')
      default:
        return part satisfies never
    }
  }

  #next(kind: OpenItem['kind'], tool: OpenItem['tool']): readonly ResponseEvent[] {
    const closed = this.#close('completed')
    const index = this.items.length
    const prefix = kind === 'text' ? 'msg' : kind === 'reasoning' ? 'rs' : 'fc'
    const id = `${prefix}_${this.#tail}${index === 0 ? '' : `_${index}`}`
    const inner = kind === 'text' ? { content_index: 0 } : kind === 'reasoning' ? { summary_index: 0 } : {}
    const open: OpenItem = {
      kind,
      id,
      index,
      at: { item_id: id, output_index: index, ...inner },
      tool,
      text: '',
    }
    this.#open = open
    const item = itemOf(open, 'in_progress')
    const added = { type: 'response.output_item.added', output_index: index, item }
    return [...closed, added, ...partEvent(open, 'added')]
  }

  #said(text: string): readonly ResponseEvent[] {
    const open = this.#open
    if (open === null) return []
    open.text += text
    const logprobs = open.kind === 'text' ? { logprobs: [] } : {}
    return [{ type: `response.${WORDS[open.kind]}.delta`, ...open.at, delta: text, ...logprobs }]
  }

  #close(status: 'completed' | 'incomplete'): readonly ResponseEvent[] {
    const open = this.#open
    if (open === null) return []
    this.#open = null
    const item = itemOf(open, status)
    this.items.push(item)
    return [
      { type: `response.${WORDS[open.kind]}.done`, ...open.at, ...wholeOf(open) },
      ...partEvent(open, 'done'),
      { type: 'response.output_item.done', output_index: open.index, item },
    ]
  }
}

const WORDS = {
  text: 'output_text',
  reasoning: 'reasoning_summary_text',
  tool: 'function_call_arguments',
} as const

function wholeOf({ kind, text, tool }: OpenItem): object {
  if (kind === 'tool') return { name: tool?.name, arguments: text }
  return kind === 'text' ? { text, logprobs: [] } : { text }
}

function partOf({ kind, text }: OpenItem): object {
  return kind === 'text'
    ? { type: 'output_text', text, annotations: [], logprobs: [] }
    : { type: 'summary_text', text }
}

function partEvent(open: OpenItem, what: 'added' | 'done'): readonly ResponseEvent[] {
  if (open.kind === 'tool') return []
  const name = open.kind === 'text' ? 'content_part' : 'reasoning_summary_part'
  return [{ type: `response.${name}.${what}`, ...open.at, part: partOf(open) }]
}

function itemOf(open: OpenItem, status: string): Item {
  const { kind, id, text, tool } = open
  if (kind === 'tool')
    return { id, type: 'function_call', status, call_id: tool?.id, name: tool?.name, arguments: text }
  const parts = status === 'in_progress' ? [] : [partOf(open)]
  if (kind === 'reasoning') return { id, type: 'reasoning', summary: parts }
  return { id, type: 'message', role: 'assistant', status, content: parts }
}
