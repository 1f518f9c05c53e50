import type { Hints, Invalidation } from '../../../src/server/ports/keys/keys.ts'

/**
 * A channel of hints inside the test's own process, which drops, repeats and reorders what the test wants.
 */
export function testHints(): Hints & { send(change: Invalidation): void } {
  const listeners = new Set<(change: Invalidation) => void>()
  const send = (change: Invalidation): void => listeners.forEach((listener) => listener(change))
  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    publish(change) {
      send(change)
      return Promise.resolve()
    },
    send,
  }
}
