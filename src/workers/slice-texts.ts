import type { EmbeddingInput } from '../schemas/embeddings/embeddings.ts'
import { LEXICAL_TEXT_UNITS_MAX } from '../schemas/embeddings/embedding-limits.ts'
import type { ShortJobTypes } from '../server/ports/short-jobs.ts'
import { KIB } from '../schemas/limits/limits.ts'

/**
 * Numbers that one job of `sluice/lexical-1` makes, in about 50 ms; a single text may need more. Decision.
 */
export const LEXICAL_SLICE_NUMBERS = 128 * KIB
/** UTF-16 units of the texts of one job of `sluice/lexical-1`; a single text may have more. Decision. */
export const LEXICAL_SLICE_UNITS = 32 * KIB

type Slicing = ShortJobTypes['slice_texts']

/** Cuts the texts of a call into slices that `embed_lexical` takes one by one; bytes become bytes again. */
export function sliceTexts({ input, dimensions }: Slicing['in']): Slicing['out'] {
  const isBytes = input instanceof Uint8Array
  const value = isBytes ? (JSON.parse(new TextDecoder().decode(input)) as EmbeddingInput) : input
  const texts: readonly (string | null)[] = typeof value === 'string' ? [value] : value.map(textOf)
  if (!isText(texts)) return { ok: false, longAt: null }
  const longAt = texts.findIndex((text) => text.length > LEXICAL_TEXT_UNITS_MAX)
  if (longAt !== -1) return { ok: false, longAt }
  const slices: { texts: readonly string[] | Uint8Array; count: number }[] = []
  for (let from = 0; from < texts.length;) {
    const slice = texts.slice(from, endOfSlice(texts, from, dimensions))
    from += slice.length
    slices.push({
      texts: isBytes ? new TextEncoder().encode(JSON.stringify(slice)) : slice,
      count: slice.length,
    })
  }
  return { ok: true, slices }
}

/** The parts of one input are one text; null for an input with other parts, or without text. */
function textOf(input: EmbeddingInput[number]): string | null {
  if (typeof input === 'string') return input
  if (typeof input === 'number' || !('content' in input)) return null
  const texts = input.content.map((part) => (part.type === 'text' ? part.text : null))
  return isText(texts) ? texts.join('\n') : null
}

function isText(texts: readonly (string | null)[]): texts is readonly string[] {
  return !texts.includes(null)
}

/** As many texts as one job may hold the thread with, at least one. */
function endOfSlice(texts: readonly string[], from: number, dimensions: number): number {
  const endMax = from + Math.max(1, Math.floor(LEXICAL_SLICE_NUMBERS / dimensions))
  let end = from
  let units = 0
  do units += texts[end++]?.length ?? 0
  while (end < Math.min(endMax, texts.length) && units + (texts[end]?.length ?? 0) <= LEXICAL_SLICE_UNITS)
  return end
}
