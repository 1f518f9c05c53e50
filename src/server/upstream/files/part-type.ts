import type { MimeType } from '../../../schemas/files/mime-types.ts'
import { UNKNOWN_TYPE } from './protocol.ts'

/** The types of §4.7 by the extension of a file's name. */
const TYPES: ReadonlyMap<string, MimeType> = new Map([
  ['pdf', 'application/pdf'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['ogg', 'audio/ogg'],
  ['json', 'application/json'],
  ['jsonl', 'application/x-ndjson'],
  ['ndjson', 'application/x-ndjson'],
  ['csv', 'text/csv'],
  ['md', 'text/markdown'],
  ['txt', 'text/plain'],
])

/**
 * The content type of a form's part. Anthropic keeps that as the file's type. Sluice knows the type of the
 * content only after its last byte, when the part has long begun.
 */
export function partType(filename: string): string {
  return TYPES.get(filename.slice(filename.lastIndexOf('.') + 1).toLowerCase()) ?? UNKNOWN_TYPE
}
