import { membersOf, type Members } from '../../schemas/values/members.ts'
import { pointerOf, type JsonPath } from '../../schemas/values/json-path.ts'
import { isEmptyText, speaking } from '../cache-points.ts'
import { mediaOfUrl, PDF, urlOfMedia } from '../media.ts'
import { cacheControl, cachePointOf, textOf, type Others } from '../others.ts'
import type { CachePoint, Media, PromptAudio, PromptRefusal, PromptText, UserPart } from '../prompt.ts'
import { usedMembers } from '../table/nested-table.ts'

export type ChatPart = UserPart | PromptRefusal

/** The member of each type of part that has its content. */
const CONTENTS: Readonly<Record<string, string>> = {
  text: 'text',
  refusal: 'refusal',
  image_url: 'image_url',
  input_audio: 'input_audio',
  file: 'file',
  video_url: 'video_url',
  input_video: 'video_url',
}
const NONE: ReadonlySet<string> = new Set()
const USED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(CONTENTS).map(([type, name]) => [name, usedMembers('chat', 'parts', { type })]),
)
const INNER: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  ['image_url', 'input_audio', 'file', 'video_url'].map((type) => [
    type,
    usedMembers('chat', 'parts', { type, inner: type }),
  ]),
)

/** Parts of a message. Empty texts say nothing, and some providers refuse them. */
export function readChatContent(content: unknown, path: JsonPath, others: Others): readonly ChatPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content, cache: null }]
  if (!Array.isArray(content)) return []
  const parts = (content as readonly unknown[]).flatMap((part, nth) => {
    const read = readPart(membersOf(part), [...path, nth], others)
    if (read === null) others.add('messages.content', [...path, nth])
    return read ?? []
  })
  return speaking(parts, isEmptyText, () => others.add('cache_control', path))
}

/** Null: the form has no such part. */
function readPart(part: Members, path: JsonPath, others: Others): ChatPart | null {
  const type = String(part['type'])
  const name = Object.hasOwn(CONTENTS, type) ? CONTENTS[type] : undefined
  if (name === undefined) return null
  others.addRest(part, USED.get(name) ?? NONE, { path })
  const inner = membersOf(part[name])
  const used = INNER.get(name)
  if (used !== undefined) others.addRest(inner, used, { path: [...path, name] })
  const cache = cachePointOf(part['cache_control'] ?? part['prompt_cache_breakpoint'])
  const located = { cache, path: pointerOf(path) }
  const url = textOf(part[name]) ?? textOf(inner['url'])
  switch (name) {
    case 'text':
      return url === null ? null : { kind: 'text', text: url, cache }
    case 'refusal':
      return url === null ? null : { kind: 'refusal', text: url, cache }
    case 'image_url':
      return url === null
        ? null
        : { kind: 'image', media: mediaOfUrl(url), detail: detailOf(inner['detail']), ...located }
    case 'video_url':
      return url === null ? null : { kind: 'video', media: mediaOfUrl(url), ...located }
    case 'input_audio':
      return audioOf(inner, located)
    default:
      if (textOf(inner['file_data']) !== null)
        others.addUnread('file_id', inner['file_id'], [...path, name, 'file_id'])
      return fileOf(inner, located)
  }
}

interface Located {
  readonly cache: CachePoint | null
  readonly path: string
}

/** @returns null: there is no sound */
export function audioOf(inner: Members, located: Located): PromptAudio | null {
  const data = textOf(inner['data'])
  if (data === null) return null
  return { kind: 'audio', format: textOf(inner['format']) ?? 'wav', data, ...located }
}

/** `auto` is the same as nothing. */
export function detailOf(detail: unknown): string | null {
  return detail === 'auto' ? null : textOf(detail)
}

function fileOf(inner: Members, located: Located): ChatPart | null {
  const media = fileMedia(textOf(inner['file_data']), textOf(inner['file_id']))
  return media === null ? null : { kind: 'file', media, filename: textOf(inner['filename']), ...located }
}

/** @param data a URL, or base64 alone, which is taken for a PDF */
export function fileMedia(data: string | null, id: string | null): Media | null {
  if (data === null) return id === null ? null : { kind: 'file_id', id }
  const isUrl = /^(?:data:|https?:\/\/)/i.test(data.slice(0, 'https://'.length))
  return isUrl ? mediaOfUrl(data) : { kind: 'base64', mimeType: PDF, data }
}

/** A part as chat has it. @param isCut the provider takes places of its cache */
export function writeChatPart(part: ChatPart, isCut: boolean): Members {
  const content = contentOf(part)
  return isCut && part.cache !== null ? { ...content, ...cacheControl(part.cache) } : content
}

function contentOf(part: ChatPart): Members {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'refusal':
      return { type: 'refusal', refusal: part.text }
    case 'image':
      return {
        type: 'image_url',
        image_url: { url: urlOf(part.media), ...(part.detail !== null && { detail: part.detail }) },
      }
    case 'audio':
      return { type: 'input_audio', input_audio: soundMembers(part) }
    case 'video':
      return { type: 'video_url', video_url: { url: urlOf(part.media) } }
    case 'file':
      return { type: 'file', file: fileMember(part.media, part.filename) }
  }
}

export function soundMembers({ data, format }: PromptAudio): Members {
  return { data, format }
}

/** An id has no URL: such a request is refused. */
function urlOf(media: Media): string {
  return urlOfMedia(media) ?? ''
}

function fileMember(media: Media, filename: string | null): Members {
  const named = filename !== null && { filename }
  return media.kind === 'file_id' ? { file_id: media.id, ...named } : { ...named, file_data: urlOf(media) }
}

/** Whether all of the parts are texts. */
export function areTexts(parts: readonly { readonly kind: string }[]): parts is readonly PromptText[] {
  return parts.every(({ kind }) => kind === 'text')
}
