import { fail, ok, type Outcome } from '../failures.ts'
import type { ChatBody, ChatMessage } from './chat.ts'
import { chatSizeOf } from './chat-size.ts'
import { ECHO_UNITS_MAX } from './inference-limits.ts'
import type { TextInput } from './text-request.ts'

/** The first letters of the type of a tool that OpenRouter's own servers run. */
const ROUTER_TOOL = 'openrouter:'

/**
 * @param body has passed the schema
 * @param bytes of the whole body
 * Failure: not_supported, with the member as its issue. D9.
 */
export function chatInputOf(body: Readonly<Record<string, unknown>>, bytes: number): Outcome<TextInput> {
  const chat = body as unknown as ChatBody
  const refused = refusedOf(chat)
  if (refused !== null) return refused
  const { messages, model, stream, stream_options, stop, reasoning, ...more } = chat
  const effort = reasoning?.effort ?? more.reasoning_effort ?? 'none'
  const tool = toolOf(more)
  const last = messages.findLast(({ role }) => role === 'user')
  const text = last === undefined ? '' : textsOf(last).join('\n')
  return ok({
    dialect: 'chat',
    model: model ?? null,
    isStream: stream === true,
    isUsageAlone: stream_options?.include_usage === true,
    choices: more.n ?? 1,
    // A longer one is in no text that is repeated.
    stops: (typeof stop === 'string' ? [stop] : (stop ?? [])).filter(
      ({ length }) => length <= ECHO_UNITS_MAX,
    ),
    isReasoning: reasoning?.exclude !== true && (reasoning?.enabled ?? effort !== 'none'),
    tool,
    hasTool: (more.tools ?? []).some((one) => 'function' in one && nameOf(one.function) === tool),
    form: more.response_format?.type ?? 'text',
    sessionId: more.session_id ?? null,
    promptWords: messages.reduce((sum, message) => sum + wordsOf(message), 0),
    last: text.slice(0, ECHO_UNITS_MAX),
    isLastCut: text.length > ECHO_UNITS_MAX,
    size: chatSizeOf(chat, bytes),
    models: more.models ?? [],
    provider: more.provider ?? null,
    preset: more.preset ?? null,
    dropped: (more.transforms ?? []).length > 0 ? ['transforms'] : [],
  })
}

/** Members that would change the answer, and that Sluice does not serve. D9. */
function refusedOf({ plugins, tools, stop_server_tools_when }: ChatBody): Outcome<never> | null {
  if ((plugins ?? []).length > 0) return notSupported('/plugins', 'no plugin')
  const tool = (tools ?? []).findIndex(({ type }) => type.startsWith(ROUTER_TOOL))
  if (tool >= 0) return notSupported(`/tools/${tool}/type`, 'a tool that you or the provider run')
  if ((stop_server_tools_when ?? null) !== null) return notSupported('/stop_server_tools_when', 'null')
  return null
}

function notSupported(path: string, expected: string): Outcome<never> {
  return fail('not_supported', { metadata: { issues: [{ path, message: 'is not offered', expected }] } })
}

function wordsOf(message: ChatMessage): number {
  return textsOf(message).reduce((sum, text) => sum + countOf(text), 0)
}

function textsOf({ content }: ChatMessage): readonly string[] {
  if (typeof content === 'string') return [content]
  return (content ?? []).flatMap((part) =>
    'text' in part && typeof part.text === 'string' ? [part.text] : [],
  )
}

/**
 * Words by their beginnings: an expression that matches each word of 256 KiB would hold the loop for 13 ms.
 */
function countOf(text: string): number {
  let count = 0
  let isBetween = true
  for (let at = 0; at < text.length; at++) {
    const isSpace = isSpaceAt(text, at)
    if (isBetween && !isSpace) count++
    isBetween = isSpace
  }
  return count
}

/** The last character of ASCII that is a space. */
const SPACE = 0x20
const LAST_ASCII = 0x7f

/** Characters above ASCII are few enough for an expression. */
function isSpaceAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code <= SPACE) return code === SPACE || (code >= 0x09 && code <= 0x0d)
  return code > LAST_ASCII && /\s/.test(text.charAt(at))
}

function toolOf({ tool_choice: choice }: Pick<ChatBody, 'tool_choice'>): string | null {
  return typeof choice === 'object' && choice !== null && 'function' in choice
    ? nameOf(choice.function)
    : null
}

function nameOf(named: unknown): string | null {
  const name: unknown = typeof named === 'object' && named !== null ? Reflect.get(named, 'name') : null
  return typeof name === 'string' ? name : null
}
