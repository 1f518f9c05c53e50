import { isTextDocument } from '../../../../dialects/media.ts'
import type { Media, PromptAudio, UserPart } from '../../../../dialects/prompt.ts'

/** A part of Gemini's contents. */
export type GeminiPart = Readonly<Record<string, unknown>>

/** Types by the ends of paths: an address alone does not say what is behind it. */
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  gif: 'image/gif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mpeg: 'video/mpeg',
}

/** Words of callers for sounds whose type has another name. */
const SOUNDS: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', m4a: 'audio/mp4', pcm16: 'audio/pcm' }

/** A part of the user as Gemini's: none where it has no content, or names a file that Google does not know. */
export function geminiUserPart(part: UserPart): readonly GeminiPart[] {
  switch (part.kind) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'audio':
      return [{ inlineData: { mimeType: soundType(part), data: part.data } }]
    case 'image':
    case 'video':
    case 'file':
      return mediaPart(part.media)
  }
}

function mediaPart(media: Media): readonly GeminiPart[] {
  switch (media.kind) {
    case 'base64':
      return [{ inlineData: { mimeType: inlineType(media), data: media.data } }]
    case 'url':
      return [{ fileData: { ...typeOfUrl(media.url), fileUri: media.url } }]
    case 'file_id':
      return []
  }
}

/** Of texts, Google takes those that are called so. */
function inlineType(media: Extract<Media, { readonly kind: 'base64' }>): string {
  const isText = isTextDocument(media) && !media.mimeType.startsWith('text/')
  return isText ? 'text/plain' : media.mimeType
}

function soundType({ format }: PromptAudio): string {
  return Object.hasOwn(SOUNDS, format) ? (SOUNDS[format] ?? '') : `audio/${format}`
}

function typeOfUrl(url: string): { readonly mimeType?: string } {
  const end = /\.(\w{2,5})(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? ''
  const mimeType = Object.hasOwn(TYPES, end) ? TYPES[end] : undefined
  return mimeType === undefined ? {} : { mimeType }
}
