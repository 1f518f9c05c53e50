/**
 * Bodies as callers may send them to the maker of their dialect: those of the generators have any names, and
 * calls without results.
 */
import type fc from 'fast-check'
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import type { Body } from './body-values.ts'
import { chatBodies } from './chat-bodies.ts'
import { messageBodies } from './message-bodies.ts'
import { responseBodies } from './response-bodies.ts'

/** Tokens of an answer that every provider takes. */
const TOKENS_MIN = 16
const NAME_CHARS_MAX = 60

export const VALID_BODIES: Readonly<Record<Dialect, fc.Arbitrary<Body>>> = {
  chat: chatBodies.map((body) => withNames({ ...body, messages: chatTurns(listOf(body['messages'])) })),
  responses: responseBodies.map((body) => withNames({ ...body, input: itemsOf(body['input']) })),
  messages: messageBodies.map((body) =>
    withNames({ ...body, messages: messageTurns(listOf(body['messages'])) }),
  ),
}

function listOf(value: unknown): readonly Body[] {
  return Array.isArray(value) ? (value as readonly Body[]) : []
}

function nameOf(name: unknown): string {
  return `n${String(name).replace(/[^\w-]/g, '_')}`.slice(0, NAME_CHARS_MAX)
}

/** Ids of calls, no two of which are the same. */
class Ids {
  readonly #used = new Set<string>()

  next(id: unknown): string {
    let free = String(id)
    for (let nth = 2; this.#used.has(free); nth++) free = `${String(id).slice(0, -3)}_${nth}`
    this.#used.add(free)
    return free
  }
}

/** Names of tools, of formats and of a chosen tool. */
function withNames(body: Body): Body {
  const names = new Ids()
  const tools = listOf(body['tools']).map((tool) => named(tool, names))
  const [first] = tools
  const choice = body['tool_choice']
  const isChosen = typeof choice === 'object' && choice !== null
  return {
    ...body,
    ...(tools.length > 0 && { tools }),
    ...(isChosen && first !== undefined && { tool_choice: choiceOf(choice as Body, first) }),
    ...leastTokens(body, 'max_tokens'),
    ...leastTokens(body, 'max_output_tokens'),
    ...(body['response_format'] !== undefined && { response_format: formatOf(body['response_format']) }),
    ...(body['text'] !== undefined && { text: textOf(body['text'] as Body) }),
  }
}

function leastTokens(body: Body, name: string): Body {
  const tokens = body[name]
  return typeof tokens === 'number' ? { [name]: Math.max(tokens, TOKENS_MIN) } : {}
}

function named(tool: Body, names: Ids): Body {
  for (const member of ['function', 'custom'])
    if (tool[member] !== undefined) return { ...tool, [member]: named(tool[member] as Body, names) }
  if (tool['type'] !== 'namespace') return { ...tool, name: names.next(nameOf(tool['name'])) }
  const own = new Ids()
  return { ...tool, tools: listOf(tool['tools']).map((one) => named(one, own)) }
}

/** The choice of the first tool. */
function choiceOf(choice: Body, first: Body): Body {
  const inner = (first['function'] ?? first['custom']) as Body | undefined
  if (choice['type'] === 'tool') return { ...choice, name: first['name'] }
  if (choice['type'] !== 'function') return choice
  const type = first['type']
  return inner === undefined
    ? { type, name: first['name'] }
    : { type, [String(type)]: { name: inner['name'] } }
}

function formatOf(format: unknown): unknown {
  const { json_schema: schema } = format as Body
  if (schema === undefined) return format
  return { ...(format as Body), json_schema: { ...(schema as Body), name: nameOf((schema as Body)['name']) } }
}

function textOf(text: Body): Body {
  const format = text['format'] as Body | undefined
  return format?.['name'] === undefined
    ? text
    : { ...text, format: { ...format, name: nameOf(format['name']) } }
}

/** A content that is there. */
function contentOf(content: unknown): unknown {
  return Array.isArray(content) && content.length === 0 ? 'x' : content
}

function chatTurns(messages: readonly Body[]): readonly Body[] {
  const ids = new Ids()
  const results = messages.filter(({ role }) => role === 'tool')
  const turns = messages.flatMap((message): readonly Body[] => {
    if (message['role'] === 'tool') return []
    const content = contentOf(message['content'])
    if (message['role'] !== 'assistant') return [{ ...message, content }]
    const renamed = new Map<unknown, string>()
    const calls = listOf(message['tool_calls']).map((call) => {
      const id = ids.next(call['id'])
      renamed.set(call['id'], id)
      return { ...calledOf(call), id }
    })
    const details = listOf(message['reasoning_details']).map((detail) => {
      const id = renamed.get(detail['id'])
      return id === undefined ? detail : { ...detail, id }
    })
    const { tool_calls: _, reasoning_details: __, ...stated } = message
    const turn = {
      ...stated,
      content: calls.length === 0 ? (content ?? 'x') : (content ?? null),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(details.length > 0 && { reasoning_details: details }),
    }
    const given = calls.map(({ id }): Body => {
      const result = results.shift() ?? { role: 'tool', content: 'ok' }
      return { ...result, content: contentOf(result['content']), tool_call_id: id }
    })
    return [turn, ...given]
  })
  return turns.length === 0 ? [{ role: 'user', content: 'Hi' }] : turns
}

function calledOf(call: Body): Body {
  const member = call['type'] === 'custom' ? 'custom' : 'function'
  const called = call[member] as Body
  return { ...call, [member]: { ...called, name: nameOf(called['name']) } }
}

const OUTPUT = /_output$/
const CALL = /_call$/

/** Results follow everything that the model wrote in one turn. */
function itemsOf(input: unknown): unknown {
  if (!Array.isArray(input)) return input
  const all = listOf(input)
  const ids = new Ids()
  const results = all.filter(({ type }) => OUTPUT.test(String(type)))
  const items: Body[] = []
  let open: Body[] = []
  const settle = (): void => {
    for (const { type, call_id } of open) {
      const { output = 'ok' } = results.shift() ?? {}
      items.push({ type: `${String(type)}_output`, call_id, output: contentOf(output) })
    }
    open = []
  }
  for (const item of all) {
    const type = String(item['type'] ?? 'message')
    if (OUTPUT.test(type)) continue
    if (type === 'message' && item['role'] !== 'assistant') settle()
    if (!CALL.test(type))
      items.push('content' in item ? { ...item, content: contentOf(item['content']) } : item)
    else {
      const call = { ...item, name: nameOf(item['name']), call_id: ids.next(item['call_id']) }
      items.push(call)
      open.push(call)
    }
  }
  settle()
  return items
}

/** Ids of calls that no other step has. */
function messageTurns(messages: readonly Body[]): readonly Body[] {
  return messages.map((message, at) => {
    if (typeof message['content'] === 'string') return message
    // A step is a turn of the model with the results after it.
    const step = message['role'] === 'assistant' ? at : at - 1
    const content = listOf(message['content']).map((block) => {
      if (block['type'] === 'tool_use')
        return { ...block, id: `${String(block['id'])}_${step}`, name: nameOf(block['name']) }
      if (block['type'] !== 'tool_result') return block
      return { ...block, tool_use_id: `${String(block['tool_use_id'])}_${step}` }
    })
    return { ...message, content }
  })
}
