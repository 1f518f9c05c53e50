import type { State } from './open.ts'

/** A channel of pub/sub, heard through a connection of its own. */
export interface Channel {
  listen(listener: (text: string) => void): () => void
  /**
   * Resolves when it was sent or given up: what is told here is told to whoever hears it, and to nobody else.
   */
  publish(text: string): Promise<void>
  close(): Promise<void>
}

/** Milliseconds between two signs of life of the subscription. */
const RESUBSCRIBE_MS = 1_000

/** Opens a subscription, which is taken up again after every loss of Redis. */
export function openChannel(state: State, name: string): Channel {
  const listeners = new Set<(text: string) => void>()
  const subscriber = state.duplicate()
  // Subscribing again is harmless: it is the heartbeat of a connection that otherwise sends nothing and would
  // never notice that it went silent.
  const beat = (): void => {
    if (subscriber.status !== 'ready') return
    subscriber.subscribe(name).catch(() => {
      if (subscriber.status === 'ready') subscriber.disconnect(true)
    })
  }
  subscriber.on('ready', beat)
  const timer = setInterval(beat, RESUBSCRIBE_MS)
  timer.unref()
  subscriber.on('message', (_channel: string, text: string) => {
    for (const listener of listeners) listener(text)
  })
  return {
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    publish: (text) => publishTo(state, name, text),
    close() {
      clearInterval(timer)
      subscriber.disconnect()
      return Promise.resolve()
    },
  }
}

/** As `Channel.publish`, for who does not listen. */
export async function publishTo(state: State, name: string, text: string): Promise<void> {
  await state.redis.publish(name, text).catch(() => undefined)
}
