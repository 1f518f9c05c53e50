import { h, type ComponentChild } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'

export interface Loaded<T> {
  /** The last answer; undefined before the first. It stays while the next one loads. */
  readonly value: T | undefined
  readonly problem: string | null
  readonly isLoading: boolean
  reload(): void
}

/**
 * Loads when shown, when an input changes and on request. Obsolete loads are aborted, and so are all loads in
 * progress when the page is left.
 */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({
    value: undefined,
    problem: null,
    isLoading: true,
  })
  const [round, setRound] = useState(0)
  useEffect(() => {
    const wanted = new AbortController()
    setState((last) => ({ ...last, isLoading: true }))
    load(wanted.signal).then(
      (value) => wanted.signal.aborted || setState({ value, problem: null, isLoading: false }),
      (problem: unknown) =>
        wanted.signal.aborted ||
        setState((last) => ({ ...last, problem: messageOf(problem), isLoading: false })),
    )
    return () => wanted.abort()
  }, [...inputs, round])
  return { ...state, reload: () => setRound((last) => last + 1) }
}

/** Shown instead of a missing value: the loading state or the error. Null when the value is present. */
export function Awaited({ value, problem, reload }: Loaded<unknown>): ComponentChild | null {
  if (problem !== null)
    return (
      <div class="notice bad" role="alert">
        <p>{problem}</p>
        <button type="button" onClick={reload}>
          Try again
        </button>
      </div>
    )
  return value === undefined ? (
    <p class="waiting" role="status">
      Loading…
    </p>
  ) : null
}
