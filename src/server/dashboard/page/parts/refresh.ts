import { useEffect, useRef } from 'preact/hooks'
import type { Loaded } from './loaded.tsx'

/** Milliseconds between two loads of data that may still change. */
const REFRESH_MS = 4_000

/** Reloads regularly while the data may still change and the page is visible. */
export function useRefresh(
  isMoving: boolean,
  loaded: Pick<Loaded<unknown>, 'isLoading' | 'reload'>,
  everyMs = REFRESH_MS,
): void {
  const latest = useRef(loaded)
  latest.current = loaded
  useEffect(() => {
    if (!isMoving) return undefined
    const look = (): void => {
      // A new load would abort the one in progress, so that answers slower than the interval would never be
      // shown.
      if (!document.hidden && !latest.current.isLoading) latest.current.reload()
    }
    const timer = setInterval(look, everyMs)
    return () => clearInterval(timer)
  }, [isMoving, everyMs])
}
