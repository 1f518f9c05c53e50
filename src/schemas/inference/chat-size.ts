import { membersOf } from '../values/members.ts'
import { namesContent } from './account-contents.ts'
import type { ChatBody } from './chat.ts'
import { CountedMedia } from './counted-media.ts'
import { chatTools, countOf } from './declared-tools.ts'
import { isPictureUrl } from './forms/contents/fetched-urls.ts'
import { chatServerTools } from './server-tools.ts'
import type { MediaCounts, TextSize } from './text-request.ts'

type Kind = keyof MediaCounts
interface MediaPart {
  readonly kind: Kind
  /** The member of the part that has its content, where that is not named as its type. */
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

/** Parts that are texts, whatever these say. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'refusal', 'thinking', 'reasoning'])

/**
 * @param bytes of the whole body
 * @param escaped of them, bytes that escapes take beyond their characters
 */
export function chatSizeOf(chat: ChatBody, bytes: number, escaped = 0): TextSize {
  const { messages, response_format } = chat
  const media = new CountedMedia()
  for (const [nth, message] of messages.entries()) {
    const { content } = message
    // The provider reads the sound of an earlier answer, which it has stored.
    if ((membersOf(membersOf(message)['audio'])['id'] ?? null) !== null) media.add('audio', null)
    // Some servers read pictures there, which models wrote in earlier turns.
    const { images } = membersOf(message)
    if (Array.isArray(images)) for (const _ of images) media.add('image', null)
    if (!Array.isArray(content)) continue
    for (const [place, part] of content.entries()) {
      const found = MEDIA.get(part.type)
      if (found === undefined) {
        if (!TEXTS.has(part.type) && namesContent(part)) media.add('file', null)
        continue
      }
      const inner = membersOf(part)[found.within ?? part.type]
      const data = dataOf(inner, found)
      const isOther = found.kind === 'image' && data !== null && !isPictureUrl(data)
      const isSmall = membersOf(inner)['detail'] === 'low'
      const at =
        data === null ? null : { at: { name: found.kind, path: `/messages/${nth}/content/${place}` } }
      media.add(isOther ? 'file' : found.kind, data, { isBare: found.member === 'data', isSmall, ...at })
    }
  }
  return {
    ...media.sizes(bytes, escaped),
    messages: messages.length,
    tools: countOf(chatTools(chat)),
    hasFormat: (response_format?.type ?? 'text') !== 'text',
    serverTools: chatServerTools(chat),
    tokensMax: tokensMaxOf(chat),
  }
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
