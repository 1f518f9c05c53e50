import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { mentionsPreset } from '../../schemas/presets/preset-references.ts'
import { membersOf, type Members } from '../../schemas/values/members.ts'
import { conversationOf, withoutBilling } from '../../schemas/inference/conversation.ts'
import { messagesFiles, filesMember } from '../../schemas/inference/file-references.ts'
import type { Message, MessagesBody } from '../../schemas/inference/messages.ts'
import { commonInputOf, effortOf, refusedOf, repeatedOf, stopsOf, wordsOf, formOf } from '../text-digest.ts'
import type { TextInput, PlacedModality, TextSize } from '../../schemas/inference/text-request.ts'
import { namesContent, namesContentBeside } from '../account-contents.ts'
import { CountedMedia, isTextType } from '../../schemas/inference/counted-media.ts'
import {
  messagesServerTools,
  hasNamed,
  messagesTools,
  countOf,
} from '../../schemas/inference/server-tools.ts'
import { isPictureUrl } from '../prompt/media.ts'

/**
 * The parts of the body of POST /messages that Sluice uses.
 * @param body has passed the schema
 * @param bytes of the whole body
 * @param escaped those of `bytes` that escapes take beyond their characters
 * Failures: body_invalid (no `max_tokens`, which providers of messages require), not_supported, with the
 * member as its issue.
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

/** As `messagesInputOf`, for POST /messages/count_tokens, which generates no output. */
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
 * Null: the call neither refers to the provider's account nor stores anything for later calls. A container
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

type Prompt = Pick<
  MessagesBody,
  'messages' | 'system' | 'tools' | 'mcp_servers' | 'output_config' | 'output_format' | 'thread'
>

/** As `chatSizeOf`. */
export function messagesSizeOf(
  body: Prompt,
  of: { readonly bytes: number; readonly escaped?: number; readonly tokensMax: number | null },
): TextSize {
  const { bytes, escaped = 0, tokensMax } = of
  const { messages, system, output_config, output_format } = body
  const media = new Media()
  media.addAll(system, '/system')
  for (const [nth, message] of messages.entries()) {
    media.addAll(message.content, `/messages/${nth}/content`)
    media.addBeside(message)
  }
  const format = output_config?.format ?? output_format ?? null
  return {
    messages: messages.length,
    ...media.counted.sizes(bytes, escaped),
    tools: countOf(messagesTools(body)),
    hasFormat: format !== null,
    serverTools: messagesServerTools(body),
    tokensMax,
    // Only a new thread has all its input in this request.
    hasStored: (body.thread ?? null) !== null && membersOf(body.thread)['type'] !== 'create',
  }
}

/** Types of blocks that are texts or contain known blocks; all other blocks may refer to content elsewhere. */
const KNOWN =
  /^(?:text|thinking|redacted_thinking|compaction|tool_reference|(?:\w+_)?tool_use|\w+_(?:result|output))$/

/** Those of KNOWN that contain only texts. */
const TEXTS = /^(?:text|thinking|redacted_thinking|compaction)$/

const CONTENT: ReadonlySet<string> = new Set(['content'])

/** Pictures and documents, also in the results of tools. */
class Media {
  readonly counted = new CountedMedia()

  /** @param content of a message, of a tool's result or of a document @param at its JSON pointer */
  addAll(content: unknown, at: string): void {
    if (Array.isArray(content))
      for (const [nth, block] of content.entries()) this.#add(membersOf(block), `${at}/${nth}`)
  }

  #add(block: Members, at: string): void {
    const { type, source, content } = block
    if (type === 'image') this.#picture(membersOf(source), at)
    else if (type === 'document') this.#document(membersOf(source), at)
    // A tool reads this file, not the model.
    else if (type === 'container_upload') this.counted.counts.file++
    else if (!KNOWN.test(String(type)) && namesContent(block)) this.counted.add('file', null)
    else {
      this.addAll(content, `${at}/content`)
      if (TEXTS.test(String(type))) this.addBeside(block)
    }
  }

  /** @param object a turn, or a block of text */
  addBeside(object: Members): void {
    if (namesContentBeside(object, CONTENT)) this.counted.add('file', null)
  }

  #picture(source: Members, at: string): void {
    const { type, media_type, url } = source
    const content = type === 'base64' ? `data:${String(media_type)}` : type === 'url' ? url : null
    const isOther = typeof content === 'string' && !isPictureUrl(content)
    this.#counted(isOther ? 'file' : 'image', source, { name: 'image', path: at })
  }

  #document(source: Members, at: string): void {
    // The bytes of its text are in the body and already counted.
    if (source['type'] === 'text') return
    if (source['type'] === 'content') this.addAll(source['content'], `${at}/source/content`)
    else this.#counted('file', source, { name: 'file', path: at })
  }

  #counted(kind: 'image' | 'file', { type, data, media_type: mimeType }: Members, at: PlacedModality): void {
    const isInline = type === 'base64' && typeof data === 'string'
    const isHere = type === 'url' || (isInline && !isTextType(mimeType))
    this.counted.add(kind, isInline ? data : null, { isBare: isInline, ...(isHere && { at }) })
  }
}
