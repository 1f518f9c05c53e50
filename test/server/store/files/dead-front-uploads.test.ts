import { randomUUID } from 'node:crypto'
import t from 'tap'
import { UPLOAD_LEASE_MS } from '../../../../src/schemas/files/file-limits.ts'
import { abandonWritesOf } from '../../../../src/server/store/files/dead-fronts.ts'
import { openFileSweep } from '../../../../src/server/store/files/file-sweep.ts'
import { begun, openFileStand } from '../../../support/files/files.ts'
import { must } from '../../../support/must.ts'

t.test(
  "the quota of a dead front's uploads is freed at once, by its node or by a sweep, and other uploads keep theirs",
  async (t) => {
    const { store, workspaceId, open } = await openFileStand(t)
    const [recovered, dead, living] = [randomUUID(), randomUUID(), randomUUID()]
    const idOf = new Map<string, string>()
    for (const frontId of [recovered, dead, living]) {
      idOf.set(frontId, (await begun(open({ leaseMs: UPLOAD_LEASE_MS, frontId }), workspaceId, 10_000)).id)
    }
    for (const id of [dead, living]) {
      await store.sql`INSERT INTO fronts (id, node, connections, epoch, heartbeat_at) VALUES (${id}, 'node', 1, 0, now())`
    }
    const reserved = async (): Promise<string | undefined> => {
      const [row] = await store.sql<
        { bytes: string }[]
      >`SELECT reserved_bytes AS bytes FROM workspace_storage WHERE workspace_id = ${workspaceId}`
      return row?.bytes
    }
    await abandonWritesOf(store, recovered)
    t.equal(await reserved(), '20000')
    // As its supervisor does.
    await store.sql`DELETE FROM fronts WHERE id = ${dead}`
    const rows = openFileSweep(store)
    for (const stale of must(await rows.claimStale(10))) must(await rows.forget(stale))
    t.equal(await reserved(), '10000')
    const left = await store.sql<{ id: string }[]>`SELECT id FROM files`
    t.same(
      left.map(({ id }) => id),
      [idOf.get(living)],
    )
  },
)
