/** Messages: inputs whole or in fragments, signatures in the begin of a block, pings, ends left out. */
import { eventsIn, type Members } from '../../../../support/inference/accumulated.ts'
import { streamOfParts, wholeOfParts } from '../../../../support/inference/written-answers.ts'
import { streamOf, type Chance, type Provider } from './provider-answer.ts'
import type { WrittenPart } from '../../../../../src/dialects/parts.ts'

const PING: Members = { type: 'ping' }

export const messagesProvider: Provider = (made, chance) => {
  const parts = made.map(plain)
  const events = eventsIn(streamOfParts('messages', parts))
  const whole = wholeOfParts('messages', parts)
  const blocks = blocksOf(events).flatMap((block) => reported(block, chance))
  const [head, end] = [events.slice(0, 1), events.slice(-2)]
  const all = [...head, ...blocks, ...end]
  const stream = streamOf(all.flatMap((event) => (chance.once(6) ? [event, PING] : [event])))
  return { stream, whole, isInOrder: true }
}

/** Anthropic writes refusals as texts, and no summaries. */
function plain(part: WrittenPart): WrittenPart {
  if (part.kind === 'refusal') return { ...part, kind: 'text' }
  return part.kind === 'reasoning' ? { kind: 'reasoning', choice: 0, text: part.text } : part
}

function blocksOf(events: readonly Members[]): readonly (readonly Members[])[] {
  const blocks: Members[][] = []
  for (const event of events) {
    const { index } = event
    if (typeof index === 'number') (blocks[index] ??= []).push(event)
  }
  return blocks
}

interface Delta {
  readonly partial_json?: string
  readonly thinking?: string
  readonly signature?: string
}

function reported(events: readonly Members[], chance: Chance): readonly Members[] {
  const [begin = {}] = events
  const end = events.slice(-1).filter(() => !chance.once(4))
  const deltas = events.slice(1, -1)
  const block = begin['content_block'] as Members
  const { index } = begin
  if (block['type'] === 'thinking') return [...thought(begin, deltas, chance), ...end]
  if (block['type'] !== 'tool_use') return [begin, ...deltas, ...end]
  const json = deltas.map(({ delta }) => (delta as Delta).partial_json ?? '').join('')
  if (chance.once(3)) {
    const input: unknown = JSON.parse(json === '' ? '{}' : json)
    return [{ ...begin, content_block: { ...block, input } }, ...end]
  }
  const pieces = chance.pieces(json).map((partial_json) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json },
  }))
  return [begin, ...pieces, ...end]
}

/** A block that is a signature alone may have it from the begin. */
function thought(begin: Members, deltas: readonly Members[], chance: Chance): readonly Members[] {
  const [only] = deltas
  const { signature } = (only?.['delta'] ?? {}) as Delta
  if (deltas.length !== 1 || signature === undefined || !chance.once(2)) return [begin, ...deltas]
  return [{ ...begin, content_block: { ...(begin['content_block'] as Members), signature } }]
}
