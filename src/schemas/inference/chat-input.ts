import { fail, ok, type Outcome } from '../failures.ts'
import type { KeptBody } from '../kept-body.ts'
import type { ProviderPreferences } from '../models/preferences.ts'
import type { ChatBody, ChatMessage } from './chat.ts'
import { chatSizeOf, type ChatSize } from './chat-size.ts'
import { ECHO_UNITS_MAX } from './inference-limits.ts'

/**
 * What is used of the body of a chat. A thread makes it of a large body, whose thousands of parts never reach
 * the loop.
 */
export interface ChatInput {
  /** Null: that of the preset. D10. */
  readonly model: string | null
  readonly isStream: boolean
  /** The event with the usage has no choices. D7. */
  readonly isUsageAlone: boolean
  /** Answers to one call. */
  readonly choices: number
  /** Texts at which an answer stops. */
  readonly stops: readonly string[]
  /** Tokens of each answer; null: the request says none. */
  readonly tokensMax: number | null
  readonly isReasoning: boolean
  /** Name of the tool that has to be called; null: the request names none. */
  readonly tool: string | null
  /** The named tool is one of the request. */
  readonly hasTool: boolean
  /** Type of `response_format`. */
  readonly form: string
  readonly sessionId: string | null
  /** Words of all texts. */
  readonly promptWords: number
  /** The last text of the user, its first ECHO_UNITS_MAX units. */
  readonly last: string
  /** The text is longer. */
  readonly isLastCut: boolean
  readonly size: ChatSize
  /** Models that are tried after the first. D11. */
  readonly models: readonly string[]
  readonly provider: ProviderPreferences | null
  /** A preset beside the model, which may name one too. D10. */
  readonly preset: string | null
  /** Members without an effect that the caller may have counted on, for `x-sluice-dropped`. D9. */
  readonly dropped: readonly string[]
}

/** The body of a chat as its operation gets it. */
export interface ChatRequest extends ChatInput {
  /** The bytes, which go out to a provider that speaks the caller's dialect. D4. */
  readonly source: KeptBody
}

/** A request whose model is the name of a model. */
export interface CompleteChat extends ChatRequest {
  readonly model: string
  readonly preset: null
}

/** The first letters of the type of a tool that OpenRouter's own servers run. */
const ROUTER_TOOL = 'openrouter:'

/**
 * @param body has passed the schema
 * @param bytes of the whole body
 * Failure: not_supported, with the member as its issue. D9.
 */
export function chatInputOf(body: Readonly<Record<string, unknown>>, bytes: number): Outcome<ChatInput> {
  const chat = body as unknown as ChatBody
  const refused = refusedOf(chat)
  if (refused !== null) return refused
  const { messages, model, stream, stream_options, stop, reasoning, ...more } = chat
  const effort = reasoning?.effort ?? more.reasoning_effort ?? 'none'
  const tool = toolOf(more)
  const last = messages.findLast(({ role }) => role === 'user')
  const text = last === undefined ? '' : textsOf(last).join('\n')
  return ok({
    model: model ?? null,
    isStream: stream === true,
    isUsageAlone: stream_options?.include_usage === true,
    choices: more.n ?? 1,
    // A longer one is in no text that is repeated.
    stops: (typeof stop === 'string' ? [stop] : (stop ?? [])).filter(
      ({ length }) => length <= ECHO_UNITS_MAX,
    ),
    tokensMax: more.max_completion_tokens ?? more.max_tokens ?? null,
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
