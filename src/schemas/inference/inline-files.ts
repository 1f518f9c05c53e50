import type { MimeType } from '../files/mime-types.ts'
import { estimatedTokens } from './counted-media.ts'
import type { FileUse } from './file-references.ts'
import type { MediaCounts, TextSize } from './text-request.ts'

/** How a request contains the content of a file: as base64 of a document, a picture or a sound, or as text. */
export type InlineForm = 'file' | 'image' | 'audio' | 'text'

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const satisfies readonly MimeType[]
const SOUNDS = ['audio/mpeg', 'audio/wav'] as const satisfies readonly MimeType[]
/** `format` of a sound in a chat, by its type. */
export const SOUND_FORMATS: Readonly<Record<string, string>> = { 'audio/mpeg': 'mp3', 'audio/wav': 'wav' }
const TEXTS = [
  'application/json',
  'application/x-ndjson',
  'text/csv',
  'text/markdown',
  'text/plain',
] as const satisfies readonly MimeType[]
const PDF: MimeType = 'application/pdf'
const OFFICE = [
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
] as const satisfies readonly MimeType[]

interface Taken {
  readonly words: string
  /** The kind as which the bound of a call counts it before the file's type is known. */
  readonly counted: keyof MediaCounts
  readonly forms: ReadonlyMap<string, InlineForm>
}

const formsOf = (
  ...forms: readonly (readonly [InlineForm, readonly MimeType[]])[]
): ReadonlyMap<string, InlineForm> =>
  new Map(forms.flatMap(([form, types]) => types.map((type) => [type, form] as const)))

const PICTURES: Taken = {
  words: 'a PNG, JPEG, GIF or WebP image',
  counted: 'image',
  forms: formsOf(['image', IMAGES]),
}

/** The media types that each use of a file accepts. In chat, a picture and a sound become parts of their own type. */
const TAKEN: Readonly<Record<FileUse, Taken>> = {
  file: {
    words: 'PDF, DOCX, XLSX, PPTX, UTF-8 text, a PNG, JPEG, GIF or WebP image, or MP3 or WAV audio',
    counted: 'file',
    forms: formsOf(['file', [PDF, ...OFFICE, ...TEXTS]], ['image', IMAGES], ['audio', SOUNDS]),
  },
  input_file: {
    words: 'PDF, DOCX, XLSX, PPTX or UTF-8 text',
    counted: 'file',
    forms: formsOf(['file', [PDF, ...OFFICE, ...TEXTS]]),
  },
  input_image: PICTURES,
  image: PICTURES,
  document: {
    words: 'PDF or UTF-8 text',
    counted: 'file',
    forms: formsOf(['file', [PDF]], ['text', TEXTS]),
  },
}

/** The form of a file; null: this use accepts no file of this type. */
export function inlineFormOf(use: FileUse, mimeType: string): InlineForm | null {
  return TAKEN[use].forms.get(mimeType) ?? null
}

export function typesTaken(use: FileUse): string {
  return TAKEN[use].words
}

/** The detail of a failure about the size of a request. */
export const WITH_FILES = 'Files count toward the size limit with their base64 size.'

/** Bytes of base64, with its padding. */
export function base64Bytes(bytes: number): number {
  return 4 * Math.ceil(bytes / 3)
}

/** Bytes that the content of a file adds to a request; for a text, a minimum, since it may need escapes. */
export function inlineBytesMin(form: InlineForm, sizeBytes: number): number {
  return form === 'text' ? sizeBytes : base64Bytes(sizeBytes)
}

export interface TypedFile {
  readonly use: FileUse
  readonly mimeType: string
  readonly sizeBytes: number
}

/**
 * The size of a call after its files were inserted: each file counts like an inline medium of its type, and a
 * document other than PDF counts like a text.
 * @param files of types that their uses take
 */
export function sizeWithFiles(size: TextSize, files: readonly TypedFile[]): TextSize {
  const media = { ...size.media }
  let promptBytesMost = size.promptBytesMost
  let { bytes, mediaTokens } = size.text
  for (const { use, mimeType, sizeBytes } of files) {
    const form = inlineFormOf(use, mimeType)
    media[TAKEN[use].counted]--
    if (form === null) continue
    // The tokens of a picture do not depend on its bytes.
    if (TAKEN[use].counted === 'file') mediaTokens -= estimatedTokens('file', null)
    if (form === 'text' || isText(mimeType)) bytes += sizeBytes
    else if (TAKEN[use].counted === 'file') mediaTokens += estimatedTokens(form, sizeBytes)
    if (form !== 'text') media[form]++
    if (form === 'text' || (form === 'file' && mimeType !== PDF))
      promptBytesMost += inlineBytesMin(form, sizeBytes)
  }
  return { ...size, promptBytesMost, text: { bytes, mediaTokens }, media }
}

function isText(mimeType: string): boolean {
  return TEXTS.some((text) => text === mimeType)
}
