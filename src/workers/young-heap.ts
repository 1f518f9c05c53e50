import { setFlagsFromString } from 'node:v8'

/** What V8 makes of the young generation: two semi-spaces, and as much for large objects. */
const SEMI_SPACES = 3

/**
 * Limit of a thread's young generation. The flags that give the process its own would override it; the process's heap
 * has it since its start and does not change any more.
 */
export function youngHeap(semiSpaceMib: number): { readonly maxYoungGenerationSizeMb: number } {
  for (const flag of ['--min-semi-space-size=0', '--max-semi-space-size=0']) setFlagsFromString(flag)
  return { maxYoungGenerationSizeMb: SEMI_SPACES * semiSpaceMib }
}
