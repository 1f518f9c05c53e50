/** Events of a stream of chat, and the parts that they give. */
import { ChatParts } from '../../../src/dialects/chat/parts.ts'
import { partsOf, type PartSummary } from './cut-parts.ts'
import { FAILURE_OF, streamOf } from './provider-chunks.ts'
import type { WrittenPart } from '../../../src/dialects/parts.ts'

export const openChatParts = (): ChatParts => new ChatParts(FAILURE_OF)
export const readChatParts = (...events: readonly (object | string)[]): PartSummary =>
  partsOf(openChatParts(), [streamOf(events)])

export const one = (delta: object | null, more: object = {}): object => ({
  id: 'chatcmpl-1',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
})
export const call = (...calls: readonly object[]): object => one({ tool_calls: calls })
export const f = (json: unknown, name?: string): object => ({ name, arguments: json })
export const STOP = one({}, { finish_reason: 'stop' })

export const stated = (kind: 'text' | 'reasoning' | 'refusal' | 'arguments', text: string): WrittenPart => ({
  kind,
  choice: 0,
  text,
})
export const tool = (id: string, name = 'f'): WrittenPart => ({ kind: 'tool', choice: 0, id, name })
export const finish = (reason: string, native: string = reason): object => ({
  kind: 'finish',
  choice: 0,
  reason,
  native,
  stopSequence: null,
})
