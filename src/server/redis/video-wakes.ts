import type { VideoWake } from '../ports/videos/videos.ts'
import { openChannel, publishTo, type Channel } from './channel.ts'
import type { State } from './open.ts'

const CHANNEL = 'sluice:videos'

export interface VideoWakes {
  wake(what: VideoWake): void
  onWake(listener: (what: VideoWake) => void): () => void
  close(): Promise<void>
}

/**
 * Wake-ups by pub/sub: a process that misses a wake-up finds the row by itself, a little later. Only a process
 * that listens has a subscription.
 */
export function openVideoWakes(state: State): VideoWakes {
  let channel: Channel | null = null
  const waiting = new Set<string>()
  const flush = (): void => {
    const texts = [...waiting]
    waiting.clear()
    for (const text of texts) void publishTo(state, CHANNEL, text)
  }
  return {
    // A burst of jobs wakes once a tick: one message says as much as a hundred.
    wake(what) {
      if (waiting.size === 0) setImmediate(flush)
      waiting.add(JSON.stringify(what))
    },
    onWake(listener) {
      channel ??= openChannel(state, CHANNEL)
      return channel.listen((text) => {
        const what = wakeOf(text)
        if (what !== null) listener(what)
      })
    },
    close: () => channel?.close() ?? Promise.resolve(),
  }
}

/** Every client of Redis may publish here: a text that is no wake-up is ignored. */
function wakeOf(text: string): VideoWake | null {
  try {
    const { kind, provider, id } = Object(JSON.parse(text)) as Record<string, unknown>
    if (kind === 'webhooks') return { kind }
    if (kind === 'jobs' && typeof provider === 'string') return { kind, provider }
    return kind === 'cancelled' && typeof id === 'string' ? { kind, id } : null
  } catch {
    return null
  }
}
