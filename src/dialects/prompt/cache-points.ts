import { cacheControl } from './others.ts'
import type { CachePoint, Prompt } from './prompt.ts'

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

interface MarkedPart {
  readonly kind: string
  readonly cache: CachePoint | null
}

export function isEmptyText(part: MarkedPart & { readonly text?: string }): boolean {
  return part.kind === 'text' && part.text === ''
}

/** Removes empty parts. The cache mark of an empty part moves to the part before it. @param lost called for a mark without an earlier part */
export function speaking<P extends MarkedPart>(
  parts: readonly P[],
  isSilent: (part: P) => boolean,
  lost: () => void,
): readonly P[] {
  if (!parts.some(isSilent)) return parts
  const kept: P[] = []
  for (const part of parts) {
    const last = kept.at(-1)
    if (!isSilent(part)) kept.push(part)
    else if (part.cache !== null && last !== undefined && last.kind !== 'reasoning')
      kept[kept.length - 1] = { ...last, cache: last.cache ?? part.cache }
    else if (part.cache !== null) lost()
  }
  return kept
}

/** The `cache_control` of the whole prompt; null: none. */
export function wholeCache({ cache }: Prompt): unknown {
  return Object.values(cacheControl(cache))[0] ?? null
}
