/** The fate of a field, by the request with it and the request without it. */
import { isDeepStrictEqual } from 'node:util'

/** A request as its provider got it, or why it got none. */
export interface Seen {
  /** Null: no provider was called. */
  readonly body: Readonly<Record<string, unknown>> | null
  /** Members that were named as dropped. */
  readonly dropped: readonly string[]
  /** JSON pointers of what was refused. */
  readonly refused: readonly string[]
}

export interface Verdict {
  /** One of them, where all is well. */
  readonly classes: readonly ('mapped' | 'dropped' | 'refused')[]
  /** Top-level members of the provider's request that differ. */
  readonly changed: readonly string[]
  /** What was named because of the field. */
  readonly named: readonly string[]
  /** The object around it is dropped, or refused, as a whole. */
  readonly isWithin?: boolean
}

export function verdictOf(withField: Seen, without: Seen): Verdict {
  const named = withField.dropped.filter((name) => !without.dropped.includes(name))
  if (withField.body === null) {
    const isReported = withField.refused.length > 0
    return { classes: isReported ? ['refused'] : [], changed: [], named, isWithin: without.body === null }
  }
  const changed = changedIn(withField.body, without.body ?? {})
  // A member of what is dropped as a whole is named with it.
  const isWithin = changed.length + named.length === 0 && without.dropped.length > 0
  if (isWithin) return { classes: ['dropped'], changed, named: without.dropped, isWithin }
  return {
    classes: [
      ...(changed.length > 0 ? ['mapped' as const] : []),
      ...(named.length > 0 ? ['dropped' as const] : []),
    ],
    changed,
    named,
  }
}

type Body = Readonly<Record<string, unknown>>

function changedIn(one: Body, other: Body): readonly string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].filter((name) => !isDeepStrictEqual(one[name], other[name]))
}
