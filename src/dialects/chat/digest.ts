import { ok, type Outcome } from '../../schemas/failures.ts'
import { membersOf } from '../../schemas/values/members.ts'
import type { ChatBody, ChatMessage } from '../../schemas/inference/chat.ts'
import { chatSizeOf } from '../../schemas/inference/chat-size.ts'
import { conversationOf } from '../../schemas/inference/conversation.ts'
import { chatFiles, filesMember } from '../../schemas/inference/file-references.ts'
import { chatTools, hasNamed } from '../../schemas/inference/declared-tools.ts'
import { formOf } from '../form-fit.ts'
import {
  asksReasoning,
  effortOf,
  commonInputOf,
  comparedPathOf,
  refusedOf,
  repeatedOf,
  stopsOf,
  wantsReasoning,
} from '../text-digest.ts'
import type { TextInput } from '../../schemas/inference/text-request.ts'
import { wordsOf } from '../../schemas/inference/words.ts'

/**
 * @param body has passed the schema
 * @param bytes of the whole body
 * @param escaped of them, bytes that escapes take beyond their characters
 * Failure: not_supported, with the member as its issue. D9.
 */
export function chatInputOf(
  body: Readonly<Record<string, unknown>>,
  bytes: number,
  escaped?: number,
): Outcome<TextInput> {
  const chat = body as unknown as ChatBody
  const refused = refusedOf(chat, chatTools(chat))
  if (refused !== null) return refused
  const files = chatFiles(chat.messages)
  if (!files.ok) return files
  const { messages, stop, reasoning, reasoning_effort, response_format: format } = chat
  const tool = toolOf(chat)
  const last = messages.findLast(({ role }) => role === 'user')
  const first = messages.find(({ role }) => role === 'user')
  const repeated = repeatedOf(last && textsOf(last))
  const statePath = (chat.store ?? false) === false ? comparedPathOf(membersOf(chat)) : '/store'
  const { schema } = membersOf(membersOf(format)['json_schema'])
  return ok({
    dialect: 'chat',
    ...commonInputOf(chat),
    ...repeated,
    ...formOf(format, { schema, last: repeated.last }),
    isUsageAlone: chat.stream_options?.include_usage === true,
    choices: chat.n ?? 1,
    stops: stopsOf(typeof stop === 'string' ? [stop] : (stop ?? [])),
    isReasoning: wantsReasoning(reasoning, reasoning_effort),
    asksReasoning: asksReasoning(reasoning, reasoning_effort),
    ...effortOf(reasoning?.effort ?? reasoning_effort, membersOf(reasoning)['max_tokens']),
    tool,
    hasTool: hasNamed(chatTools(chat), tool, (one) => nameOf(one['function'])),
    conversation: conversationOf(chat.prompt_cache_key, {
      system: messages[0]?.role === 'system' || messages[0]?.role === 'developer' ? textsOf(messages[0]) : [],
      user: first === undefined ? [] : textsOf(first),
    }),
    promptWords: messages.reduce((sum, message) => sum + wordsOf(textsOf(message)), 0),
    size: chatSizeOf(chat, bytes, escaped),
    ...(statePath === null ? null : { statePath }),
    ...filesMember(files.value),
  })
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
  const { name } = membersOf(named)
  return typeof name === 'string' ? name : null
}
