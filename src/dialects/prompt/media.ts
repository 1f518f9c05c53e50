/** Content of media as URLs and as base64. */
import type { Media, Prompt, PromptAudio, CachePoint } from './prompt.ts'
import type { WriteTerms } from './write-terms.ts'
import type { Members } from '../../schemas/values/members.ts'
import { pointerOf } from '../../schemas/values/json-path.ts'
import { textOf } from './others.ts'
import { imageTypeOf } from '../../schemas/files/mime-types.ts'
import type { TextProtocol } from '../../schemas/models/protocols.ts'

const DATA_URL = /^data:([^;,]+)((?:;[^;,]*)*);base64,/i
/** The most characters of the head of a `data:` URL. */
const DATA_HEAD_CHARS_MAX = 256

/** The content of a URL, or a reference to it. A `data:` URL without base64 stays a URL. */
export function mediaOfUrl(url: string): Media {
  const head = DATA_URL.exec(url.slice(0, DATA_HEAD_CHARS_MAX))
  const mimeType = head?.[1]
  if (head === null || mimeType === undefined) return { kind: 'url', url }
  return inlineMedia(mimeType, url.slice(head[0].length))
}

/** Characters of base64 that contain the first bytes of a picture. */
const IMAGE_HEAD_CHARS = 16
/** Spellings of media types that clients use and providers refuse. */
const SPELLINGS: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg' }

/** Pictures are often declared with a wrong type, and providers compare it with the content. So the type is taken from the first bytes. */
export function inlineMedia(declared: string, data: string): Media {
  const named = declared.toLowerCase()
  const spelled = Object.hasOwn(SPELLINGS, named) ? (SPELLINGS[named] ?? named) : named
  const found = imageTypeOf(Buffer.from(data.slice(0, IMAGE_HEAD_CHARS), 'base64'))
  return { kind: 'base64', mimeType: found ?? spelled, data }
}

/** Null: the content is a file of which only the id is known. */
export function urlOfMedia(media: Media): string | null {
  switch (media.kind) {
    case 'base64':
      return `data:${media.mimeType};base64,${media.data}`
    case 'url':
      return media.url
    case 'file_id':
      return null
  }
}

export const PDF = 'application/pdf'
const PLAIN_TEXT = 'text/plain'
const TEXTS: ReadonlySet<string> = new Set(['application/json', 'application/x-ndjson'])

export function isTextDocument(media: Media): boolean {
  return media.kind === 'base64' && (media.mimeType.startsWith('text/') || TEXTS.has(media.mimeType))
}

/** The text of a text document; null: not a text, or the content is not available. */
export function textOfMedia(media: Media): string | null {
  if (media.kind !== 'base64' || !isTextDocument(media)) return null
  return media.text ?? Buffer.from(media.data, 'base64').toString()
}

export function mediaOfText(text: string): Media {
  return { kind: 'base64', mimeType: PLAIN_TEXT, data: Buffer.from(text).toString('base64') }
}

export interface MediumUrl {
  readonly url: string
  /** JSON pointer of its part in the caller's body. */
  readonly path: string
  /** The content must be a picture; false: it may be a document, a picture or a sound. */
  readonly isImage: boolean
}

/** Addresses that Google reads by itself: films, and files that its clients uploaded. */
const OF_GOOGLE = /^https:\/\/(?:generativelanguage\.googleapis\.com|(?:www\.|m\.)?youtube\.com|youtu\.be)\//i

const PICTURE_DATA = /^data:image\//i

/** Whether a content could be fetched from this URL. */
export function isWebAddress(url: string): boolean {
  return /^https?:/i.test(url)
}

/**
 * Whether the value of a picture's member is a picture, judged by its type or address. Google also reads
 * documents, texts and films in this member.
 * @param url an address, or the content itself
 */
export function isPictureUrl(url: string): boolean {
  return PICTURE_DATA.test(url) || (isWebAddress(url) && !OF_GOOGLE.test(url))
}

/** Each address once. */
export function urlsToFetch(
  { turns }: Prompt,
  protocol: TextProtocol,
  { isStrict }: Pick<WriteTerms, 'isStrict'>,
): readonly MediumUrl[] {
  const found = new Map<string, MediumUrl>()
  for (const turn of turns)
    for (const part of turn.parts) {
      if ((part.kind !== 'image' && part.kind !== 'file') || part.media.kind !== 'url') continue
      const { kind, media, path = pointerOf([]) } = part
      const isTaken =
        protocol === 'gemini'
          ? OF_GOOGLE.test(media.url)
          : protocol !== 'chat' || !isStrict || kind === 'image'
      if (isTaken || !isWebAddress(media.url)) continue
      const isImage = kind === 'image' || found.get(media.url)?.isImage === true
      found.set(media.url, { url: media.url, path, isImage })
    }
  return [...found.values()]
}

/** @returns null: no sound */
export function audioOf(inner: Members, located: Located): PromptAudio | null {
  const data = textOf(inner['data'])
  if (data === null) return null
  return { kind: 'audio', format: textOf(inner['format']) ?? 'wav', data, ...located }
}

/** `auto` is equivalent to a missing value. */
export function detailOf(detail: unknown): string | null {
  return detail === 'auto' ? null : textOf(detail)
}

/** @param data a URL, or base64 without a media type, which counts as a PDF */
export function fileMedia(data: string | null, id: string | null): Media | null {
  if (data === null) return id === null ? null : { kind: 'file_id', id }
  const isUrl = /^(?:data:|https?:\/\/)/i.test(data.slice(0, 'https://'.length))
  return isUrl ? mediaOfUrl(data) : { kind: 'base64', mimeType: PDF, data }
}

export function soundMembers({ data, format }: PromptAudio): Members {
  return { data, format }
}

export interface Located {
  readonly cache: CachePoint | null
  readonly path: string
}
