import { HEARTBEAT_MS } from '../../../schemas/limits/limits.ts'
import type { Store } from '../base/open.ts'

export interface AdminPorts {
  /** Of this node, and of those that have told theirs; last seen in the store. */
  readonly ports: ReadonlySet<number>
  close(): Promise<void>
}

/** Milliseconds that one look may take. */
const LOOK_MS_MAX = 2_000

/**
 * Follows at which ports the nodes of the installation are operated: callers of each one must reach none of
 * them.
 */
export function watchAdminPorts(store: Store, own: number, everyMs = HEARTBEAT_MS): AdminPorts {
  let ports: ReadonlySet<number> = new Set([own])
  let looking: Promise<void> | null = null
  const look = async (): Promise<void> => {
    try {
      // Also of nodes that fell silent: who is cut off from the store may listen on.
      const rows = await store.within(
        LOOK_MS_MAX,
        (sql) => sql<{ admin_port: number }[]>`
        SELECT DISTINCT admin_port FROM fronts WHERE admin_port IS NOT NULL`,
      )
      ports = new Set([own, ...rows.map(({ admin_port }) => admin_port)])
    } catch {
      // What was known stays, and the heartbeat says that the store is away.
    }
  }
  const turn = (): void => {
    looking ??= look().finally(() => (looking = null))
  }
  const timer = setInterval(turn, everyMs)
  timer.unref()
  turn()
  return {
    get ports() {
      return ports
    },
    async close() {
      clearInterval(timer)
      await looking
    },
  }
}
