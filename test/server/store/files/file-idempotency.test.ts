import t from 'tap'
import { COUNTED_BYTES_MIN } from '../../../../src/schemas/files/file-limits.ts'
import type { Begun } from '../../../../src/server/ports/files/files.ts'
import type { Outcome } from '../../../../src/schemas/failures.ts'
import type { Repeatable } from '../../../../src/schemas/idempotency.ts'
import { openFileSweep } from '../../../../src/server/store/files/file-sweep.ts'
import { FACTS, openFileStand, untilBusy, type FileStand } from '../../../support/files/files.ts'
import { must } from '../../../support/must.ts'
import { WAITING_REPEATS_MAX } from '../../../../src/server/store/base/waiters.ts'

const KEY: Repeatable = { key: 'once', apiKeyHash: 'a'.repeat(64), requestDigest: 'POST /files' }

type Begin = (more?: Partial<Repeatable>) => Promise<Outcome<Begun>>

function beginOf({ files, workspaceId }: Pick<FileStand, 'files' | 'workspaceId'>): Begin {
  return (more) => files.begin({ workspaceId, reserveBytes: 100, idempotency: { ...KEY, ...more } })
}

async function commitFirst(stand: FileStand): Promise<string> {
  const first = must(await beginOf(stand)())
  if (first.kind !== 'new') throw new Error('not the first')
  return must(await stand.files.commit(first.upload, FACTS)).id
}

t.test('a repetition gets the first file again and reserves nothing', async (t) => {
  const stand = await openFileStand(t)
  const id = await commitFirst(stand)
  t.match(await beginOf(stand)(), { ok: true, value: { kind: 'replay', file: { ...FACTS, id } } })
  t.equal(must(await stand.files.usage(stand.workspaceId)).reservedBytes, 0)
})

t.test('another request under the key is a mismatch; another key or another API key is not', async (t) => {
  const stand = await openFileStand(t)
  await commitFirst(stand)
  const begin = beginOf(stand)
  t.match(await begin({ requestDigest: 'POST /promote' }), { failure: { name: 'idempotency_mismatch' } })
  t.match(await begin({ key: 'twice' }), { value: { kind: 'new' } })
  t.match(await begin({ apiKeyHash: 'b'.repeat(64) }), { value: { kind: 'new' } })
})

t.test('one of many racing uploads under one key starts, and the others get its answer', async (t) => {
  const stand = await openFileStand(t, { idempotencyWaitMs: 60_000 })
  const begin = beginOf(stand)
  const ends = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const began = must(await begin())
      return began.kind === 'replay' ? began.file.id : must(await stand.files.commit(began.upload, FACTS)).id
    }),
  )
  t.equal(new Set(ends).size, 1)
  t.equal((await stand.store.sql`SELECT 1 FROM files`).length, 1)
})

t.test('a repetition waits for a bounded time', async (t) => {
  const stand = await openFileStand(t, { idempotencyWaitMs: 20 })
  must(await beginOf(stand)())
  t.match(await beginOf(stand)(), { failure: { name: 'idempotency_running', retryAfterS: 5 } })
})

t.test(
  'refuses at once repetitions beyond the maximum number of waiting ones, and the others keep waiting',
  async (t) => {
    const stand = await openFileStand(t, { idempotencyWaitMs: 60_000 })
    const begin = beginOf(stand)
    const first = must(await begin())
    const ends = Array.from({ length: WAITING_REPEATS_MAX + 3 }, () => begin())
    await untilBusy(ends, 3)
    if (first.kind === 'new') must(await stand.files.commit(first.upload, FACTS))
    const outcomes = await Promise.all(ends)
    t.equal(
      outcomes.filter((outcome) => outcome.ok && outcome.value.kind === 'replay').length,
      WAITING_REPEATS_MAX,
    )
    t.match(await begin(), { value: { kind: 'replay' } })
  },
)

t.test('when the first upload fails, the next one becomes the first', async (t) => {
  for (const mayHaveObject of [true, false]) {
    const stand = await openFileStand(t, { idempotencyWaitMs: 60_000 })
    const first = must(await beginOf(stand)())
    const waiting = beginOf(stand)()
    if (first.kind === 'new') must(await stand.files.abandon(first.upload, mayHaveObject))
    t.match(await waiting, { value: { kind: 'new' } })
  }
})

t.test(
  'when the process of the first upload died, the next one becomes the first without waiting for a sweep',
  async (t) => {
    const stand = await openFileStand(t)
    const dead = must(await beginOf({ ...stand, files: stand.open({ leaseMs: -1 }) })())
    const next = must(await beginOf(stand)())
    if (dead.kind !== 'new' || next.kind !== 'new') throw new Error('not the first')
    t.match(await stand.files.commit(dead.upload, FACTS), { failure: { name: 'upload_lost' } })
    t.equal(must(await stand.files.usage(stand.workspaceId)).reservedBytes, COUNTED_BYTES_MIN)
    const { id } = must(await stand.files.commit(next.upload, FACTS))
    t.match(await beginOf(stand)(), { value: { kind: 'replay', file: { id } } })
    t.match(must(await openFileSweep(stand.store).claimStale(10)), [{ id: dead.upload.id }])
  },
)

t.test('a repetition gets the first answer even for a deleted file, and uses no quota', async (t) => {
  const stand = await openFileStand(t)
  const id = await commitFirst(stand)
  must(await stand.files.remove(stand.workspaceId, id))
  t.match(await stand.files.get(stand.workspaceId, id), { failure: { name: 'file_unknown' } })
  t.match(await beginOf(stand)(), { value: { kind: 'replay', file: { id } } })
  t.equal(must(await stand.files.usage(stand.workspaceId)).usedBytes, 0)
})

t.test('after a day a key can be used again, and its records are deleted', async (t) => {
  const stand = await openFileStand(t)
  const kept = await commitFirst(stand)
  const old = async () =>
    stand.store
      .sql`UPDATE files SET ready_at = now() - interval '24 hours 1 s' WHERE idempotency_id IS NOT NULL`
  await old()
  const id = await commitFirst(stand)
  t.not(id, kept)
  must(await stand.files.remove(stand.workspaceId, id))
  await old()
  t.equal(must(await openFileSweep(stand.store).expire()), 1)
  t.same(await stand.store.sql`SELECT id, idempotency_id FROM files`, [{ id: kept, idempotency_id: null }])
})

t.test('the key itself is not kept', async (t) => {
  const stand = await openFileStand(t)
  must(await beginOf(stand)({ key: 'a-key-that-callers-may-think-secret' }))
  t.notMatch(JSON.stringify(await stand.store.sql`SELECT * FROM files`), /think-secret/)
})
