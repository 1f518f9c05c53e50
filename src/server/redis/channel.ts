import type { State } from './open.ts'
import { every } from '../structures/ticks.ts'

/** A channel of pub/sub, received through a connection of its own. */
export interface Channel {
  listen(listener: (text: string) => void): () => void
  close(): Promise<void>
}

/**
 * Milliseconds between two subscriptions, which serve as heartbeat. If a connection is silent, polls of the
 * store find the changes within a second.
 */
const RESUBSCRIBE_MS = 2_000

/** Opens a subscription that is renewed each time the connection to Redis was lost. */
export function openChannel(state: State, name: string): Channel {
  const listeners = new Set<(text: string) => void>()
  const subscriber = state.duplicate()
  // A repeated subscription is harmless. It is the heartbeat of a connection that sends nothing else and would
  // otherwise never notice that the peer does not respond.
  const beat = (): void => {
    if (subscriber.status !== 'ready') return
    subscriber.subscribe(name).catch(() => {
      if (subscriber.status === 'ready') subscriber.disconnect(true)
    })
  }
  subscriber.on('ready', beat)
  const beats = every(RESUBSCRIBE_MS, beat)
  subscriber.on('message', (_channel: string, text: string) => {
    for (const listener of listeners) listener(text)
  })
  return {
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close() {
      beats.stop()
      subscriber.disconnect()
      return Promise.resolve()
    },
  }
}

/** Resolves when the text was sent, or sending was given up. Only processes that listen at that moment receive it. */
export async function publishTo(state: State, name: string, text: string): Promise<void> {
  await state.redis.publish(name, text).catch(() => undefined)
}
