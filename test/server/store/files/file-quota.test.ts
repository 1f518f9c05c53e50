import t, { type Test } from 'tap'
import {
  release,
  reserve,
  reserveMore,
  settle,
  type Held,
} from '../../../../src/server/store/files/file-quota.ts'
import type { Store, Transaction } from '../../../../src/server/store/base/open.ts'
import { openFileStand } from '../../../support/files/files.ts'
import { present } from '../../../support/must.ts'
import { untilWaiting } from '../../../support/stores/lock-waiters.ts'

const QUOTA_BYTES = 1_000_000
const held: Held = { id: 'file_a', attempt: 0 }

/**
 * An upload that has reserved nothing yet, and one change that comes while a larger reservation of it is not
 * committed.
 */
async function behindReservation(t: Test, change: (store: Store) => Promise<boolean>) {
  const { store, files, workspaceId } = await openFileStand(t)
  await files.usage(workspaceId)
  const row = { id: held.id, workspaceId, reserveBytes: 0, leaseMs: 60_000, frontId: null, idempotency: null }
  t.ok(await reserve(store.sql, row, QUOTA_BYTES))
  const attempt = await attemptOf(store)
  let changed: Promise<boolean> | null = null
  await store.sql.begin(async (tx: Transaction) => {
    t.ok(await reserveMore(tx, { ...held, attempt }, { bytes: 5_000, quotaBytes: QUOTA_BYTES }))
    changed = change(store)
    changed.catch(() => undefined)
    await untilWaiting(tx)
  })
  return { isChanged: await present(changed), usage: await files.usage(workspaceId) }
}

async function attemptOf({ sql }: Store): Promise<number> {
  const [row] = await sql<{ attempt: number }[]>`SELECT attempt FROM files WHERE id = ${held.id}`
  return present(row).attempt
}

t.test('an upload that ends while it extends its reservation frees all of it', async (t) => {
  const { isChanged, usage } = await behindReservation(t, async (store) =>
    release(store.sql, { ...held, attempt: await attemptOf(store) }),
  )
  t.ok(isChanged)
  t.match(usage, { value: { usedBytes: 0, reservedBytes: 0 } })
})

t.test('an upload that is settled while it extends its reservation keeps only its own size', async (t) => {
  const { isChanged, usage } = await behindReservation(t, async (store) =>
    settle(
      store.sql,
      { ...held, attempt: await attemptOf(store) },
      { sizeBytes: 4_500, quotaBytes: QUOTA_BYTES },
    ),
  )
  t.ok(isChanged)
  t.match(usage, { value: { usedBytes: 4_500, reservedBytes: 0 } })
})
