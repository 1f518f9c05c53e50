import { unitsOf } from '../../../dialects/part-queue.ts'
import type { WrittenPart } from '../../../dialects/parts.ts'

/** UTF-16 units of parts that are written in one turn of the loop, in about a millisecond. Decision. */
export const SLICE_UNITS_MAX = 65_536
const [HIGH_SURROGATE, LOW_SURROGATE] = [0xd800, 0xdc00] as const

/** Whether the parts are too large to be written in one turn of the loop. */
export function areLarge(parts: readonly WrittenPart[]): boolean {
  let units = 0
  for (const part of parts) units += unitsOf(part)
  return units > SLICE_UNITS_MAX
}

/** The same answer in lists of parts; each list is written in one turn. Long texts are cut into fragments. */
export function* slicesOf(parts: readonly WrittenPart[]): Generator<readonly WrittenPart[]> {
  let slice: WrittenPart[] = []
  let units = 0
  for (const part of parts)
    for (const fragment of fragmentsOf(part)) {
      slice.push(fragment)
      units += unitsOf(fragment)
      if (units < SLICE_UNITS_MAX) continue
      yield slice
      slice = []
      units = 0
    }
  if (slice.length > 0) yield slice
}

function* fragmentsOf(part: WrittenPart): Generator<WrittenPart> {
  if (!('text' in part) || part.text.length <= SLICE_UNITS_MAX) return yield part
  const { text } = part
  for (let at = 0; at < text.length;) {
    const end = endOfFragment(text, at)
    yield { ...part, text: text.slice(at, end) }
    at = end
  }
}

/** Never splits a character: clients decode each fragment separately. */
function endOfFragment(text: string, from: number): number {
  const end = from + SLICE_UNITS_MAX
  const last = text.charCodeAt(end - 1)
  return last >= HIGH_SURROGATE && last < LOW_SURROGATE ? end - 1 : end
}
