/** What OpenAI refuses in a request of responses that stores nothing. */
import { RESPONSES_MEMBERS } from '../openai-members.ts'
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

const NUMBERS = { temperature: [0, 2], top_p: [0, 1], max_output_tokens: [16, 2 ** 31] } as const
const ID_CHARS_MAX = 64
/** Members of each type of item. */
const ITEMS: Readonly<Record<string, string>> = {
  message: 'type role content phase id status',
  reasoning: 'type id summary content encrypted_content status',
  function_call: 'type call_id name arguments id async caller namespace status',
  function_call_output: 'type call_id output id caller name namespace status',
}
const GIVEN: Readonly<Record<string, string>> = {
  input_text: 'type text prompt_cache_breakpoint',
  input_image: 'type detail file_id image_url prompt_cache_breakpoint',
  input_file: 'type file_data file_id file_url filename detail prompt_cache_breakpoint',
}
const SAIDOnce: Readonly<Record<string, string>> = {
  output_text: 'type text annotations logprobs',
  refusal: 'type refusal',
}
const TOOL = 'type name parameters strict allowed_callers async defer_loading description output_schema'

/** @returns the provider's message; null: nothing is wrong */
export function wrongResponses(body: Members): string | null {
  const items = listOf(body['input'])
  const tools = listOf(body['tools'])
  const { name: named } = (
    typeof body['tool_choice'] === 'object' ? (body['tool_choice'] ?? {}) : {}
  ) as Members
  return firstOf(
    () => unknownIn(body, [...RESPONSES_MEMBERS].join(' '), ''),
    () => (body['store'] === false ? null : 'Items may not be stored.'),
    () => (items.length === 0 && body['input'] === undefined ? 'One of "input" must be provided.' : null),
    () => firstIn(items, 'input', wrongItem),
    () => wrongOrder(items),
    () => firstIn(tools, 'tools', wrongTool),
    () =>
      wrongChoice(
        body,
        named,
        tools.map(({ name }) => name),
      ),
    () => wrongNumber(body, NUMBERS),
    () => wrongFormat(body['text']),
  )
}

function wrongItem(item: Members, path: string): string | null {
  const type = String(item['type'] ?? 'message')
  const known = ITEMS[type]
  if (known === undefined) return `Invalid value: '${type}' for ${path}.type.`
  return unknownIn(item, known, path) ?? wrongContent(item, type, path)
}

function wrongContent(item: Members, type: string, path: string): string | null {
  switch (type) {
    case 'message': {
      const parts = item['role'] === 'assistant' ? SAIDOnce : GIVEN
      return wrongParts(item['content'], parts, `${path}.content`)
    }
    case 'function_call_output':
      return wrongParts(item['output'], GIVEN, `${path}.output`)
    case 'reasoning':
      if (!Array.isArray(item['summary'])) return `Missing required parameter: '${path}.summary'.`
      return typeof item['encrypted_content'] === 'string' ? null : `Item '${path}' is not persisted.`
    default: {
      const { call_id: id, arguments: json } = item
      if (typeof id !== 'string' || id === '' || id.length > ID_CHARS_MAX)
        return `Invalid '${path}.call_id': string too long.`
      return typeof json === 'string'
        ? wrongName(item['name'], path)
        : `Invalid type for '${path}.arguments'.`
    }
  }
}

function wrongParts(content: unknown, known: Readonly<Record<string, string>>, path: string): string | null {
  if (typeof content === 'string') return null
  if (!Array.isArray(content) || content.length === 0) return `Invalid '${path}': expected a string or parts.`
  return firstIn(listOf(content), path, (part, at) => {
    const members = known[String(part['type'])]
    if (members === undefined) return `Invalid value: '${String(part['type'])}' for ${at}.type.`
    if (part['type'] === 'input_file' && part['file_data'] !== undefined && part['filename'] === undefined)
      return `Missing required parameter: '${at}.filename'.`
    return unknownIn(part, members, at)
  })
}

/** Each call has its result after it, and each result its call before it. */
function wrongOrder(items: readonly Members[]): string | null {
  const open = new Set<unknown>()
  for (const { type, call_id: id } of items) {
    if (type === 'function_call') open.add(id)
    if (type === 'function_call_output' && !open.delete(id))
      return `No tool call found for function call output with call_id ${String(id)}.`
  }
  return open.size === 0 ? null : `No tool output found for function call ${[...open].join(', ')}.`
}

function wrongTool(tool: Members, path: string): string | null {
  if (tool['type'] !== 'function') return `Invalid value: '${String(tool['type'])}' for ${path}.type.`
  return unknownIn(tool, TOOL, path) ?? wrongName(tool['name'], path)
}

function wrongFormat(text: unknown): string | null {
  const format = ((text ?? {}) as Members)['format'] as Members | undefined
  if (format?.['type'] !== 'json_schema') return null
  return (
    unknownIn(format, 'type name description schema strict', 'text.format') ??
    wrongName(format['name'], 'text.format')
  )
}
