import t from 'tap'
import { CallEnded } from '../../../../src/schemas/values/call-ended.ts'
import { COUNTED_BYTES_MIN, QUOTA_STEP_BYTES } from '../../../../src/schemas/files/file-limits.ts'
import { abandonFiles } from '../../../../src/server/store/files/file-quota.ts'
import { openFileSweep } from '../../../../src/server/store/files/file-sweep.ts'
import { insertWorkspace } from '../../../../src/server/store/workspaces/workspaces.ts'
import { begun, FACTS, openFileStand, storedFile, untilBusy } from '../../../support/files/files.ts'
import { must, present } from '../../../support/must.ts'
import { pause } from '../../../support/wait.ts'
import { untilWaiting } from '../../../support/stores/lock-waiters.ts'
import { WAITING_WORKSPACE_UPLOADS_MAX } from '../../../../src/server/store/base/waiters.ts'

const MIB = 1 << 20

t.test('a file is unknown until it is committed, and then returned as it was committed', async (t) => {
  const { files, workspaceId } = await openFileStand(t)
  const upload = await begun(files, workspaceId, 200)
  t.match(upload.id, /^file_[0-9a-f]{32}$/)
  t.match(await files.get(workspaceId, upload.id), { failure: { name: 'file_unknown' } })
  t.same(must(await files.list(workspaceId, { after: null, limit: 10 })).files, [])
  const file = must(await files.commit(upload, { ...FACTS, purpose: 'assistants' }))
  t.match(file, { ...FACTS, id: upload.id, workspaceId, purpose: 'assistants' })
  t.same(must(await files.get(workspaceId, upload.id)), file)
})

t.test('a file of another workspace is as unknown as a file that never existed', async (t) => {
  const { files, workspaceId, otherWorkspaceId } = await openFileStand(t)
  const id = await storedFile(files, workspaceId)
  t.same(await files.get(otherWorkspaceId, id), await files.get(otherWorkspaceId, 'file_none'))
  t.match(await files.remove(otherWorkspaceId, id), { failure: { name: 'file_unknown' } })
  t.same(must(await files.list(otherWorkspaceId, { after: null, limit: 10 })).files, [])
  t.ok((await files.get(workspaceId, id)).ok)
})

t.test('pages are in the order of creation, and continue after the id of a deleted file', async (t) => {
  const { files, workspaceId } = await openFileStand(t)
  const ids: string[] = []
  for (let nth = 0; nth < 7; nth++) {
    ids.push(await storedFile(files, workspaceId))
    await pause(2)
  }
  const page = async (after: string | null, limit: number) =>
    must(await files.list(workspaceId, { after, limit }))
  t.match(await page(null, 3), { hasMore: true, files: ids.slice(0, 3).map((id) => ({ id })) })
  t.match(await page(present(ids[2]), 4), { hasMore: false, files: ids.slice(3).map((id) => ({ id })) })
  must(await files.remove(workspaceId, present(ids[2])))
  t.match(await page(present(ids[2]), 2), { hasMore: true, files: ids.slice(3, 5).map((id) => ({ id })) })
  t.same(await page(present(ids[6]), 5), { files: [], hasMore: false })
})

t.test(
  'a reservation holds quota until it is settled to the true size, and deleting frees exactly that',
  async (t) => {
    const { files, workspaceId } = await openFileStand(t, { quotaBytes: 100_000 })
    const usage = async () => must(await files.usage(workspaceId))
    const upload = await begun(files, workspaceId, 90_000)
    t.same(await usage(), { quotaBytes: 100_000, usedBytes: 0, reservedBytes: 90_000 })
    t.match(await files.begin({ workspaceId, reserveBytes: 10_001, idempotency: null }), {
      failure: {
        name: 'quota_exceeded',
        fields: { limit: 100_000 },
        metadata: { limit_source: 'workspace_storage', limit: 100_000 },
      },
    })
    const { id } = must(await files.commit(upload, { ...FACTS, sizeBytes: 30_000 }))
    t.same(await usage(), { quotaBytes: 100_000, usedBytes: 30_000, reservedBytes: 0 })
    must(await files.remove(workspaceId, id))
    t.same(await usage(), { quotaBytes: 100_000, usedBytes: 0, reservedBytes: 0 })
    t.match(await files.remove(workspaceId, id), { failure: { name: 'file_unknown' } })
    t.same(await usage(), { quotaBytes: 100_000, usedBytes: 0, reservedBytes: 0 })
  },
)

