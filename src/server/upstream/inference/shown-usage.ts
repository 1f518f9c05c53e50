import { bytesOf } from '../../../schemas/values/pieces.ts'
import type { ShownUsage, AnswerPieces } from '../../../dialects/parts.ts'

const OPEN = Buffer.from('{')

/** An answer, or an event, with its usage. */
export function usageBetween(
  { before, told, after }: AnswerPieces,
  { whole, added }: ShownUsage,
): readonly Uint8Array[] {
  if (told === null || added === null) return [...before, Buffer.from(whole), ...after]
  const comma = bytesOf(told) === 0 ? '' : ','
  return [...before, OPEN, ...told, Buffer.from(`${comma}${added}}`), ...after]
}
