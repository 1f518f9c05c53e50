import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { mentionsPreset } from '../../schemas/presets/preset-references.ts'
import { membersOf } from '../../schemas/values/members.ts'
import { conversationOf, withoutBilling } from '../../schemas/inference/conversation.ts'
import { hasNamed, messagesTools } from '../../schemas/inference/declared-tools.ts'
import { messagesFiles, filesMember } from '../../schemas/inference/file-references.ts'
import { formOf } from '../form-fit.ts'
import type { Message, MessagesBody } from '../../schemas/inference/messages.ts'
import { messagesSizeOf } from '../../schemas/inference/messages-size.ts'
import { commonInputOf, effortOf, refusedOf, repeatedOf, stopsOf } from '../text-digest.ts'
import type { TextInput } from '../../schemas/inference/text-request.ts'
import { wordsOf } from '../../schemas/inference/words.ts'

/**
 * What is used of the body of POST /messages.
 * @param body has passed the schema
 * @param bytes of the whole body
 * @param escaped of them, bytes that escapes take beyond their characters
 * Failures: body_invalid (no `max_tokens`, which providers of messages require), not_supported, with the
 * member as its issue. D9.
 */
export function messagesInputOf(
  body: Readonly<Record<string, unknown>>,
  bytes: number,
  escaped?: number,
): Outcome<TextInput> {
  const message = body as unknown as MessagesBody
  const { model, preset, max_tokens } = message
  const mayLack = (preset ?? null) !== null || (model !== undefined && mentionsPreset(model))
  if ((max_tokens ?? null) === null && !mayLack) return NO_MAX_TOKENS
  return inputOf(message, { bytes, escaped })
}

/** The same of POST /messages/count_tokens, which writes nothing. */
export function countInputOf(body: Readonly<Record<string, unknown>>, bytes: number): Outcome<TextInput> {
  return inputOf(body as unknown as MessagesBody, { bytes })
}

const NO_MAX_TOKENS = fail('body_invalid', {
  metadata: { issues: [{ path: '/max_tokens', message: 'is missing', expected: 'integer of at least 1' }] },
})

function inputOf(
  body: MessagesBody,
  { bytes, escaped = 0 }: { readonly bytes: number; readonly escaped?: number | undefined },
): Outcome<TextInput> {
  const refused = refusedOf(body, messagesTools(body))
  if (refused !== null) return refused
  const files = messagesFiles(body.messages)
  if (!files.ok) return files
  const { messages, system, tool_choice, thinking, output_config, output_format } = body
  const tokensMax = body.max_tokens ?? null
  const tool = toolOf(tool_choice)
  const last = messages.findLast((one) => one.role === 'user' && textsOf(one).length > 0)
  const first = messages.find(({ role }) => role === 'user')
  const repeated = repeatedOf(last && textsOf(last))
  const statePath = statePathOf(body)
  const format = output_config?.format ?? output_format
  const isThinking = thinking?.type === 'enabled' || thinking?.type === 'adaptive'
  return ok({
    dialect: 'messages',
    ...commonInputOf(body),
    ...repeated,
    ...formOf(format, { schema: membersOf(format)['schema'], last: repeated.last }),
    isUsageAlone: false,
    choices: 1,
    stops: stopsOf(body.stop_sequences ?? []),
    isReasoning: isThinking,
    asksReasoning: isThinking || (thinking?.type === 'disabled' ? false : null),
    ...effortOf(membersOf(output_config)['effort'], membersOf(thinking)['budget_tokens']),
    tool,
    hasTool: hasNamed(messagesTools(body), tool),
    conversation: conversationOf(body.metadata?.user_id, {
      system: textsOf({ content: system ?? [] }).map(withoutBilling),
      user: first === undefined ? [] : textsOf(first),
    }),
    promptWords: wordsOf(textsOf({ content: system ?? [] })) + messages.reduce(countedWords, 0),
    size: messagesSizeOf(body, { bytes, escaped, tokensMax }),
    ...(statePath === null ? null : { statePath }),
    ...filesMember(files.value),
  })
}

/**
 * Null: the call names nothing of the provider's account, and has nothing stored for later calls. A container
 * without an id is a new one.
 */
function statePathOf({ thread, container, diagnostics }: MessagesBody): string | null {
  if ((thread ?? null) !== null) return '/thread'
  if ((container ?? null) !== null) {
    if (typeof container !== 'object' || Array.isArray(container)) return '/container'
    if ((membersOf(container)['id'] ?? null) !== null) return '/container/id'
  }
  const isCompared = (membersOf(diagnostics)['previous_message_id'] ?? null) !== null
  return isCompared ? '/diagnostics/previous_message_id' : null
}

function countedWords(sum: number, message: Message): number {
  return sum + wordsOf(textsOf(message))
}

function textsOf({ content }: Pick<Message, 'content'>): readonly string[] {
  if (typeof content === 'string') return [content]
  return content.flatMap((block) => ('text' in block && typeof block.text === 'string' ? [block.text] : []))
}

function toolOf(choice: MessagesBody['tool_choice']): string | null {
  return choice?.type === 'tool' && 'name' in choice && typeof choice.name === 'string' ? choice.name : null
}
