/** Generated values, so many at a time: all of a run would fill the memory. */
import fc from 'fast-check'
import type { Proof } from '../../../proof.ts'

const BATCH = 500
const SHOWN_CHARS = 2_000

/** Values of the proof's seed. */
export function inBatches<T>(
  proof: Pick<Proof, 'random'>,
  values: fc.Arbitrary<T>,
  count: number,
  each: (value: T) => void,
): void {
  for (let left = count; left > 0; left -= BATCH) {
    const seed = proof.random(2 ** 31)
    for (const value of fc.sample(values, { numRuns: Math.min(left, BATCH), seed })) each(value)
  }
}

export function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, SHOWN_CHARS)
}
