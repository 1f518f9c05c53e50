import t from 'tap'
import {
  CONTAINER_USE_MS,
  QUOTA_STEP_BYTES,
  STORAGE_QUOTA_BYTES_DEFAULT,
  UPLOAD_LEASE_MS,
  UPLOAD_RENEW_MS,
} from '../../../../src/schemas/files/file-limits.ts'
import {
  IDEMPOTENCY_KEPT_MS,
  IDEMPOTENCY_WAIT_MS_MAX,
} from '../../../../src/schemas/limits/idempotency-limits.ts'
import { openContainerSizes } from '../../../../src/server/store/containers/container-sizes.ts'
import { openContainerUses } from '../../../../src/server/store/containers/container-uses.ts'
import { openFileSweep } from '../../../../src/server/store/files/file-sweep.ts'
import {
  CONTAINER_WAIT_MS_MAX,
  QUOTA_WAIT_MS_MAX,
  openFiles,
} from '../../../../src/server/store/files/files.ts'
import { begun, FACTS, openFileStand } from '../../../support/files/files.ts'
import { must, present } from '../../../support/must.ts'
import { CONTAINER_RECOUNT_MS } from '../../../../src/server/runner/sweep.ts'

/** Returns these times, one for each call. */
function clock(...times: number[]): { readonly now: () => number; readonly left: readonly number[] } {
  return { now: () => times.shift() ?? Number.POSITIVE_INFINITY, left: times }
}

const KEYED = { key: 'once', apiKeyHash: 'h', requestDigest: 'd' }

t.test('a workspace can store STORAGE_QUOTA_BYTES_DEFAULT and not one byte more', async (t) => {
  const { files, workspaceId } = await openFileStand(t)
  t.equal(must(await files.usage(workspaceId)).quotaBytes, STORAGE_QUOTA_BYTES_DEFAULT)
  await begun(files, workspaceId, STORAGE_QUOTA_BYTES_DEFAULT)
  t.match(await files.begin({ workspaceId, reserveBytes: 1, idempotency: null }), {
    failure: { name: 'quota_exceeded' },
  })
})

t.test('a body of unknown length reserves quota in steps of QUOTA_STEP_BYTES', async (t) => {
  const { files, workspaceId } = await openFileStand(t)
  const upload = await begun(files, workspaceId, 0)
  const steps = [
    [1, 1],
    [QUOTA_STEP_BYTES, 1],
    [QUOTA_STEP_BYTES + 1, 2],
  ] as const
  for (const [bytes, count] of steps) {
    must(await files.extend(upload, bytes))
    t.equal(must(await files.usage(workspaceId)).reservedBytes, count * QUOTA_STEP_BYTES)
  }
})

t.test(
  'a call waits QUOTA_WAIT_MS_MAX before a refusal for quota, and a repetition IDEMPOTENCY_WAIT_MS_MAX',
  async (t) => {
    const { files, store, workspaceId } = await openFileStand(t)
    const cases = [
      [QUOTA_WAIT_MS_MAX, { reserveBytes: STORAGE_QUOTA_BYTES_DEFAULT, idempotency: null }, 'quota_exceeded'],
      [IDEMPOTENCY_WAIT_MS_MAX, { reserveBytes: 1, idempotency: KEYED }, 'idempotency_running'],
    ] as const
    must(await files.begin({ workspaceId, reserveBytes: 1, idempotency: KEYED }))
    for (const [waitMs, input, name] of cases) {
      const { now, left } = clock(0, waitMs - 1, waitMs)
      const waiting = openFiles({ store, now, random: () => 0 })
      t.teardown(() => waiting.close())
      t.match(await waiting.begin({ workspaceId, ...input }), { failure: { name } })
      t.same(left, [], `${name}: looked again at ${waitMs - 1} ms, gave up at ${waitMs}`)
    }
  },
)

