import { fail, ok, type Outcome } from '../failures.ts'
import type { ChatBody, ChatMessage } from './chat.ts'
import { chatSizeOf } from './chat-size.ts'
import { conversationOf } from './conversation.ts'
import { chatFiles, filesMember } from './file-references.ts'
import { ECHO_UNITS_MAX } from './inference-limits.ts'
import type { TextInput } from './text-request.ts'
import { wordsOf } from './words.ts'

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
  const files = chatFiles(chat.messages)
  if (!files.ok) return files
  const { messages, model, stream, stream_options, stop, reasoning, ...more } = chat
  const effort = reasoning?.effort ?? more.reasoning_effort ?? 'none'
  const tool = toolOf(more)
  const last = messages.findLast(({ role }) => role === 'user')
  const first = messages.find(({ role }) => role === 'user')
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
    conversation: conversationOf(more.prompt_cache_key, {
      system: messages[0]?.role === 'system' || messages[0]?.role === 'developer' ? textsOf(messages[0]) : [],
      user: first === undefined ? [] : textsOf(first),
    }),
    promptWords: messages.reduce((sum, message) => sum + wordsOf(textsOf(message)), 0),
    last: text.slice(0, ECHO_UNITS_MAX),
    isLastCut: text.length > ECHO_UNITS_MAX,
    size: chatSizeOf(chat, bytes),
    models: more.models ?? [],
    provider: more.provider ?? null,
    preset: more.preset ?? null,
    dropped: (more.transforms ?? []).length > 0 ? ['transforms'] : [],
    ...filesMember(files.value),
  })
}

/** Members of a body that may be refused, in all dialects. */
interface RefusedMembers {
  readonly plugins?: readonly unknown[] | null
  readonly tools?: readonly { readonly type?: string | null }[] | null
  readonly stop_server_tools_when?: unknown
}

/** Members that would change the answer, and that Sluice does not serve. D9. */
export function refusedOf({ plugins, tools, stop_server_tools_when }: RefusedMembers): Outcome<never> | null {
  if ((plugins ?? []).length > 0) return notSupported('/plugins', 'no plugin')
  const tool = (tools ?? []).findIndex(({ type }) => type?.startsWith(ROUTER_TOOL) === true)
  if (tool >= 0) return notSupported(`/tools/${tool}/type`, 'a tool that you or the provider run')
  if ((stop_server_tools_when ?? null) !== null) return notSupported('/stop_server_tools_when', 'null')
  return null
}

function notSupported(path: string, expected: string): Outcome<never> {
  return fail('not_supported', { metadata: { issues: [{ path, message: 'is not offered', expected }] } })
}

function textsOf({ content }: ChatMessage): readonly string[] {
  if (typeof content === 'string') return [content]
  return (content ?? []).flatMap((part) =>
    'text' in part && typeof part.text === 'string' ? [part.text] : [],
  )
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
