import { cacheControl } from './others.ts'
import type { Prompt } from './prompt.ts'

/** Whether the caller marks a place up to which the prompt may be cached. */
export function hasCachePoint({ cache, tools, turns }: Prompt): boolean {
  return (
    cache !== null ||
    tools.some((tool) => tool.cache !== null) ||
    turns.some(
      (turn) =>
        (turn.role === 'tool' && turn.cache !== null) || turn.parts.some((part) => part.cache !== null),
    )
  )
}

/** The same place for the whole prompt. */
export function wholeCache({ cache }: Prompt): unknown {
  return Object.values(cacheControl(cache))[0] ?? null
}
