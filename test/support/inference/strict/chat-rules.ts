/** What OpenAI refuses in a request of chat. */
import { CHAT_MEMBERS, MESSAGE_MEMBERS } from '../openai-members.ts'
import {
  firstIn,
  firstOf,
  listOf,
  unknownIn,
  wrongChoice,
  wrongName,
  wrongNumber,
  type Members,
} from './rules.ts'

const NUMBERS = {
  temperature: [0, 2],
  top_p: [0, 1],
  presence_penalty: [-2, 2],
  frequency_penalty: [-2, 2],
  max_tokens: [1, 2 ** 31],
  max_completion_tokens: [1, 2 ** 31],
} as const
const ID_CHARS_MAX = 40
const STOPS_MAX = 4
/** Members of each type of part, and the roles that may have it. */
const PARTS: Readonly<Record<string, readonly [string, string]>> = {
  text: ['type text', 'system developer user assistant tool'],
  refusal: ['type refusal', 'assistant'],
  image_url: ['type image_url', 'user'],
  input_audio: ['type input_audio', 'user'],
  file: ['type file', 'user'],
}

/** @returns the provider's message; null: nothing is wrong */
export function wrongChat(body: Members): string | null {
  const messages = listOf(body['messages'])
  const tools = listOf(body['tools'])
  return firstOf(
    () => unknownIn(body, [...CHAT_MEMBERS].join(' '), ''),
    () => (messages.length === 0 ? "Invalid 'messages': empty array." : null),
    () => firstIn(messages, 'messages', wrongMessage),
    () => wrongOrder(messages),
    () => firstIn(tools, 'tools', wrongTool),
    () =>
      wrongChoice(
        body,
        within(body['tool_choice'], 'function')['name'],
        tools.map((tool) => within(tool, 'function')['name']),
      ),
    () => wrongNumber(body, NUMBERS),
    () => (listOf(body['stop']).length > STOPS_MAX ? "Invalid 'stop': array too long." : null),
    () => wrongFormat(body['response_format']),
  )
}

function within(one: unknown, name: string): Members {
  const value = typeof one === 'object' && one !== null ? (one as Members)[name] : undefined
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

function wrongMessage(message: Members, path: string): string | null {
  const role = String(message['role'])
  const { content, tool_calls: calls, refusal } = message
  const known = MESSAGE_MEMBERS[role]
  if (known === undefined) return `Invalid value: '${role}' for ${path}.role.`
  const mayLack = role === 'assistant' && (calls !== undefined || refusal !== undefined)
  if (typeof content !== 'string' && !Array.isArray(content) && !mayLack)
    return `Invalid value for 'content': expected a string, got null.`
  if (Array.isArray(content) && content.length === 0) return `Invalid '${path}.content': empty array.`
  if (Array.isArray(calls) && calls.length === 0) return `Invalid '${path}.tool_calls': empty array.`
  return firstOf(
    () => unknownIn(message, [...known].join(' '), path),
    () => firstIn(listOf(content), `${path}.content`, (part, at) => wrongPart(part, role, at)),
    () => firstIn(listOf(calls), `${path}.tool_calls`, wrongCall),
  )
}

function wrongPart(part: Members, role: string, path: string): string | null {
  const type = String(part['type'])
  const [members, roles] = PARTS[type] ?? ['', '']
  if (!roles.split(' ').includes(role)) return `Invalid value: '${type}' for ${path}.type.`
  if (type === 'file') {
    const data = within(part, 'file')['file_data']
    if (typeof data !== 'string' || !data.startsWith('data:')) return `Invalid '${path}.file.file_data'.`
  }
  return unknownIn(part, members, path)
}

function wrongCall(call: Members, path: string): string | null {
  const called = within(call, 'function')
  const { id } = call
  if (typeof id !== 'string' || id === '' || id.length > ID_CHARS_MAX)
    return `Invalid '${path}.id': string too long.`
  if (call['type'] !== 'function') return `Invalid value for ${path}.type.`
  if (typeof called['arguments'] !== 'string') return `Invalid type for '${path}.function.arguments'.`
  return firstOf(
    () => unknownIn(call, 'id type function', path),
    () => unknownIn(called, 'name arguments', path),
    () => wrongName(called['name'], `${path}.function`),
  )
}

/** Calls are followed by the result of each, and results follow their calls. */
function wrongOrder(messages: readonly Members[]): string | null {
  let open = new Set<unknown>()
  for (const message of messages) {
    if (message['role'] === 'tool') {
      if (!open.delete(message['tool_call_id']))
        return "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
      continue
    }
    if (open.size > 0)
      return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    open = new Set(listOf(message['tool_calls']).map(({ id }) => id))
  }
  return open.size > 0 ? "An assistant message with 'tool_calls' must be followed by tool messages." : null
}

function wrongTool(tool: Members, path: string): string | null {
  const declared = within(tool, 'function')
  if (tool['type'] !== 'function') return `Invalid value: '${String(tool['type'])}' for ${path}.type.`
  return firstOf(
    () => unknownIn(tool, 'type function', path),
    () => unknownIn(declared, 'name description parameters strict', `${path}.function`),
    () => wrongName(declared['name'], `${path}.function`),
  )
}

function wrongFormat(format: unknown): string | null {
  const { type } = (format ?? {}) as Members
  if (type !== 'json_schema') return null
  const schema = within(format, 'json_schema')
  return firstOf(
    () => unknownIn(schema, 'name description schema strict', 'response_format.json_schema'),
    () => wrongName(schema['name'], 'response_format.json_schema'),
  )
}
