import type { Hints, Invalidation } from '../ports/keys.ts'
import type { State } from './open.ts'

/** Hints by pub/sub. */
export interface RunningHints extends Hints {
  close(): Promise<void>
}

const CHANNEL = 'sluice:hints'
/** Milliseconds between two signs of life of the subscription. */
const RESUBSCRIBE_MS = 1_000
const KINDS: ReadonlySet<string> = new Set<Invalidation['kind']>([
  'key', 'workspace', 'organization', 'catalogue', 'vault', 'private_endpoint',
])

/** Opens a subscription of its own connection, which is taken up again after every loss of Redis. */
export function openHints(state: State): RunningHints {
  const listeners = new Set<(change: Invalidation) => void>()
  const subscriber = state.duplicate()
  // Subscribing again is harmless: it is the heartbeat of a connection that otherwise sends nothing and would never
  // notice that it went silent.
  const beat = (): void => {
    if (subscriber.status !== 'ready') return
    subscriber.subscribe(CHANNEL).catch(() => {
      if (subscriber.status === 'ready') subscriber.disconnect(true)
    })
  }
  subscriber.on('ready', beat)
  const timer = setInterval(beat, RESUBSCRIBE_MS)
  timer.unref()
  subscriber.on('message', (_channel: string, text: string) => {
    const change = changeOf(text)
    if (change !== null) for (const listener of listeners) listener(change)
  })
  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    publish: (change) => publishHint(state, change),
    close() {
      clearInterval(timer)
      subscriber.disconnect()
      return Promise.resolve()
    },
  }
}

/** Resolves when it was sent or given up; a hint that cannot be sent is no failure of the change. */
export async function publishHint(state: State, change: Invalidation): Promise<void> {
  await state.redis.publish(CHANNEL, JSON.stringify(change)).catch(() => undefined)
}

/** Anybody who may reach Redis may publish here: what is no invalidation is passed over. */
function changeOf(text: string): Invalidation | null {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return null
    const { n, kind, id } = value as Record<string, unknown>
    if (typeof n !== 'number' || !Number.isSafeInteger(n) || typeof id !== 'string') return null
    return typeof kind === 'string' && isKind(kind) ? { n, kind, id } : null
  } catch {
    return null
  }
}

function isKind(kind: string): kind is Invalidation['kind'] {
  return KINDS.has(kind)
}
