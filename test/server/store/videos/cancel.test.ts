import t from 'tap'
import type { VideoView, VideoWake } from '../../../../src/server/ports/videos/videos.ts'
import { cancellation, openVideoCancel } from '../../../../src/server/store/videos/cancel.ts'
import { book } from '../../../../src/server/store/videos/end-batches.ts'
import { imbalances } from '../../../support/money/money.ts'
import { must, present } from '../../../support/must.ts'
import { CONTEXT, LEASE_MS, openVideoStand, videoId } from '../../../support/videos/video-rows.ts'

type Tap = Parameters<typeof openVideoStand>[0]

async function open(t: Tap) {
  const stand = await openVideoStand(t)
  const put: VideoView[] = []
  const woken: VideoWake[] = []
  const views = {
    put: (view: VideoView) => Promise.resolve(put.push(view) > 0),
    wake: (what: VideoWake) => void woken.push(what),
  }
  const cancel = openVideoCancel({ store: stand.store, views, context: CONTEXT })
  return {
    ...stand,
    put,
    woken,
    cancel: (id: string) => cancel(stand.owners.workspaceId, id),
    elsewhere: cancel,
  }
}

async function claim({ work }: Awaited<ReturnType<typeof open>>) {
  return present((await work.claim(new Map([['acme', 1]]), LEASE_MS))[0])
}

t.test('a cancelled job updates its view, wakes its runner and webhooks, and frees its hold', async (t) => {
  const stand = await open(t)
  const id = await stand.accept({ heldNano: 1_000, callbackUrl: 'https://hooks.test/in' })
  const view = must(await stand.cancel(id))
  t.match(view, { id, status: 'cancelled', error: 'The job was cancelled.', usage: null })
  t.same(stand.put, [view])
  t.same(stand.woken, [{ kind: 'cancelled', id }, { kind: 'webhooks' }])
  const [row] = await stand.store.sql`SELECT body, idempotency_key FROM webhook_deliveries`
  t.match(row, { idempotency_key: `${id}-cancelled` })
  t.match(JSON.parse(String(row?.body)), {
    type: 'video.generation.cancelled',
    data: { status: 'cancelled', error: 'The job was cancelled.' },
  })
  t.same(await stand.store.sql`SELECT * FROM leases`, [])
  t.same(await stand.store.sql`SELECT * FROM ledger`, [], 'nobody had begun to make it')
  t.same(await imbalances(stand.store.sql), [])
})

t.test('the runner of a cancelled job can write no more', async (t) => {
  const stand = await open(t)
  const id = await stand.accept()
  const held = await claim(stand)
  must(await stand.cancel(id))
  t.equal(await stand.work.submitting(held, { leaseMs: LEASE_MS, callMs: 1 }), null)
  t.equal(await stand.work.end(held, { kind: 'completed', clips: [] }), null)
  t.same(await stand.work.renew([held], LEASE_MS), [id])
  t.match(await stand.row(id), { state: 'cancelled', attempt: 2 })
})

t.test('a cancelled job that the provider may have started counts as an overrun', async (t) => {
  const stand = await open(t)
  await stand.accept()
  const submitting = present(
    await stand.work.submitting(await claim(stand), { leaseMs: LEASE_MS, callMs: 1 }),
  )
  must(await stand.cancel(submitting.id))
  await stand.accept()
  const second = present(await stand.work.submitting(await claim(stand), { leaseMs: LEASE_MS, callMs: 1 }))
  await stand.work.submitted(second, 'up')
  must(await stand.cancel(second.id))
  t.match(await stand.store.sql`SELECT kind, cost_nano FROM ledger`, [
    { kind: 'overrun', cost_nano: '1000' },
    { kind: 'overrun' },
  ])
})

t.test('ended, foreign and unknown jobs cannot be cancelled', async (t) => {
  const stand = await open(t)
  const id = await stand.accept()
  t.match(await stand.elsewhere(await stand.workspace(), id), { failure: { name: 'video_unknown' } })
  t.match(await stand.cancel(videoId(99)), { failure: { name: 'video_unknown' } })
  t.match(await stand.cancel('vid_\0'), { failure: { name: 'video_unknown' } })
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => stand.cancel(id)))
  t.same(outcomes.filter(({ ok }) => ok).length, 1)
  t.match(await stand.cancel(id), { failure: { name: 'video_ended' } })
})

t.test('a cancel that finds the job ended updates its view, which no longer shows it open', async (t) => {
  const stand = await open(t)
  const id = await stand.accept()
  await stand.store
    .sql`UPDATE video_jobs SET state = 'failed', error = 'e', ended_at = now() WHERE id = ${id}`
  t.match(await stand.cancel(id), { failure: { name: 'video_ended' } })
  t.match(stand.put, [{ id, status: 'failed', error: 'e' }])
  t.same(stand.woken, [])
})

t.test('a job that ended after the cancel read it does not end a second time', async (t) => {
  const stand = await open(t)
  const id = await stand.accept({ heldNano: 1_000, callbackUrl: 'https://hooks.test/in' })
  const held = present(await stand.work.submitting(await claim(stand), { leaseMs: LEASE_MS, callMs: 1 }))
  t.equal((await stand.work.end(held, { kind: 'failed', error: 'e', mayHaveCost: false }))?.status, 'failed')
  t.same(await book(stand.store, [cancellation(id)], CONTEXT), [])
  t.match(await stand.row(id), { state: 'failed', error: 'e' })
  t.equal((await stand.store.sql`SELECT FROM webhook_deliveries`).count, 1)
  t.same(await stand.store.sql`SELECT * FROM ledger`, [])
  t.same(await imbalances(stand.store.sql), [])
})
