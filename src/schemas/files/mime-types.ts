export type MimeType =
  | 'application/pdf'
  | 'image/png'
  | 'image/jpeg'
  | 'image/gif'
  | 'image/webp'
  | 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
  | 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  | 'application/vnd.openxmlformats-officedocument.presentationml.presentation'
  | 'audio/mpeg'
  | 'audio/wav'
  | 'audio/flac'
  | 'audio/ogg'
  | TextType

/** The accepted types that are UTF-8 text. */
export type TextType =
  'application/json' | 'application/x-ndjson' | 'text/csv' | 'text/markdown' | 'text/plain'

/** The types of content that a stored file may have, in words. §4.7. */
export const ACCEPTED_CONTENT =
  'PDF; PNG, JPEG, GIF and WebP images; DOCX, XLSX and PPTX documents; MP3, WAV, FLAC and OGG audio; UTF-8 text'

export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'

const SIGNATURES: readonly { readonly type: ImageType; readonly isOf: (bytes: Buffer) => boolean }[] = [
  { type: 'image/png', isOf: (bytes) => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex')) },
  { type: 'image/jpeg', isOf: (bytes) => bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex')) },
  {
    type: 'image/webp',
    isOf: (bytes) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP',
  },
  { type: 'image/gif', isOf: (bytes) => /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6)) },
]

/** The type of an image by its first bytes; null: another type. */
export function imageTypeOf(bytes: Buffer): ImageType | null {
  return SIGNATURES.find(({ isOf }) => isOf(bytes))?.type ?? null
}
