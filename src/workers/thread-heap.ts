import { setFlagsFromString } from 'node:v8'

/** V8's young generation consists of two semi-spaces, and as much for large objects. */
const SEMI_SPACES = 3

export interface ThreadHeap {
  /** MiB of the old generation. */
  readonly heapMib: number
  readonly semiSpaceMib: number
}

/**
 * Limits from flags of the process would override these. The process's own heap was limited at its start, and later
 * changes of flags do not affect it.
 */
export function threadHeap({ heapMib, semiSpaceMib }: ThreadHeap): {
  readonly maxOldGenerationSizeMb: number
  readonly maxYoungGenerationSizeMb: number
} {
  for (const flag of ['--min-semi-space-size=0', '--max-semi-space-size=0', '--max-old-space-size=0'])
    setFlagsFromString(flag)
  return { maxOldGenerationSizeMb: heapMib, maxYoungGenerationSizeMb: SEMI_SPACES * semiSpaceMib }
}
