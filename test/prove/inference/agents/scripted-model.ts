/** A model that writes texts and calls the tools that it is offered, in each protocol. */
import { isObject, membersOf, type Members } from '../../../../src/schemas/values/members.ts'
import { strictGemini } from '../../../support/inference/gemini/fake-gemini.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { streams } from '../../../support/inference/fake-stream.ts'
import { messageEvents } from '../../../support/inference/responses-streams.ts'
import { chunk, DONE, USAGE_CHUNK } from '../scenarios/answers.ts'
import { gives } from '../scenarios/messages-answers.ts'
import { answers, customCall, thought, toolCall } from '../scenarios/responses-answers.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

export interface StatedCall {
  readonly id: string
  readonly name: string
  /** An object, or the text of a tool that takes one. */
  readonly input: Members | string
}

/** What the model wrote in a turn. */
export interface Stated {
  /** Of the answer. */
  readonly id: string
  readonly thought: string
  readonly signature: string
  readonly words: readonly string[]
  readonly calls: readonly StatedCall[]
}

interface OfferedTool {
  readonly name: string
  /** Null: the tool takes a text. */
  readonly schema: Members | null
}

/** What the model writes in this turn: mostly calls, now and then two at once, or words alone. */
export function statedIn(turn: number, protocol: TextProtocol, body: Members): Stated {
  const tools = offeredIn(protocol, body)
  const count = turn % 7 === 6 ? 0 : turn % 5 === 4 ? 2 : 1
  const calls = Array.from({ length: Math.min(count, tools.length) }, (_, nth): StatedCall => {
    const { name, schema } = tools[(turn + nth) % tools.length] ?? { name: '', schema: null }
    const input = schema === null ? `text of ${turn}` : membersOf(sampleOf(schema))
    return { id: `call_${turn}_${nth}`, name, input }
  })
  const hasWords = calls.length === 0 || turn % 2 === 0
  return {
    id: `msg_${turn}`,
    thought: turn % 3 === 1 ? `Thought ${turn}.` : '',
    signature: Buffer.from(`signature of the thought of turn ${turn}`).toString('base64'),
    words: hasWords ? ['Turn', ` ${turn}`, ' is “done”.'] : [],
    calls,
  }
}

/** Writes it as a provider of the protocol streams it. */
export const WRITES: Readonly<Record<TextProtocol, (text: () => Stated) => FakeAnswer>> = {
  chat: (text) => (call, reply) => writesChat(text())(call, reply),
  responses: (text) => (call, reply) => writesResponse(text())(call, reply),
  messages: (text) => (call, reply) => writesMessage(text())(call, reply),
  gemini: (text) =>
    strictGemini(() => {
      const { thought: reported, words, calls } = text()
      const named = calls.map(({ name, input }) => ({ name, args: membersOf(input) }))
      return { words, calls: named, thoughts: reported === '' ? [] : [reported] }
    }),
}

interface ChatDeltas {
  readonly thinks?: (thought: string) => object
  readonly says?: (words: string) => object
}

/** @param deltas members in which a server writes thoughts and words; without them words alone are written */
export function writesChat(
  { thought, words, calls }: Stated,
  { thinks, says = (content) => ({ content }) }: ChatDeltas = {},
): FakeAnswer {
  const called = calls.flatMap(({ id, name, input }, index) => {
    const json = JSON.stringify(input)
    const begin = chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
    const pieces = [json.slice(0, 3), json.slice(3)].filter((piece) => piece !== '')
    return [
      begin,
      ...pieces.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]
  })
  return streams([
    chunk({ role: 'assistant', content: words.length === 0 ? null : '' }),
    ...(thinks === undefined || thought === '' ? [] : [chunk(thinks(thought))]),
    ...words.map((text) => chunk(says(text))),
    ...called,
    chunk({}, calls.length === 0 ? 'stop' : 'tool_calls'),
    USAGE_CHUNK,
    DONE,
  ])
}

function writesMessage({ id, thought: thinking, signature, words, calls }: Stated): FakeAnswer {
  const blocks = [
    ...(thinking === '' ? [] : [{ type: 'thinking', thinking, signature }]),
    ...(words.length === 0 ? [] : [{ type: 'text', text: words.join('') }]),
    ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ]
  return gives(blocks, calls.length === 0 ? 'end_turn' : 'tool_use', id)
}

function writesResponse({ thought: shown, signature, words, calls }: Stated): FakeAnswer {
  const begun = [
    ...(shown === '' ? [] : [() => thought(shown, signature)]),
    ...(words.length === 0 ? [] : [(index: number) => messageEvents(words, index)]),
  ]
  const called = calls.map(
    ({ id, name, input }) =>
      (index: number) =>
        typeof input === 'string'
          ? customCall(index, { id, name, input })
          : toolCall(index, { id, name, argument: input }),
  )
  return answers([...begun, ...called].flatMap((item, index) => item(index)))
}

/** The tools that a request of the protocol offers, of the kinds that the model calls. */
function offeredIn(protocol: TextProtocol, body: Members): readonly OfferedTool[] {
  const tools = (Array.isArray(body['tools']) ? body['tools'] : []).map(membersOf)
  const offered = (name: unknown, schema: unknown): OfferedTool => ({
    name: String(name),
    schema: membersOf(schema),
  })
  switch (protocol) {
    case 'chat':
      return tools
        .map((tool) => membersOf(tool['function']))
        .map((one) => offered(one['name'], one['parameters']))
    case 'messages':
      return tools
        .filter(({ type = 'custom' }) => type === 'custom')
        .map((one) => offered(one['name'], one['input_schema']))
    case 'responses':
      return tools.flatMap(({ type, name, parameters }) => {
        if (type === 'custom') return [{ name: String(name), schema: null }]
        return type === 'function' ? [offered(name, parameters)] : []
      })
    case 'gemini':
      return tools
        .flatMap(({ functionDeclarations: list }) => (Array.isArray(list) ? list.map(membersOf) : []))
        .map((one) => offered(one['name'], one['parametersJsonSchema'] ?? one['parameters']))
  }
}

/** The least value that a schema takes. */
function sampleOf(schema: unknown): unknown {
  if (!isObject(schema)) return 'text'
  const { const: only, enum: values, anyOf, oneOf, type, properties, required, items } = schema
  if (only !== undefined) return only
  if (Array.isArray(values)) return values[0] as unknown
  const some = Array.isArray(anyOf) ? anyOf : oneOf
  if (Array.isArray(some)) return sampleOf(some[0])
  switch (Array.isArray(type) ? (type[0] as unknown) : type) {
    case 'object': {
      const names = Array.isArray(required) ? required.map(String) : []
      return Object.fromEntries(names.map((name) => [name, sampleOf(membersOf(properties)[name])]))
    }
    case 'array':
      return [sampleOf(items)]
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    default:
      return 'text'
  }
}