t.test('only one of many deletions of a file frees its bytes', async (t) => {
  const { files, workspaceId } = await openFileStand(t)
  const id = await storedFile(files, workspaceId, { sizeBytes: 30_000 })
  await storedFile(files, workspaceId, { sizeBytes: 50_000 })
  const removed = await Promise.all(Array.from({ length: 10 }, () => files.remove(workspaceId, id)))
  t.equal(removed.filter(({ ok }) => ok).length, 1)
  t.equal(must(await files.usage(workspaceId)).usedBytes, 50_000)
})

t.test('of 50 racing uploads exactly 10 are stored when the quota allows 10', async (t) => {
  const sizeBytes = 10_000
  const { files, workspaceId, open } = await openFileStand(t, {
    quotaBytes: 10 * sizeBytes,
    quotaWaitMs: 120_000,
  })
  const processes = [files, open()]
  const upload = async (nth: number): Promise<string> => {
    const own = present(processes[nth % 2])
    // Forms are longer than their files: no two by as much.
    const began = await own.begin({
      workspaceId,
      reserveBytes: sizeBytes + 50 + nth,
      slackBytes: 4_096,
      idempotency: null,
    })
    if (!began.ok) return began.failure.name
    if (began.value.kind !== 'new') return began.value.kind
    for (const bytes of [3_000, 7_000, sizeBytes]) {
      const extended = await own.extend(began.value.upload, bytes)
      if (extended.ok) continue
      must(await own.abandon(began.value.upload, false))
      return extended.failure.name
    }
    const usage = must(await own.usage(workspaceId))
    if (usage.usedBytes + usage.reservedBytes > usage.quotaBytes) return 'oversubscribed'
    const committed = await own.commit(began.value.upload, { ...FACTS, sizeBytes })
    return committed.ok ? 'stored' : committed.failure.name
  }
  const ends = await Promise.all(Array.from({ length: 50 }, (_, nth) => upload(nth)))
  const count = (end: string): number => ends.filter((found) => found === end).length
  t.same({ stored: count('stored'), refused: count('quota_exceeded') }, { stored: 10, refused: 40 })
  t.same(must(await files.usage(workspaceId)), { quotaBytes: 100_000, usedBytes: 100_000, reservedBytes: 0 })
})

t.test('concurrent first uploads of a workspace each reserve the size of the whole form', async (t) => {
  const { store, files, organizationId, open } = await openFileStand(t)
  const processes = [files, open()]
  for (let round = 0; round < 20; round++) {
    const named = { organizationId, name: `Workspace ${round}`, slug: `workspace-${round}` }
    const { id: workspaceId } = await store.sql.begin((tx) => insertWorkspace(tx, named))
    const uploads = await Promise.all(
      Array.from({ length: 8 }, (_, nth) =>
        begun(present(processes[nth % 2]), workspaceId, 10_000, { slackBytes: 4_096 }),
      ),
    )
    t.same(
      uploads.map(({ reservedBytes }) => reservedBytes),
      Array.from({ length: 8 }, () => 10_000),
    )
  }
})

t.test(
  "when uploads wait for each other's reservations and all time out, only as many fail as necessary",
  async (t) => {
    let now = 0
    const { files, workspaceId } = await openFileStand(t, {
      quotaBytes: 4.5 * QUOTA_STEP_BYTES,
      quotaWaitMs: 1_000,
      now: () => now,
    })
    const uploads = await Promise.all(
      Array.from({ length: 4 }, () => begun(files, workspaceId, QUOTA_STEP_BYTES)),
    )
    const ending = uploads.map(async (upload) => {
      const extended = await files.extend(upload, 1.5 * QUOTA_STEP_BYTES)
      if (extended.ok) return (await files.commit(upload, { ...FACTS, sizeBytes: 1.5 * QUOTA_STEP_BYTES })).ok
      must(await files.abandon(upload, false))
      return false
    })
    // All wait by now: the youngest has done so for too long, and the others never will have.
    now = 1_500
    t.equal((await Promise.all(ending)).filter((isStored) => isStored).length, 3)
  },
)

