import t from 'tap'
import type { ClaimedVideo, VideoEnd } from '../../../../src/server/ports/videos/video-work.ts'
import { checkLedger } from '../../../../src/server/store/money/repair/check.ts'
import { imbalances } from '../../../support/money/money.ts'
import { must, present } from '../../../support/must.ts'
import {
  clip,
  LEASE_MS,
  openVideoStand,
  videoId,
  type NewRow,
  type VideoStand,
} from '../../../support/videos/video-rows.ts'
import { VIDEO_END_MS_MAX } from '../../../../src/server/store/videos/end-batches.ts'

const CALLBACK = 'https://hooks.test/in'
const FAILED: VideoEnd = { kind: 'failed', error: 'acme: refused', mayHaveCost: false }

async function claimed(stand: VideoStand, more: Partial<NewRow> = {}): Promise<ClaimedVideo> {
  await stand.accept({ heldNano: 1_000, ...more })
  return present((await stand.work.claim(new Map([['acme', 1]]), LEASE_MS))[0])
}

async function running(stand: VideoStand, more: Partial<NewRow> = {}): Promise<ClaimedVideo> {
  const claim = await claimed(stand, more)
  const submitting = present(await stand.work.submitting(claim, { leaseMs: LEASE_MS, callMs: 1_000 }))
  const taken = await stand.work.submitted(submitting, `up-${claim.id}`)
  if (typeof taken === 'string') throw new Error(taken)
  return taken
}

function ledger({ store }: VideoStand) {
  return store.sql`SELECT request_id, kind, operation, model, provider, tokens, milliseconds, cost_nano, is_byok, day::text FROM ledger ORDER BY request_id`
}

async function spent({ store, owners }: VideoStand) {
  const rows = await store.sql<Record<string, string>[]>`
    SELECT id, daily_spent_nano, daily_byok_nano, daily_lent_nano FROM accounts`
  const byId = new Map(
    rows.map((row) => [row.id, [row.daily_spent_nano, row.daily_byok_nano, row.daily_lent_nano].map(Number)]),
  )
  return Object.values(owners.accounts).map((id) => byId.get(id))
}

async function balances(t: Pick<Tap, 'same'>, { store }: VideoStand) {
  t.same(await imbalances(store.sql), [])
  t.same(must(await checkLedger(store)).differences, [])
}
type Tap = typeof t

t.test(
  'a completed job costs the amount held, counted on the day of its acceptance, with its seconds',
  async (t) => {
    const stand = await openVideoStand(t)
    const day = '2026-01-15'
    await stand.store.sql`SELECT ledger_partition(${day}::date)`
    const claim = await running(stand, { callbackUrl: CALLBACK })
    t.same(await spent(stand), [
      [0, 0, 1_000],
      [0, 0, 1_000],
      [0, 0, 1_000],
    ])
    const view = await stand.work.end(claim, { kind: 'completed', clips: [clip('clip_a'), clip('clip_b')] })
    t.same(view, {
      id: claim.id,
      workspaceId: claim.workspaceId,
      status: 'completed',
      generationId: claim.generationId,
      error: null,
      outputs: 2,
      usage: { costNano: 1_000, isByok: false },
    })
    t.same(await spent(stand), [
      [1_000, 0, 0],
      [1_000, 0, 0],
      [1_000, 0, 0],
    ])
    t.match(await ledger(stand), [
      {
        request_id: claim.requestId,
        kind: 'usage',
        operation: 'video.create',
        model: 'acme/clip',
        provider: 'acme',
        milliseconds: '4000',
        tokens: '0',
        cost_nano: '1000',
        is_byok: false,
      },
    ])
    t.match(
      await stand.store.sql`SELECT index, object_id, size_bytes, sha256 FROM video_clips ORDER BY index`,
      [
        { index: 0, object_id: 'clip_a', size_bytes: '9', sha256: 'ab' },
        { index: 1, object_id: 'clip_b' },
      ],
    )
    t.match(await stand.row(claim.id), { state: 'completed', request: null, made: null, outputs: 2 })
    await balances(t, stand)
  },
)

