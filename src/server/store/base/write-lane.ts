import { LRUCache } from 'lru-cache'
import { FairSemaphore } from '../../structures/fair-semaphore.ts'
import type { Sql, Store } from './open.ts'

/** Workspaces whose organization a lane caches; the organization of a workspace never changes. Decision. */
const WORKSPACES_REMEMBERED_MAX = 10_000

/** A lane for writes that lock a row shared by the whole workspace. */
export interface WriteLane {
  /**
   * Runs a statement or a transaction on connections of the lane, when it is its turn. Must not be called
   * inside of `run`, where it would wait for itself.
   */
  within<T>(workspaceId: string, run: (sql: Sql) => Promise<T>): Promise<T>
}

/**
 * In Postgres, writes of one workspace wait for each other, and each waiting write occupies a connection. A
 * lane admits only as many writes as it has connections. Organizations take turns, and each may use at most
 * half of the connections, rounded up: with two, one write runs and the next one already waits for the row,
 * which is enough to keep the row busy.
 * @param store used to look up organizations
 * @param connections used for the writes; left out: those of the store
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

/** A workspace that the store does not know takes turns by itself. */
async function organizationOf(sql: Sql, workspaceId: string): Promise<string> {
  const [row] = await sql<
    { id: string }[]
  >`SELECT organization_id AS id FROM workspaces WHERE id = ${workspaceId}`
  return row?.id ?? workspaceId
}
