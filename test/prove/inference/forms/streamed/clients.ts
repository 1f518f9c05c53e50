/** The content of each form's answer, whichever client assembled it. */
import type { Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import type { Members } from '../../../../support/inference/accumulated.ts'
import type { WrittenPart } from '../../../../../src/dialects/parts.ts'

/** A name, and what it was called with: an object, or the text of a freeform tool. */
type StatedCall = readonly [string, unknown]

export interface Stated {
  readonly text: string
  readonly calls: readonly StatedCall[]
}

/** By what a model wrote. Refusals are text to callers of messages alone. */
export function statedBy(parts: readonly WrittenPart[], dialect: Dialect): Stated {
  const texts = dialect === 'messages' ? ['text', 'refusal'] : ['text']
  const calls: { readonly name: string; readonly isFreeform: boolean; json: string }[] = []
  let text = ''
  for (const part of parts) {
    if (part.kind === 'tool') calls.push({ name: part.name, isFreeform: part.isFreeform === true, json: '' })
    const last = calls.at(-1)
    if (part.kind === 'arguments' && last !== undefined) last.json += part.text
    if ((part.kind === 'text' || part.kind === 'refusal') && texts.includes(part.kind)) text += part.text
  }
  return {
    text,
    calls: calls.map(({ name, isFreeform, json }) => [name, isFreeform ? json : objectOf(json)] as const),
  }
}

function objectOf(json: string): unknown {
  return JSON.parse(json === '' ? '{}' : json)
}

const listOf = (value: unknown): readonly Members[] => (Array.isArray(value) ? (value as Members[]) : [])

/** By an answer that a client has put together. */
export const SAIDOnce: Readonly<Record<Dialect, (answer: Members) => Stated>> = {
  chat: ({ content, tool_calls: calls }) => ({
    text: String(content ?? ''),
    calls: listOf(calls).map(({ function: called, custom }) => {
      const { name, input } = (custom ?? {}) as { readonly name?: string; readonly input?: unknown }
      if (name !== undefined) return [name, input] as const
      const answer = called as { readonly name: string; readonly arguments: string }
      return [answer.name, objectOf(answer.arguments)] as const
    }),
  }),
  responses: ({ output }) => ({
    text: listOf(output)
      .flatMap(({ type, content }) => (type === 'message' ? listOf(content) : []))
      .map(({ type, text }) => (type === 'output_text' ? String(text) : ''))
      .join(''),
    calls: listOf(output).flatMap(({ type, name, arguments: json, input }): readonly StatedCall[] => {
      if (type === 'custom_tool_call') return [[String(name), input]]
      return type === 'function_call' ? [[String(name), objectOf(String(json))]] : []
    }),
  }),
  messages: ({ content }) => ({
    text: listOf(content)
      .map(({ type, text }) => (type === 'text' ? String(text) : ''))
      .join(''),
    calls: listOf(content).flatMap(({ type, name, input }): readonly StatedCall[] =>
      type === 'tool_use' ? [[String(name), input]] : [],
    ),
  }),
}

/** Whether all that the whole answer says stands in what a client has put together. */
export function covers(put: unknown, text: unknown): boolean {
  if (Array.isArray(text))
    return Array.isArray(put) && put.length === text.length && text.every((one, at) => covers(put[at], one))
  if (typeof text !== 'object' || text === null) return Object.is(put ?? null, text ?? null)
  if (typeof put !== 'object' || put === null) return false
  return Object.entries(text).every(([name, value]) => covers(Reflect.get(put, name), value))
}
