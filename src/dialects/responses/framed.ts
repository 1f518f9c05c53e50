import { isObject, type Members } from '../../schemas/values/members.ts'
import type { MadeEvent } from '../native-events.ts'

const FINAL: ReadonlySet<unknown> = new Set(['completed', 'incomplete', 'failed'])

/** The events of a response: each item with its text in one piece. Null: the response has no list of items. */
export function responseEvents(response: Members): readonly MadeEvent[] | null {
  const { output, status } = response
  if (!Array.isArray(output) || !output.every(isObject)) return null
  const begun = { ...response, status: 'in_progress', output: [], usage: null, completed_at: null }
  const end = FINAL.has(status) ? String(status) : 'completed'
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap(itemEvents),
    { type: `response.${end}`, response },
  ]
  return events.map(({ type, ...members }, sequence_number) => ({
    name: type,
    data: { type, sequence_number, ...members },
  }))
}

interface ItemEvent extends Members {
  readonly type: string
}

function itemEvents(item: Members, output_index: number): readonly ItemEvent[] {
  const id = typeof item['id'] === 'string' ? item['id'] : `item_${output_index}`
  const at = { item_id: id, output_index }
  const { begun, events } = within(item, at)
  return [
    { type: 'response.output_item.added', output_index, item: begun },
    ...events,
    { type: 'response.output_item.done', output_index, item },
  ]
}

interface Within {
  /** The item as in the event that begins it. */
  readonly begun: Members
  /** Until it ends. */
  readonly events: readonly ItemEvent[]
}

function within(item: Members, at: Members): Within {
  const { type, content, summary } = item
  const status = 'status' in item ? { status: 'in_progress' } : null
  switch (type) {
    case 'message':
      return {
        begun: { ...item, ...status, content: [] },
        events: partsOf(content).flatMap((part, content_index) => partEvents(part, { ...at, content_index })),
      }
    case 'reasoning':
      return {
        begun: { ...item, ...status, summary: [], ...(Array.isArray(content) && { content: [] }) },
        events: [
          ...partsOf(summary).flatMap((part, index) => summaryEvents(part, { ...at, summary_index: index })),
          ...partsOf(content).flatMap((part, index) => thoughtEvents(part, { ...at, content_index: index })),
        ],
      }
    case 'function_call':
      return fragments(item, { ...at }, 'arguments', 'function_call_arguments')
    case 'custom_tool_call':
      return fragments(item, { ...at }, 'input', 'custom_tool_call_input')
    default:
      return { begun: { ...item, ...status }, events: [] }
  }
}

function partsOf(list: unknown): readonly Members[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}

function fragments(item: Members, at: Members, name: 'arguments' | 'input', event: string): Within {
  const text = item[name]
  const status = 'status' in item ? { status: 'in_progress' } : null
  if (typeof text !== 'string') return { begun: { ...item, ...status }, events: [] }
  return {
    begun: { ...item, ...status, [name]: '' },
    events: [
      ...(text === '' ? [] : [{ type: `response.${event}.delta`, ...at, delta: text }]),
      { type: `response.${event}.done`, ...at, [name]: text },
    ],
  }
}

function partEvents(part: Members, at: Members): readonly ItemEvent[] {
  const { type, text, refusal } = part
  const isRefusal = type === 'refusal'
  const [name, value] = isRefusal ? (['refusal', refusal] as const) : (['text', text] as const)
  const added = typeof value === 'string' ? { ...part, [name]: '' } : part
  const event = isRefusal ? 'response.refusal' : 'response.output_text'
  const more = isRefusal ? null : { logprobs: [] }
  return [
    { type: 'response.content_part.added', ...at, part: added },
    ...textEvents(event, { ...at, ...more }, name, value),
    { type: 'response.content_part.done', ...at, part },
  ]
}

function summaryEvents(part: Members, at: Members): readonly ItemEvent[] {
  const { text } = part
  const added = typeof text === 'string' ? { ...part, text: '' } : part
  return [
    { type: 'response.reasoning_summary_part.added', ...at, part: added },
    ...textEvents('response.reasoning_summary_text', at, 'text', text),
    { type: 'response.reasoning_summary_part.done', ...at, part },
  ]
}

function thoughtEvents({ text }: Members, at: Members): readonly ItemEvent[] {
  return textEvents('response.reasoning_text', at, 'text', text)
}

function textEvents(event: string, at: Members, name: string, value: unknown): readonly ItemEvent[] {
  if (typeof value !== 'string') return []
  return [
    ...(value === '' ? [] : [{ type: `${event}.delta`, ...at, delta: value }]),
    { type: `${event}.done`, ...at, [name]: value },
  ]
}
