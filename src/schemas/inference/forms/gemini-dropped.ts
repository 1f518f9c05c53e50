import { hasCachePoint } from './cache-points.ts'
import { isRefused } from './needs.ts'
import type { Prompt, Turn } from './prompt.ts'

/** A member of the form, with the name of it in requests and the value that changes nothing. */
type Tuned = readonly [name: string, value: unknown, ...defaults: readonly unknown[]]

/** Members that Gemini has no field for, as `x-sluice-dropped` names them. D6. */
export function geminiDropped(prompt: Prompt): readonly string[] {
  const { tuning, tools, isParallel, others } = prompt
  const tuned: readonly Tuned[] = [
    ['min_p', tuning.minP, 0],
    ['top_a', tuning.topA, 0],
    ['repetition_penalty', tuning.repetitionPenalty, 1],
    ['logit_bias', emptied(tuning.logitBias)],
    ['verbosity', tuning.verbosity, 'medium'],
    ['service_tier', tuning.serviceTier, 'auto', 'default'],
    ['prompt_cache_key', tuning.cacheKey],
    ['user', tuning.user],
    ['metadata', emptied(tuning.metadata)],
    ['parallel_tool_calls', tools.length > 0 ? isParallel : null, true],
    ['strict', tools.some(({ isStrict }) => isStrict === true), false],
    // Google caches by itself; the caller's own places have no words there.
    ['cache_control', hasCachePoint(prompt), false],
    ['detail', hasDetail(prompt.turns), false],
    ['filename', hasFilename(prompt.turns), false],
  ]
  const kept = others.filter((other) => !isRefused(prompt, other))
  const named = tuned.filter(([, value, ...defaults]) => value !== null && !defaults.includes(value))
  return [...named.map(([name]) => name), ...kept.map(({ name }) => name)]
}

function emptied(members: Readonly<Record<string, unknown>> | null): unknown {
  return members === null || Object.keys(members).length === 0 ? null : members
}

function hasDetail(turns: readonly Turn[]): boolean {
  return turns.some(({ parts }) =>
    parts.some((part) => part.kind === 'image' && part.detail !== null && part.detail !== 'auto'),
  )
}

function hasFilename(turns: readonly Turn[]): boolean {
  return turns.some(({ parts }) => parts.some((part) => part.kind === 'file' && part.filename !== null))
}
