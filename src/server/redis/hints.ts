import type { Hints, Invalidation } from '../ports/keys/keys.ts'
import { openChannel, publishTo } from './channel.ts'
import type { State } from './open.ts'

/** Hints by pub/sub. */
export interface RunningHints extends Hints {
  close(): Promise<void>
}

const CHANNEL = 'sluice:hints'
/** A record instead of a list, so that the compiler reports a missing kind. */
const KINDS: Readonly<Record<Invalidation['kind'], true>> = {
  key: true,
  workspace: true,
  organization: true,
  catalogue: true,
  vault: true,
  private_endpoint: true,
  preset: true,
}

export function openHints(state: State): RunningHints {
  const channel = openChannel(state, CHANNEL)
  return {
    subscribe: (listener) =>
      channel.listen((text) => {
        const change = changeOf(text)
        if (change !== null) listener(change)
      }),
    publish: (change) => publishHint(state, change),
    close: () => channel.close(),
  }
}

/** Resolves when the hint was sent, or sending was given up. A hint that cannot be sent does not fail the change. */
export function publishHint(state: State, change: Invalidation): Promise<void> {
  return publishTo(state, CHANNEL, JSON.stringify(change))
}

/** Every client of Redis may publish here: a text that is not an invalidation is ignored. */
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
  return Object.hasOwn(KINDS, kind)
}
