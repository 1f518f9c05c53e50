/** What Anthropic refuses in a request of messages. */
import { firstIn, firstOf, listOf, TOOL_NAME, wrongNumber, type Members } from './rules.ts'

const MEMBERS =
  'model messages max_tokens system temperature top_p top_k stop_sequences stream tools tool_choice thinking ' +
  'metadata service_tier speed cache_control container context_management output_config inference_geo mcp_servers'
const NUMBERS = { temperature: [0, 1], top_p: [0, 1], max_tokens: [1, 2 ** 31], top_k: [0, 500] } as const
const CACHE = ' cache_control'
/** Members of each type of block, and the roles that may have it. */
const BLOCKS: Readonly<Record<string, readonly [string, string]>> = {
  text: [`type text citations${CACHE}`, 'user assistant system result'],
  image: [`type source${CACHE}`, 'user result'],
  document: [`type source title context citations${CACHE}`, 'user result'],
  tool_use: [`type id name input${CACHE}`, 'assistant'],
  tool_result: [`type tool_use_id content is_error${CACHE}`, 'user'],
  thinking: ['type thinking signature', 'assistant'],
  redacted_thinking: ['type data', 'assistant'],
}
const SOURCES: Readonly<Record<string, string>> = {
  base64: 'type media_type data',
  url: 'type url',
  text: 'type media_type data',
}
const TOOL = `name description input_schema strict type${CACHE}`
const ID = /^[\w-]+$/

/** @returns the provider's message; null: nothing is wrong */
export function wrongMessages(body: Members): string | null {
  const messages = listOf(body['messages'])
  const tools = listOf(body['tools'])
  return firstOf(
    () => extra(body, MEMBERS, ''),
    () => (body['max_tokens'] === undefined ? 'max_tokens: Field required' : null),
    () => wrongNumber(body, NUMBERS),
    () => (messages[0]?.['role'] === 'user' ? null : 'messages: first message must use the "user" role'),
    () => wrongBlocks(body['system'] ?? 'x', 'system', 'system'),
    () => firstIn(messages, 'messages', wrongMessage),
    () => wrongOrder(messages),
    () => firstIn(tools, 'tools', wrongTool),
    () => wrongChoice(body, tools, messages),
  )
}

function extra(one: Members, known: string, path: string): string | null {
  const names = new Set(known.split(' '))
  const other = Object.keys(one).find((name) => !names.has(name))
  return other === undefined ? null : `${path}.${other}: Extra inputs are not permitted`
}

function wrongMessage(message: Members, path: string): string | null {
  const { role, content } = message
  if (role !== 'user' && role !== 'assistant') return `${path}: unexpected role "${String(role)}"`
  return extra(message, 'role content', path) ?? wrongBlocks(content, role, path)
}

function wrongBlocks(content: unknown, role: string, path: string): string | null {
  if (typeof content === 'string') return wrongText(content, path)
  if (role !== 'result' && role !== 'system' && listOf(content).length === 0)
    return `${path}: all messages must have non-empty content`
  return firstIn(listOf(content), `${path}.content`, (block, at) => wrongBlock(block, role, at))
}

function wrongText(text: unknown, path: string): string | null {
  if (typeof text !== 'string') return `${path}: Input should be a valid string`
  if (text === '') return `${path}: text content blocks must be non-empty`
  return text.trim() === '' ? `${path}: text content blocks must contain non-whitespace text` : null
}

function wrongBlock(block: Members, role: string, path: string): string | null {
  const type = String(block['type'])
  const [known, roles] = BLOCKS[type] ?? ['', '']
  if (!roles.split(' ').includes(role)) return `${path}: Input tag '${type}' is not expected here`
  return extra(block, known, path) ?? wrongOfType(block, type, path)
}

function wrongOfType(block: Members, type: string, path: string): string | null {
  switch (type) {
    case 'text':
      return wrongText(block['text'], path)
    case 'image':
    case 'document':
      return wrongSource((block['source'] ?? {}) as Members, type, path)
    case 'tool_use': {
      const isObject = typeof block['input'] === 'object' && !Array.isArray(block['input'])
      if (!isObject || block['input'] === null) return `${path}.input: Input should be a valid dictionary`
      return ID.test(String(block['id']))
        ? wrongName(block['name'], path)
        : `${path}.id: does not match ${ID.source}`
    }
    case 'tool_result':
      return block['content'] === undefined ? null : wrongBlocks(block['content'], 'result', path)
    case 'thinking':
      return typeof block['signature'] === 'string' ? null : `${path}.signature: Field required`
    default:
      return null
  }
}

