import { LRUCache } from 'lru-cache'
import { FairSemaphore } from '../../structures/fair-semaphore.ts'
import type { Sql, Store } from './open.ts'

/** Workspaces whose organization a lane remembers: that of a workspace never changes. Decision. */
const WORKSPACES_REMEMBERED_MAX = 10_000

/** Writes that wait for a row which all of a workspace share. */
export interface WriteLane {
  /**
   * Runs a statement or a transaction when its turn has come, on connections of the lane. Must not be called
   * inside of `run`: it would wait for itself.
   */
  within<T>(workspaceId: string, run: (sql: Sql) => Promise<T>): Promise<T>
}

/**
 * Postgres has writes of one workspace wait for each other, and each that waits there holds a connection. A
 * lane lets in as many as it has connections. Organizations come by turns, and one has at most half of the
 * connections, rounded up: one that writes and the next one that waits for its row keep the row busy.
 * @param store looks up organizations
 * @param connections those of the writes; left out: those of the store
 */
export function openWriteLane(store: Store, connections = store): WriteLane {
  const places = connections.options.poolMax
  const turns = new FairSemaphore({ places, placesOfOne: Math.ceil(places / 2) })
  const organizations = new LRUCache<string, string>({ max: WORKSPACES_REMEMBERED_MAX })
  return {
    async within(workspaceId, run) {
      const tenant = organizations.get(workspaceId) ?? (await organizationOf(store.sql, workspaceId))
      organizations.set(workspaceId, tenant)
      const leave = await turns.enter({ tenant })
      if (leave === null) throw new Error('an unbounded semaphore refused to admit a write')
      try {
        return await connections.watched(run)
      } finally {
        leave()
      }
    },
  }
}

/** A workspace that the store does not know has turns of its own. */
async function organizationOf(sql: Sql, workspaceId: string): Promise<string> {
  const [row] = await sql<
    { id: string }[]
  >`SELECT organization_id AS id FROM workspaces WHERE id = ${workspaceId}`
  return row?.id ?? workspaceId
}
