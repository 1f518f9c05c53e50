import { imageTypeOf } from '../../../../schemas/values/image-types.ts'

/** First bytes of a medium by which its type is known: readers of PDF look for its mark in so many. */
export const MEDIUM_HEAD_BYTES = 1_024

/**
 * The type of a medium by its first bytes: what its host says of it may be anything. Null: it is neither a
 * picture, a PDF, an MP3 nor a WAV.
 */
export function mediumTypeOf(head: Buffer): string | null {
  const image = imageTypeOf(head)
  if (image !== null) return image
  const text = head.toString('latin1')
  if (text.startsWith('RIFF') && text.startsWith('WAVE', 8)) return 'audio/wav'
  if (text.startsWith('ID3') || isMp3Frame(head)) return 'audio/mpeg'
  return text.includes('%PDF-') ? 'application/pdf' : null
}

/** The head of a frame: eleven set bits, a version and a layer. */
function isMp3Frame([first = 0, second = 0]: Uint8Array): boolean {
  return first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x18) !== 0x08 && (second & 0x06) !== 0
}
