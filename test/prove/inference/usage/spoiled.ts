/** What providers write where a count should be. */
import { REPORTED_TOKENS_MAX } from '../../../../src/schemas/inference/token-limits.ts'
import type { Members } from './tellings.ts'

/** JSON has no word for the last: the member is missing. */
const NO_COUNTS: readonly unknown[] = [
  ...[-1, -0.5, 0.5, 1e300, REPORTED_TOKENS_MAX + 1, '9', '', null, true, [], {}, undefined],
]

export interface Spoiled {
  readonly usage: object
  /** Of the member that is not a count any more. */
  readonly name: string
}

/** The usage with one figure, anywhere, that is not a count. */
export function spoiled(usage: object, random: (below: number) => number): Spoiled {
  const paths = pathsIn(usage)
  const path = paths[random(paths.length)] ?? []
  const copy = structuredClone(usage) as Record<string, unknown>
  const inner = path
    .slice(0, -1)
    .reduce<Record<string, unknown>>((value, name) => value[name] as Record<string, unknown>, copy)
  const name = path.at(-1) ?? ''
  inner[name] = NO_COUNTS[random(NO_COUNTS.length)]
  return { usage: copy, name }
}

function pathsIn(value: unknown): readonly (readonly string[])[] {
  if (typeof value === 'number') return [[]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value as Members).flatMap(([name, member]) =>
    pathsIn(member).map((path) => [name, ...path]),
  )
}
