/** Parts that are written in several turns of the loop. */
import t from 'tap'
import { PART_UNITS } from '../../../../src/dialects/part-queue.ts'
import {
  areLarge,
  SLICE_UNITS_MAX,
  slicesOf,
} from '../../../../src/server/upstream/inference/sliced-parts.ts'
import { joinedParts } from '../../../support/inference/cut-parts.ts'
import type { WrittenPart } from '../../../../src/dialects/parts.ts'

const stated = (text: string): WrittenPart => ({ kind: 'text', choice: 0, text })

t.test('long texts are split, and no part is lost or moved', (t) => {
  const parts: readonly WrittenPart[] = [
    stated('a'.repeat(3 * SLICE_UNITS_MAX + 5)),
    { kind: 'tool', choice: 0, id: 'c1', name: 'f' },
    { kind: 'arguments', choice: 0, text: `${'b'.repeat(SLICE_UNITS_MAX - 1)}😀` },
  ]
  t.ok(areLarge(parts))
  const slices = [...slicesOf(parts)]
  t.same(joinedParts(slices.flat()), parts)
  for (const slice of slices)
    for (const part of slice)
      if ('text' in part) {
        t.ok(part.text.length <= SLICE_UNITS_MAX)
        t.ok(part.text.isWellFormed(), 'no character is cut')
      }
  t.end()
})

t.test('many small parts together count as large, and a few do not', (t) => {
  const count = SLICE_UNITS_MAX / PART_UNITS
  const many = Array.from({ length: 2 * count }, () => stated('a'))
  t.ok(areLarge(many))
  t.ok([...slicesOf(many)].every((slice) => slice.length <= count))
  t.notOk(areLarge(many.slice(0, count / 2)))
  t.end()
})