function wrongSource(source: Members, type: string, path: string): string | null {
  const kind = String(source['type'])
  const known = SOURCES[kind]
  if (known === undefined || (kind === 'text' && type === 'image'))
    return `${path}.source: invalid tag '${kind}'`
  const mimeType = String(source['media_type'])
  const isOfType = type === 'image' ? mimeType.startsWith('image/') : mimeType === 'application/pdf'
  if (kind === 'base64' && !isOfType) return `${path}.source.media_type: '${mimeType}' is not permitted`
  return extra(source, known, `${path}.source`)
}

function wrongName(name: unknown, path: string): string | null {
  return typeof name === 'string' && TOOL_NAME.test(name) ? null : `${path}.name: does not match pattern`
}

/** Calls have their results at the begin of the next message, and nothing else has results. */
function wrongOrder(messages: readonly Members[]): string | null {
  const known = new Set<unknown>()
  for (const [at, { role, content }] of messages.entries()) {
    if (messages[at - 1]?.['role'] === role) return `messages.${at}: roles must alternate`
    if (role !== 'assistant') continue
    const ids = idsOf(content, 'tool_use', 'id')
    if (ids.some((id) => known.has(id)) || new Set(ids).size < ids.length)
      return `messages.${at}: \`tool_use\` ids must be unique`
    for (const id of ids) known.add(id)
    const blocks = listOf(messages[at + 1]?.['content'])
    const first = blocks.findIndex(({ type }) => type !== 'tool_result')
    const head = first === -1 ? blocks : blocks.slice(0, first)
    const given = idsOf(head, 'tool_result', 'tool_use_id')
    const missing = ids.filter((id) => !given.includes(id))
    if (missing.length > 0)
      return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`
  }
  return wrongResults(messages)
}

function wrongResults(messages: readonly Members[]): string | null {
  for (const [at, { role, content }] of messages.entries()) {
    if (role !== 'user') continue
    const ids = idsOf(messages[at - 1]?.['content'], 'tool_use', 'id')
    const stray = idsOf(content, 'tool_result', 'tool_use_id').find((id) => !ids.includes(id))
    if (stray !== undefined)
      return `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(stray)}`
  }
  return null
}

function idsOf(content: unknown, type: string, member: string): readonly unknown[] {
  return listOf(content).flatMap((block) => (block['type'] === type ? [block[member]] : []))
}

function wrongTool(tool: Members, path: string): string | null {
  const { type } = (tool['input_schema'] ?? {}) as Members
  if (type !== 'object') return `${path}.input_schema.type: Field required`
  return extra(tool, TOOL, path) ?? wrongName(tool['name'], path)
}

const CHOICES = ['auto', 'any', 'none', 'tool']

function wrongChoice(body: Members, tools: readonly Members[], messages: readonly Members[]): string | null {
  const names = tools.map(({ name }) => name)
  if (new Set(names).size < names.length) return 'tools: Tool names must be unique.'
  const hasCalls = messages.some(({ content }) => idsOf(content, 'tool_use', 'id').length > 0)
  if (hasCalls && names.length === 0)
    return 'Requests which have `tool_use` or `tool_result` blocks in the conversation history must provide `tools`.'
  if (body['tool_choice'] === undefined) return null
  const choice = body['tool_choice'] as Members
  if (!CHOICES.includes(String(choice['type']))) return 'tool_choice: invalid tag'
  if (names.length === 0) return 'tool_choice may only be specified while providing tools.'
  const { type: thinking } = (body['thinking'] ?? {}) as Members
  const isForced = choice['type'] === 'any' || choice['type'] === 'tool'
  if (isForced && (thinking === 'enabled' || thinking === 'adaptive'))
    return 'Thinking may not be enabled when tool_choice forces tool use.'
  return choice['type'] === 'tool' && !names.includes(choice['name'])
    ? `Tool '${String(choice['name'])}' not found in provided tools`
    : null
}