t.test('an end is written with its delivery, which has the job, its clips and its cost', async (t) => {
  const stand = await openVideoStand(t)
  const claim = await running(stand, { callbackUrl: CALLBACK, costNano: 1_500_000_000 })
  await stand.work.end(claim, { kind: 'completed', clips: [clip('clip_a')] })
  const [row] = await stand.store.sql`SELECT * FROM webhook_deliveries`
  t.match(row, {
    url: CALLBACK,
    host: 'hooks.test',
    job_id: claim.id,
    idempotency_key: `${claim.id}-completed`,
    state: 'waiting',
  })
  const { ended_at: endedAt } = await stand.row(claim.id)
  t.same(JSON.parse(String(row?.body)), {
    type: 'video.generation.completed',
    created_at: (endedAt as Date).toISOString(),
    data: {
      id: claim.id,
      status: 'completed',
      generation_id: claim.generationId,
      model: 'acme/clip',
      unsigned_urls: [`https://sluice.test/api/v1/videos/${claim.id}/content?index=0`],
      usage: { cost: 1.5, is_byok: false },
    },
  })
})

t.test('a failed job costs nothing: all of its hold returns', async (t) => {
  const stand = await openVideoStand(t)
  const claim = await claimed(stand, { callbackUrl: CALLBACK })
  t.match(await stand.work.end(claim, FAILED), {
    status: 'failed',
    error: 'acme: refused',
    outputs: 0,
    usage: null,
  })
  t.same(await spent(stand), [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ])
  t.same(await ledger(stand), [])
  const [row] = await stand.store.sql`SELECT body FROM webhook_deliveries`
  t.match(JSON.parse(String(row?.body)), {
    data: { status: 'failed', generation_id: null, model: null, error: 'acme: refused' },
  })
  await balances(t, stand)
})

t.test('an amount that a provider may charge for an unpaid job is an overrun of the operator', async (t) => {
  const stand = await openVideoStand(t)
  await stand.work.end(await claimed(stand), { ...FAILED, mayHaveCost: true })
  await stand.work.end(await claimed(stand), { kind: 'expired', error: 'too late' })
  await stand.work.end(await running(stand), { kind: 'expired', error: 'too late' })
  await stand.work.end(await running(stand, { costNano: 0 }), { kind: 'expired', error: 'too late' })
  t.match(await ledger(stand), [
    { request_id: `req_${videoId(1)}`, kind: 'overrun', cost_nano: '1000', milliseconds: null, tokens: null },
    { request_id: `req_${videoId(3)}`, kind: 'overrun' },
  ])
  t.same(await spent(stand), [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ])
  await balances(t, stand)
})

t.test('a job by a secret of the workspace, and one without a price, are booked all the same', async (t) => {
  const stand = await openVideoStand(t)
  const own = await stand.work.end(await running(stand, { ownSecret: 'mine', heldNano: 0 }), {
    kind: 'completed',
    clips: [clip('a')],
  })
  const free = await stand.work.end(await running(stand, { costNano: 0, isUnpriced: true, heldNano: 0 }), {
    kind: 'completed',
    clips: [clip('b')],
  })
  t.match(
    [own, free],
    [{ usage: { costNano: 1_000, isByok: true } }, { usage: { costNano: null, isByok: false } }],
  )
  t.match(await ledger(stand), [
    { cost_nano: '1000', is_byok: true },
    { cost_nano: '0', is_byok: false, milliseconds: '4000' },
  ])
  t.same(await spent(stand), [
    [0, 1_000, 0],
    [0, 1_000, 0],
    [0, 1_000, 0],
  ])
  await balances(t, stand)
})

