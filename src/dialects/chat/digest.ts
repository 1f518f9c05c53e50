import { ok, type Outcome } from '../../schemas/failures.ts'
import { membersOf, isObject, type Members } from '../../schemas/values/members.ts'
import type { ChatBody, ChatMessage } from '../../schemas/inference/chat.ts'
import { conversationOf } from '../../schemas/inference/conversation.ts'
import { chatFiles, filesMember } from '../../schemas/inference/file-references.ts'
import {
  asksReasoning,
  effortOf,
  commonInputOf,
  comparedPathOf,
  refusedOf,
  repeatedOf,
  stopsOf,
  wantsReasoning,
  wordsOf,
  formOf,
} from '../text-digest.ts'
import type { TextInput, MediaCounts, TextSize } from '../../schemas/inference/text-request.ts'
import { namesContent, namesContentBeside } from '../account-contents.ts'
import { CountedMedia } from '../../schemas/inference/counted-media.ts'
import { chatServerTools, chatTools, hasNamed, countOf } from '../../schemas/inference/server-tools.ts'
import { isPictureUrl } from '../prompt/media.ts'

/**
 * @param body has passed the schema
 * @param bytes of the whole body
 * @param escaped those of `bytes` that escapes take beyond their characters
 * Failure: not_supported, with the member as its issue.
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

type Kind = keyof MediaCounts

interface MediaPart {
  readonly kind: Kind
  /** The member of the part that has its content, unless it has the name of the type. */
  readonly within?: string
  /** The member of the content that has the data. */
  readonly member: string
}

const MEDIA: ReadonlyMap<string, MediaPart> = new Map([
  ['image_url', { kind: 'image', member: 'url' }],
  ['input_audio', { kind: 'audio', member: 'data' }],
  ['video_url', { kind: 'video', member: 'url' }],
  ['input_video', { kind: 'video', within: 'video_url', member: 'url' }],
  ['file', { kind: 'file', member: 'file_data' }],
])

/** Types of text parts, with the members that hold the text or a list of parts. */
const TEXTS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  ['text', 'refusal', 'thinking', 'reasoning'].map((type) => [type, new Set([type])]),
)

/** @param bytes of the whole body @param escaped those of `bytes` that escapes take beyond their characters */
export function chatSizeOf(chat: ChatBody, bytes: number, escaped = 0): TextSize {
  const { messages, response_format } = chat
  const media = new CountedMedia()
  for (const [nth, message] of messages.entries()) addMessage(media, message, `/messages/${nth}`)
  return {
    messages: messages.length,
    ...media.sizes(bytes, escaped),
    tools: countOf(chatTools(chat)),
    hasFormat: (response_format?.type ?? 'text') !== 'text',
    serverTools: chatServerTools(chat),
    tokensMax: tokensMaxOf(chat),
  }
}

/** Members of a message that are counted by themselves. */
const COUNTED: ReadonlySet<string> = new Set(['content', 'images', 'audio'])

function addMessage(media: CountedMedia, message: Members, at: string): void {
  const { content, images, audio }: Members = message
  // The provider reads the sound of an earlier answer, which it has stored.
  if ((membersOf(audio)['id'] ?? null) !== null) media.add('audio', null)
  else if (namesContentBeside(membersOf(audio))) media.add('file', null)
  // Some servers also read the pictures in this member, which models made in earlier turns.
  addImages(media, images ?? [])
  if (Array.isArray(content))
    for (const [place, part] of content.entries()) addPart(media, membersOf(part), `${at}/content/${place}`)
  if (namesContentBeside(message, COUNTED)) media.add('file', null)
}

/** @param images a list of parts, of addresses or of base64, or an object with some */
function addImages(media: CountedMedia, images: unknown): void {
  if (isObject(images) && !MEDIA.has(String(images['type']))) return addImages(media, Object.values(images))
  for (const image of Array.isArray(images) ? (images as readonly unknown[]) : [images])
    if (isObject(image) && MEDIA.has(String(image['type']))) addPart(media, image, null)
    else media.add('image', null)
}

/** @param at its JSON pointer; null: a model made it in an earlier turn */
function addPart(media: CountedMedia, part: Members, at: string | null): void {
  const type = String(part['type'])
  const found = MEDIA.get(type)
  if (found === undefined) return addOther(media, part)
  const inner = part[found.within ?? type]
  const data = dataOf(inner, found)
  const isOther = found.kind === 'image' && data !== null && !isPictureUrl(data)
  const isSmall = membersOf(inner)['detail'] === 'low'
  const isHere = at !== null && data !== null
  media.add(isOther ? 'file' : found.kind, data, {
    isBare: found.member === 'data',
    isSmall,
    ...(isHere && { at: { name: found.kind, path: at } }),
  })
}

/** A text, whose parts may be of other types, or a part of an unknown type. */
function addOther(media: CountedMedia, part: Members): void {
  const type = String(part['type'])
  if (!TEXTS.has(type)) {
    if (namesContent(part)) media.add('file', null)
    return
  }
  const within = part[type]
  const parts: readonly unknown[] | null = Array.isArray(within) ? within : null
  for (const inner of parts ?? []) addPart(media, membersOf(inner), null)
  if (namesContentBeside(part, parts === null ? undefined : TEXTS.get(type))) media.add('file', null)
}

function tokensMaxOf({ max_tokens, max_completion_tokens }: ChatBody): number | null {
  const asked = Math.max(max_tokens ?? 0, max_completion_tokens ?? 0)
  return asked > 0 ? asked : null
}

function dataOf(content: unknown, { member }: MediaPart): string | null {
  if (typeof content === 'string') return content
  const data = membersOf(content)[member]
  return typeof data === 'string' ? data : null
}
