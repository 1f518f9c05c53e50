import { setFlagsFromString } from 'node:v8'

/** V8's young generation consists of two semi-spaces, and as much for large objects. */
const SEMI_SPACES = 3

export interface ThreadHeap {
  /** MiB of the old generation. */
  readonly heapMib: number
  readonly semiSpaceMib: number
}

/** Flags that limit the process's own heap would override these; the process's heap has its limits since its start, and they no longer change. */
export function threadHeap({ heapMib, semiSpaceMib }: ThreadHeap): {
  readonly maxOldGenerationSizeMb: number
  readonly maxYoungGenerationSizeMb: number
} {
  for (const flag of ['--min-semi-space-size=0', '--max-semi-space-size=0', '--max-old-space-size=0'])
    setFlagsFromString(flag)
  return { maxOldGenerationSizeMb: heapMib, maxYoungGenerationSizeMb: SEMI_SPACES * semiSpaceMib }
}