t.test('of many concurrent ends of a job, one is booked', async (t) => {
  const stand = await openVideoStand(t)
  const claim = await running(stand, { callbackUrl: CALLBACK })
  const views = await Promise.all(
    Array.from({ length: 10 }, (_, nth) =>
      stand.work.end(claim, { kind: 'completed', clips: [clip(`clip_${nth}`)] }),
    ),
  )
  t.equal(views.filter((view) => view !== null).length, 1)
  t.same((await stand.store.sql`SELECT object_id FROM video_clips`).length, 1)
  t.same((await stand.store.sql`SELECT FROM webhook_deliveries`).length, 1)
  t.same(await spent(stand), [
    [1_000, 0, 0],
    [1_000, 0, 0],
    [1_000, 0, 0],
  ])
  await balances(t, stand)
})

t.test('ends that arrive together share transactions, and each is booked separately', async (t) => {
  const stand = await openVideoStand(t)
  const claims: ClaimedVideo[] = []
  for (let nth = 0; nth < 100; nth++) {
    const claim = await running(stand)
    claims.push(claim)
    // On a slow machine the first would be claimed again before the last is there.
    await stand.store.sql`UPDATE video_jobs SET lease_until = 'infinity' WHERE id = ${claim.id}`
  }
  const before = await committed(stand)
  const views = await Promise.all(
    claims.map((claim, nth) =>
      stand.work.end(claim, nth % 2 === 0 ? FAILED : { kind: 'completed', clips: [clip(`c${nth}`)] }),
    ),
  )
  t.same(
    views.map((view) => view?.status),
    claims.map((_, nth) => (nth % 2 === 0 ? 'failed' : 'completed')),
  )
  t.ok((await committed(stand)) - before <= 4, 'one for the first, and two for the others')
  t.same(await spent(stand), [
    [50_000, 0, 0],
    [50_000, 0, 0],
    [50_000, 0, 0],
  ])
  await balances(t, stand)
})

t.test('booking an end has a time limit of its own', async (t) => {
  const stand = await openVideoStand(t)
  const claim = await running(stand)
  const calls = t.capture(stand.store, 'within', stand.store.within)
  t.match(await stand.work.end(claim, FAILED), { status: 'failed' })
  t.same(
    calls().map(({ args: [timeoutMs] }) => timeoutMs),
    [VIDEO_END_MS_MAX],
  )
})

t.test('an end that cannot be booked does not hold up others', async (t) => {
  const stand = await openVideoStand(t)
  const claims = [await running(stand), await running(stand), await running(stand), await running(stand)]
  const ends = claims.map((claim, nth) =>
    stand.work.end(claim, { kind: 'completed', clips: [clip(nth === 2 ? 'c1' : `c${nth}`)] }),
  )
  t.same(
    (await Promise.allSettled(ends)).map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
  t.match(await stand.row(claims[2]?.id ?? ''), { state: 'running' })
  await balances(t, stand)
})

t.test('a deleted account does not hold up an end', async (t) => {
  const stand = await openVideoStand(t)
  const claim = await running(stand)
  await stand.store.sql`DELETE FROM accounts WHERE owner_kind = 'key'`
  t.match(await stand.work.end(claim, { kind: 'completed', clips: [clip('a')] }), { status: 'completed' })
  t.same(await stand.store.sql`SELECT * FROM leases`, [])
})

t.test('an end one month after the acceptance creates the ledger month that it needs', async (t) => {
  const stand = await openVideoStand(t)
  const claim = await running(stand, { day: '2024-02-29' })
  t.match(await stand.work.end(claim, { kind: 'completed', clips: [clip('a')] }), { status: 'completed' })
  t.match(await ledger(stand), [{ day: '2024-02-29' }])
})

t.test('a provider text is truncated, and characters that a store refuses are removed', async (t) => {
  const stand = await openVideoStand(t)
  const view = await stand.work.end(await claimed(stand), {
    kind: 'failed',
    error: `a\0\ud800${'b'.repeat(600)}`,
    mayHaveCost: false,
  })
  t.equal(view?.error, `a\ufffd\ufffd${'b'.repeat(497)}`)
})

async function committed({ store }: VideoStand): Promise<number> {
  const [row] = await store.sql<
    { n: string }[]
  >`SELECT count(DISTINCT xmin::text)::text AS n FROM video_jobs WHERE ended_at IS NOT NULL`
  return Number(row?.n)
}
