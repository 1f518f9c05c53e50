/** Content of media as URLs and as base64. */
import { imageTypeOf } from '../schemas/values/image-types.ts'
import type { Media } from './prompt.ts'

const DATA_URL = /^data:([^;,]+)((?:;[^;,]*)*);base64,/i
/** Characters in which the head of a `data:` URL ends. */
const DATA_HEAD_CHARS_MAX = 256

/** The content that a URL names, or has. A `data:` URL that is not of base64 stays a URL. */
export function mediaOfUrl(url: string): Media {
  const head = DATA_URL.exec(url.slice(0, DATA_HEAD_CHARS_MAX))
  const mimeType = head?.[1]
  if (head === null || mimeType === undefined) return { kind: 'url', url }
  return inlineMedia(mimeType, url.slice(head[0].length))
}

/** Characters of base64 that have the first bytes of a picture. */
const IMAGE_HEAD_CHARS = 16
/** Names that clients write and providers refuse. */
const SPELLINGS: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg' }

/** Pictures are often declared as another type, which providers compare with the content: the first bytes decide. */
export function inlineMedia(declared: string, data: string): Media {
  const named = declared.toLowerCase()
  const spelled = Object.hasOwn(SPELLINGS, named) ? (SPELLINGS[named] ?? named) : named
  const found = imageTypeOf(Buffer.from(data.slice(0, IMAGE_HEAD_CHARS), 'base64'))
  return { kind: 'base64', mimeType: found ?? spelled, data }
}

/** Null: the content is a file's that has an id alone. */
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

/** The text of a document that is one; null: it is none, or its content is not here. */
export function textOfMedia(media: Media): string | null {
  if (media.kind !== 'base64' || !isTextDocument(media)) return null
  return media.text ?? Buffer.from(media.data, 'base64').toString()
}

export function mediaOfText(text: string): Media {
  return { kind: 'base64', mimeType: PLAIN_TEXT, data: Buffer.from(text).toString('base64') }
}
