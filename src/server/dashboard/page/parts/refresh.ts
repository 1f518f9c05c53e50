import { useEffect, useRef } from 'preact/hooks'
import type { Loaded } from './loaded.tsx'

/** Milliseconds between two looks at what still moves. */
const REFRESH_MS = 4_000

/** Loads again now and then, as long as something of it may still change and the page is seen. */
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
      // A new look ends the one under way: answers that take longer than this would never be shown.
      if (!document.hidden && !latest.current.isLoading) latest.current.reload()
    }
    const timer = setInterval(look, everyMs)
    return () => clearInterval(timer)
  }, [isMoving, everyMs])
}