t.test(
  'an upload belongs to its owner for UPLOAD_LEASE_MS, and is renewed several times before that',
  async (t) => {
    const { files, store, workspaceId } = await openFileStand(t)
    const { id } = await begun(files, workspaceId, 1)
    const [row] = await store.sql<{ isIn: boolean }[]>`
    SELECT lease_until - ${UPLOAD_LEASE_MS} * interval '1 ms' BETWEEN created_at - interval '1 s' AND clock_timestamp() AS "isIn" FROM files WHERE id = ${id}`
    t.equal(row?.isIn, true)
    t.ok(UPLOAD_RENEW_MS * 4 <= UPLOAD_LEASE_MS)
  },
)

t.test('an answer is stored under its key for IDEMPOTENCY_KEPT_MS', async (t) => {
  const { files, store, workspaceId } = await openFileStand(t)
  const input = { workspaceId, reserveBytes: 1, idempotency: KEYED }
  const first = must(await files.begin(input))
  if (first.kind !== 'new') throw new Error('not new')
  must(await files.commit(first.upload, FACTS))
  const older = (ms: number) => store.sql`UPDATE files SET ready_at = ready_at - ${ms} * interval '1 ms'`
  await older(IDEMPOTENCY_KEPT_MS - 600_000)
  t.equal(must(await openFileSweep(store).expire()), 0)
  t.match(await files.begin(input), { value: { kind: 'replay' } })
  await older(600_000)
  t.equal(must(await openFileSweep(store).expire()), 1)
  t.match(await files.begin(input), { value: { kind: 'new' } })
})

t.test('the use of a container is written again after CONTAINER_USE_MS and not before', async (t) => {
  const { store, workspaceId } = await openFileStand(t)
  const used = async (): Promise<Date> =>
    present(must(await openContainerUses(store).lastUses(workspaceId, ['sess_a'])).get('sess_a'))
  // One that remembers nothing, as another process.
  const touch = async () => must(await openContainerUses(store).touch(workspaceId, 'sess_a'))
  await touch()
  for (const [ageMs, isWritten] of [
    [CONTAINER_USE_MS - 600_000, false],
    [CONTAINER_USE_MS, true],
  ] as const) {
    await store.sql`UPDATE container_uses SET used_at = clock_timestamp() - ${ageMs} * interval '1 ms'`
    const before = await used()
    await touch()
    t.equal((await used()) > before, isWritten)
  }
})

t.test(
  'a write waits up to CONTAINER_WAIT_MS_MAX for a path that another write holds, and then holds it for UPLOAD_LEASE_MS',
  async (t) => {
    const { files, store, workspaceId } = await openFileStand(t)
    const input = { containerId: 'sess_a', path: 'a', sizeBytes: 1 }
    must(await files.claimPath(await begun(files, workspaceId, 1), input))
    const [row] = await store.sql<{ isIn: boolean }[]>`
    SELECT writing_until - ${UPLOAD_LEASE_MS} * interval '1 ms' BETWEEN counted_at - interval '1 s' AND clock_timestamp() AS "isIn" FROM container_files`
    t.equal(row?.isIn, true)
    const { now, left } = clock(0, 0, CONTAINER_WAIT_MS_MAX - 1, CONTAINER_WAIT_MS_MAX)
    const waiting = openFiles({ store, now, random: () => 0 })
    t.teardown(() => waiting.close())
    t.match(await waiting.claimPath(await begun(waiting, workspaceId, 1), input), {
      failure: { name: 'busy' },
    })
    t.same(left, [])
  },
)

t.test('recounts the bytes at a path after CONTAINER_RECOUNT_MS and not before', async (t) => {
  const { files, store, workspaceId } = await openFileStand(t)
  const sizes = openContainerSizes(store)
  const claim = must(
    await files.claimPath(await begun(files, workspaceId, 1), {
      containerId: 'sess_a',
      path: 'a',
      sizeBytes: 1,
    }),
  )
  must(await sizes.release(claim, 1))
  const due = async () =>
    must(await sizes.due({ ageMs: CONTAINER_RECOUNT_MS, after: null, countMax: 9 })).length
  for (const [ageMs, count] of [
    [CONTAINER_RECOUNT_MS - 600_000, 0],
    [CONTAINER_RECOUNT_MS, 1],
  ] as const) {
    await store.sql`UPDATE container_files SET counted_at = clock_timestamp() - ${ageMs} * interval '1 ms'`
    t.equal(await due(), count)
  }
})
