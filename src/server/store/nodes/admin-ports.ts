import { HEARTBEAT_MS } from '../../../schemas/limits/limits.ts'
import type { Store } from '../base/open.ts'
import { every } from '../../structures/ticks.ts'

export interface AdminPorts {
  /** Admin ports of this node, and of nodes that have reported theirs; as last read from the store. */
  readonly ports: ReadonlySet<number>
  close(): Promise<void>
}

/** Milliseconds that one read may take. */
const LOOK_MS_MAX = 2_000

/** Follows the admin ports of the nodes of the installation: callers of any node must not be able to reach these ports. */
export function watchAdminPorts(store: Store, own: number, everyMs = HEARTBEAT_MS): AdminPorts {
  let ports: ReadonlySet<number> = new Set([own])
  let looking: Promise<void> | null = null
  const look = async (): Promise<void> => {
    try {
      // Nodes without heartbeats count too: a node that is disconnected from the store may still be listening.
      const rows = await store.within(
        LOOK_MS_MAX,
        (sql) => sql<{ admin_port: number }[]>`
        SELECT DISTINCT admin_port FROM fronts WHERE admin_port IS NOT NULL`,
      )
      ports = new Set([own, ...rows.map(({ admin_port }) => admin_port)])
    } catch {
      // The known ports are kept, and the heartbeat reports that the store is unavailable.
    }
  }
  const turn = (): void => {
    looking ??= look().finally(() => (looking = null))
  }
  const looks = every(everyMs, turn)
  turn()
  return {
    get ports() {
      return ports
    },
    async close() {
      looks.stop()
      await looking
    },
  }
}
