import { membersOf } from '../values/members.ts'
import { base64Chars } from './base64-chars.ts'
import type { ChatBody } from './chat.ts'
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

/** @param bytes of the whole body */
export function chatSizeOf(chat: ChatBody, bytes: number): TextSize {
  const { messages, response_format } = chat
  const media = { image: 0, audio: 0, video: 0, file: 0 }
  let base64 = 0
  for (const message of messages) {
    const { content } = message
    // The provider reads the sound of an earlier answer, which it has stored.
    if ((membersOf(membersOf(message)['audio'])['id'] ?? null) !== null) media.audio++
    if (!Array.isArray(content)) continue
    for (const part of content) {
      const found = MEDIA.get(part.type)
      if (found === undefined) continue
      const data = dataOf(part, found)
      const isOther = found.kind === 'image' && data !== null && !isPictureUrl(data)
      media[isOther ? 'file' : found.kind]++
      base64 += base64Chars(data, found.member === 'data')
    }
  }
  return {
    // A character of base64 has a byte, or more where it is escaped.
    promptBytesMost: Math.max(0, bytes - base64),
    messages: messages.length,
    tools: countOf(chatTools(chat)),
    hasFormat: (response_format?.type ?? 'text') !== 'text',
    serverTools: chatServerTools(chat),
    media,
    tokensMax: tokensMaxOf(chat),
  }
}

function tokensMaxOf({ max_tokens, max_completion_tokens }: ChatBody): number | null {
  const asked = Math.max(max_tokens ?? 0, max_completion_tokens ?? 0)
  return asked > 0 ? asked : null
}

function dataOf(part: { readonly type: string }, { within, member }: MediaPart): string | null {
  const content = membersOf(part)[within ?? part.type]
  if (typeof content === 'string') return content
  const data = membersOf(content)[member]
  return typeof data === 'string' ? data : null
}