t.test('a call waits for running uploads before a quota refusal, if they could free enough', async (t) => {
  const { files, workspaceId, open } = await openFileStand(t, { quotaBytes: 100_000 })
  const patient = open({ quotaWaitMs: 60_000 })
  const under = await begun(files, workspaceId, 90_000)
  const waiting = patient.begin({ workspaceId, reserveBytes: 60_000, idempotency: null })
  must(await files.commit(under, { ...FACTS, sizeBytes: 40_000 }))
  t.ok((await waiting).ok)
  t.match(await patient.begin({ workspaceId, reserveBytes: 70_000, idempotency: null }), {
    failure: { name: 'quota_exceeded' },
  })
})

t.test('a workspace has a maximum of uploads waiting for quota, and does not delay others', async (t) => {
  const { files, workspaceId, otherWorkspaceId, open } = await openFileStand(t, { quotaBytes: 100_000 })
  const patient = open({ quotaWaitMs: 60_000 })
  for (const id of [workspaceId, otherWorkspaceId]) await begun(files, id, 90_000)
  const leaving = new AbortController()
  const begin = (id: string) =>
    patient.begin({ workspaceId: id, reserveBytes: 60_000, idempotency: null, signal: leaving.signal })
  const ends = Array.from({ length: WAITING_WORKSPACE_UPLOADS_MAX + 2 }, () => begin(workspaceId))
  await untilBusy(ends, 2)
  const other = begin(otherWorkspaceId)
  leaving.abort()
  t.match(await other, { failure: { name: 'client_gone' } })
  await Promise.all(ends)
})

for (const [why, name] of [
  ['client_gone', 'client_gone'],
  ['deadline', 'deadline_exceeded'],
] as const) {
  t.test(`a call that ends while it waits for quota (${why}) returns at once`, async (t) => {
    const { files, workspaceId, open } = await openFileStand(t, { quotaBytes: 100_000 })
    const patient = open({ quotaWaitMs: 60_000 })
    const under = await begun(files, workspaceId, 90_000)
    const leaving = new AbortController()
    const waiting = [
      patient.begin({ workspaceId, reserveBytes: 60_000, idempotency: null, signal: leaving.signal }),
      patient.extend(await begun(patient, workspaceId, 0), 60_000, leaving.signal),
    ]
    leaving.abort(new CallEnded(why))
    for (const ended of await Promise.all(waiting)) t.match(ended, { failure: { name } })
    must(await files.abandon(under, false))
  })
}

t.test(
  'a body of unknown length reserves in steps, and only its remaining bytes when a whole step does not fit',
  async (t) => {
    const { files, workspaceId } = await openFileStand(t, { quotaBytes: 2 * MIB + 500 })
    const upload = await begun(files, workspaceId, 0)
    const reserved = async () => must(await files.usage(workspaceId)).reservedBytes
    for (const [bytes, expected] of [
      [1, MIB],
      [MIB, MIB],
      [MIB + 1, 2 * MIB],
      [2 * MIB + 400, 2 * MIB + 400],
    ] as const) {
      must(await files.extend(upload, bytes))
      t.equal(await reserved(), expected, `${bytes} bytes`)
      t.equal(upload.reservedBytes, expected)
    }
    t.match(await files.extend(upload, 2 * MIB + 501), { failure: { name: 'quota_exceeded' } })
    must(await files.commit(upload, { ...FACTS, sizeBytes: 2 * MIB + 400 }))
    t.same(must(await files.usage(workspaceId)), {
      quotaBytes: 2 * MIB + 500,
      usedBytes: 2 * MIB + 400,
      reservedBytes: 0,
    })
  },
)

t.test('a file larger than its reservation is committed only when it fits', async (t) => {
  const { files, workspaceId } = await openFileStand(t, { quotaBytes: 100_000 })
  const upload = await begun(files, workspaceId, 10_000)
  t.match(await files.commit(upload, { ...FACTS, sizeBytes: 100_001 }), {
    failure: { name: 'quota_exceeded' },
  })
  t.ok((await files.commit(upload, { ...FACTS, sizeBytes: 100_000 })).ok)
})

t.test(
  'an abandoned upload frees its quota, and its row stays for the sweep only if bytes may have been stored',
  async (t) => {
    const { files, store, workspaceId } = await openFileStand(t)
    const [without, withObject] = [await begun(files, workspaceId, 10), await begun(files, workspaceId, 20)]
    must(await files.abandon(without, false))
    must(await files.abandon(withObject, true))
    must(await files.abandon(withObject, true))
    t.same(await store.sql`SELECT id, state FROM files`, [{ id: withObject.id, state: 'abandoned' }])
    t.equal(must(await files.usage(workspaceId)).reservedBytes, 0)
    t.match(await files.commit(withObject, FACTS), { failure: { name: 'upload_lost' } })
    t.match(await files.extend(withObject, 1), { failure: { name: 'upload_lost' } })
  },
)

