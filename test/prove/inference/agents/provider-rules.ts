/** What providers refuse in a conversation with tools, besides unknown members. */
import { isObject, membersOf, type Members } from '../../../../src/schemas/values/members.ts'
import { bodyOf, refusesChat, strictChat } from '../../../support/inference/fake-chat.ts'
import { refusesMessages, strictMessages } from '../../../support/inference/fake-messages.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { strictResponses } from '../../../support/inference/fake-responses.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

type Given = ReadonlySet<string>
type Rule = (body: Members, given: Given) => string | null

/** Those of Google stand with its fake. */
export const STRICT: Readonly<Record<TextProtocol, (honest: FakeAnswer, given: Given) => FakeAnswer>> = {
  chat: (honest, given) =>
    strictChat(ruled(chatRule, given, (message) => refusesChat(400, { message }))(honest)),
  responses: (honest, given) =>
    strictOfCodex(ruled(wrongResponse, given, (message) => refusesChat(400, { message }))(honest)),
  messages: (honest, given) =>
    strictMessages(ruled(wrongMessage, given, (message) => refusesMessages(400, { message }))(honest)),
  gemini: (honest) => honest,
}

/** OpenAI takes a member of Codex that its published client has no type for. */
function strictOfCodex(honest: FakeAnswer): FakeAnswer {
  return (call, reply) => {
    const { client_metadata: _, ...body } = bodyOf(call)
    const strict = strictResponses((_call, answered) => honest(call, answered))
    return strict({ ...call, body: Buffer.from(JSON.stringify(body)) }, reply)
  }
}

function ruled(rule: Rule, given: Given, refuses: (message: string) => FakeAnswer) {
  return (honest: FakeAnswer): FakeAnswer =>
    (call, reply) => {
      const wrong = call.path.endsWith('/count_tokens') ? null : rule(bodyOf(call), given)
      return (wrong === null ? honest : refuses(wrong))(call, reply)
    }
}

const OPENAI_NAME = /^[a-zA-Z0-9_-]{1,64}$/
const ANTHROPIC_NAME = /^[a-zA-Z0-9_-]{1,128}$/
/** Marks of the cache in a request of messages. */
const MARKS_MAX = 4

/** @returns what is wrong with a chat's tools and turns, as most servers say it; null: nothing */
export function chatRule(body: Members): string | null {
  const bad = listOf(body['tools']).find(
    ({ function: reported }) => !OPENAI_NAME.test(String(membersOf(reported)['name'])),
  )
  if (bad !== undefined) return `Invalid 'tools[].function.name': ${JSON.stringify(bad)}`
  let open = new Set<string>()
  for (const message of listOf(body['messages'])) {
    const { role, tool_call_id: id, tool_calls: calls } = message
    if (role === 'tool') {
      if (!open.delete(String(id))) return `No tool call has the id ${String(id)}.`
      continue
    }
    if (open.size > 0) return `Tool calls without an answer: ${[...open].join()}.`
    open = new Set(listOf(calls).map((one) => String(one['id'])))
    const unread = listOf(calls).find((one) => !isJsonObject(membersOf(one['function'])['arguments']))
    if (unread !== undefined) return `Arguments that are no JSON: ${JSON.stringify(unread)}`
  }
  return open.size > 0 ? 'The last tool calls have no answer.' : null
}

const CALLS: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call'])
const OUTPUTS: ReadonlySet<unknown> = new Set(['function_call_output', 'custom_tool_call_output'])

function wrongResponse(body: Members, given: Given): string | null {
  const bad = listOf(body['tools']).find(
    ({ type, name }) => type === 'function' && !OPENAI_NAME.test(String(name)),
  )
  if (bad !== undefined) return `Invalid 'tools[].name': ${JSON.stringify(bad)}`
  const open = new Set<string>()
  for (const { type, call_id: id, encrypted_content: signed } of listOf(body['input'])) {
    if (CALLS.has(type)) open.add(String(id))
    if (OUTPUTS.has(type) && !open.delete(String(id)))
      return `No tool call found for function call output with call_id ${String(id)}.`
    if (typeof signed === 'string' && !given.has(signed))
      return 'The encrypted content could not be verified.'
  }
  return open.size > 0 ? `No tool output found for function call ${[...open].join()}.` : null
}

function wrongMessage(body: Members, given: Given): string | null {
  const bad = listOf(body['tools']).find(({ name }) => !ANTHROPIC_NAME.test(String(name)))
  if (bad !== undefined) return `tools.name: String should match pattern: ${JSON.stringify(bad)}`
  if (marksIn(body) > MARKS_MAX) return `A maximum of ${MARKS_MAX} blocks with cache_control may be provided.`
  let open = new Set<string>()
  for (const { content } of listOf(body['messages'])) {
    const blocks = listOf(content)
    const results = blocks
      .filter(({ type }) => type === 'tool_result')
      .map((one) => String(one['tool_use_id']))
    const stray = results.find((id) => !open.delete(id))
    if (stray !== undefined) return `unexpected tool_use_id found in tool_result blocks: ${stray}`
    if (open.size > 0) return `tool_use ids were found without tool_result blocks: ${[...open].join()}`
    open = new Set(blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id)))
    if (blocks.some(({ type, text }) => type === 'text' && text === ''))
      return 'text content blocks must be non-empty'
    const isSigned = ({ type, signature }: Members): boolean =>
      type !== 'thinking' || given.has(String(signature))
    if (!blocks.every(isSigned)) return 'Invalid `signature` in `thinking` block'
  }
  return open.size > 0 ? 'The last tool_use has no tool_result.' : null
}

function marksIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + marksIn(one), 0)
  if (!isObject(value)) return 0
  const own = isObject(value['cache_control']) ? 1 : 0
  return Object.values(value).reduce((sum: number, one) => sum + marksIn(one), own)
}

function isJsonObject(text: unknown): boolean {
  try {
    return isObject(JSON.parse(String(text)))
  } catch {
    return false
  }
}

function listOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.map(membersOf) : []
}
