import { useEffect, useRef } from 'preact/hooks'

/** Milliseconds between two looks at what still moves. */
const REFRESH_MS = 4_000

/** Loads again now and then, as long as something of it may still change and the page is seen. */
export function useRefresh(isMoving: boolean, reload: () => void): void {
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => {
    if (!isMoving) return undefined
    const timer = setInterval(() => document.hidden || latest.current(), REFRESH_MS)
    return () => clearInterval(timer)
  }, [isMoving])
}