t.test('abandoning a committed upload changes nothing', async (t) => {
  const { files, workspaceId } = await openFileStand(t)
  const upload = await begun(files, workspaceId, 10)
  must(await files.commit(upload, FACTS))
  must(await files.abandon(upload, true))
  t.ok((await files.get(workspaceId, upload.id)).ok)
  t.equal(must(await files.usage(workspaceId)).usedBytes, COUNTED_BYTES_MIN)
})

t.test('renewing several leases and deleting their workspace do not block each other', async (t) => {
  const { store, workspaceId, open } = await openFileStand(t)
  const files = open({ renewMs: 20 })
  const first = await begun(files, workspaceId, 1)
  await begun(files, workspaceId, 1)
  // Now the table has it after the second one.
  must(await files.extend(first, 10))
  await store.sql`UPDATE files SET lease_until = lease_until + interval '1 s' WHERE id = ${first.id}`
  const ended = await store.sql.begin(async (tx) => {
    await tx`SELECT 1 FROM files WHERE id = ${first.id} FOR UPDATE`
    // Asked here, since renewals that wait may hold every other connection.
    await untilWaiting(tx)
    return abandonFiles(tx, workspaceId)
  })
  t.match(ended, { count: 2 })
})

t.test('the lease of an upload is renewed as long as its process lives', async (t) => {
  const { files, store, workspaceId, open } = await openFileStand(t)
  const alive = open({ leaseMs: 60_000, renewMs: 5 })
  const ours = await begun(alive, workspaceId, 10)
  const theirs = await begun(files, workspaceId, 10)
  await store.sql`UPDATE files SET lease_until = '-infinity'`
  const sweep = openFileSweep(store)
  for (;;) {
    const [row] = await store.sql<
      { isRenewed: boolean }[]
    >`SELECT lease_until > now() AS "isRenewed" FROM files WHERE id = ${ours.id}`
    if (row?.isRenewed === true) break
  }
  t.match(must(await sweep.claimStale(10)), [{ id: theirs.id, workspaceId }])
})

t.test('an unavailable store is reported as a failure', async (t) => {
  const { files, store, workspaceId } = await openFileStand(t)
  const upload = await begun(files, workspaceId, 10)
  await store.close()
  for (const call of [
    files.begin({ workspaceId, reserveBytes: 1, idempotency: null }),
    files.extend(upload, 5_000),
    files.commit(upload, FACTS),
    files.abandon(upload, true),
    files.get(workspaceId, 'a'),
    files.list(workspaceId, { after: null, limit: 1 }),
    files.usage(workspaceId),
  ])
    t.match(await call, { failure: { name: 'store_unavailable' } })
})

t.test(
  'a workspace with its own quota can use all of it, and others have the quota of the installation',
  async (t) => {
    const { files, store, workspaceId, otherWorkspaceId } = await openFileStand(t, { quotaBytes: 100_000 })
    const setQuota = (bytes: number | null) =>
      store.sql`UPDATE workspaces SET storage_quota_bytes = ${bytes} WHERE id = ${workspaceId}`
    const begin = (id: string, reserveBytes: number) =>
      files.begin({ workspaceId: id, reserveBytes, idempotency: null })
    await setQuota(10_000)
    t.match(await begin(workspaceId, 10_001), {
      failure: { name: 'quota_exceeded', metadata: { limit: 10_000 } },
    })
    const upload = await begun(files, workspaceId, 10_000)
    t.match(await files.usage(workspaceId), { value: { quotaBytes: 10_000, reservedBytes: 10_000 } })
    t.match(await files.extend(upload, 10_001), {
      failure: { name: 'quota_exceeded', metadata: { limit: 10_000 } },
    })
    t.match(await files.commit(upload, { ...FACTS, sizeBytes: 10_001 }), {
      failure: { name: 'quota_exceeded', metadata: { limit: 10_000 } },
    })
    t.match(await begin(otherWorkspaceId, 100_001), {
      failure: { name: 'quota_exceeded', metadata: { limit: 100_000 } },
    })
    await setQuota(null)
    t.match(await begin(workspaceId, 90_000), { ok: true }, 'at once')
  },
)
