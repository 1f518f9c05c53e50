import t from 'tap'
import { VIDEO_RENEWED_AT_ONCE } from '../../../../src/schemas/videos/video-limits.ts'
import type { ClaimedVideo } from '../../../../src/server/ports/videos/video-work.ts'
import { cancellation } from '../../../../src/server/store/videos/cancel.ts'
import { book } from '../../../../src/server/store/videos/end-batches.ts'
import { present } from '../../../support/must.ts'
import {
  CONTEXT,
  LEASE_MS,
  openVideoStand,
  videoId,
  REQUEST,
  SPENT_MS,
  type VideoStand,
} from '../../../support/videos/video-rows.ts'
import { VIDEO_RECENT_MS } from '../../../../src/server/store/videos/work.ts'

async function claimOne({ work }: VideoStand, leaseMs = LEASE_MS): Promise<ClaimedVideo> {
  return present((await work.claim(new Map([['acme', 1]]), leaseMs))[0])
}

async function running(stand: VideoStand, upstreamId: string): Promise<ClaimedVideo> {
  await stand.accept()
  const submitting = present(
    await stand.work.submitting(await claimOne(stand), { leaseMs: LEASE_MS, callMs: 1_000 }),
  )
  const taken = await stand.work.submitted(submitting, upstreamId)
  if (typeof taken === 'string') throw new Error(taken)
  return taken
}

t.test('a claimed job has everything that a runner needs', async (t) => {
  const stand = await openVideoStand(t)
  const id = await stand.accept({ ownSecret: 'mine' })
  const claim = await claimOne(stand)
  t.match(claim, {
    id,
    attempt: 1,
    state: 'accepted',
    submissions: 0,
    submittedAtMs: null,
    submitEndsAtMs: null,
    upstreamId: null,
    generationId: null,
    made: null,
    keyHash: stand.owners.keyHash,
    workspaceId: stand.owners.workspaceId,
    requestId: `req_${id}`,
    request: REQUEST,
    target: {
      model: 'acme/clip',
      provider: 'acme',
      endpoint: 'acme/clip',
      upstreamModel: 'clip',
      ownSecret: 'mine',
    },
  })
  t.match(claim.submitToken, /^[0-9a-f-]{36}$/)
  t.equal(claim.expiresAtMs - claim.createdAtMs, 86_400_000)
  t.ok(claim.readAtMs >= claim.createdAtMs)
  t.match(await stand.work.view(id), { id, status: 'pending' })
  t.equal(await stand.work.view('vid_none'), null)
})

t.test('each job is claimed by one of many runners', async (t) => {
  const stand = await openVideoStand(t, 8)
  for (let nth = 0; nth < 40; nth++) await stand.accept({ provider: nth % 2 === 0 ? 'acme' : 'best' })
  const rounds = await Promise.all(
    Array.from({ length: 8 }, () =>
      stand.work.claim(
        new Map([
          ['acme', 4],
          ['best', 4],
        ]),
        LEASE_MS,
      ),
    ),
  )
  const ids = rounds.flat().map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length)
  t.ok(ids.length >= 16)
  for (let more = 1; more > 0;) {
    const claimed = await stand.work.claim(
      new Map([
        ['acme', 40],
        ['best', 40],
      ]),
      LEASE_MS,
    )
    ids.push(...claimed.map(({ id }) => id))
    more = claimed.length
  }
  t.equal(new Set(ids).size, 40)
  t.equal(ids.length, 40)
})

t.test('no more jobs are claimed than there is room for, and none for providers without room', async (t) => {
  const stand = await openVideoStand(t)
  for (const provider of ['acme', 'acme', 'acme', 'best', 'calm']) await stand.accept({ provider })
  const claimed = await stand.work.claim(
    new Map([
      ['acme', 2],
      ['best', 0],
      ['nobody', 5],
    ]),
    LEASE_MS,
  )
  t.same(
    claimed.map(({ target }) => target.provider),
    ['acme', 'acme'],
  )
  t.same(await stand.work.claim(new Map(), LEASE_MS), [])
  t.same(
    await stand.work.due(),
    new Map([
      ['acme', 1],
      ['best', 1],
      ['calm', 1],
    ]),
  )
})

t.test(
  'one workspace with many jobs does not delay others, and its own longest due jobs are claimed first',
  async (t) => {
    const stand = await openVideoStand(t)
    for (let nth = 0; nth < 30; nth++) await stand.accept({ dueMs: 10_000 * (nth + 1) })
    const [second, third] = [await stand.workspace(), await stand.workspace()]
    const lone = await stand.accept({ workspaceId: second })
    const pair = [
      await stand.accept({ workspaceId: third, dueMs: 5 }),
      await stand.accept({ workspaceId: third, dueMs: 6 }),
    ]
    const claimed = await stand.work.claim(new Map([['acme', 6]]), LEASE_MS)
    const ids = new Set(claimed.map(({ id }) => id))
    t.same(
      [lone, ...pair].filter((id) => !ids.has(id)),
      [],
    )
    t.same([...ids].filter((id) => id <= videoId(30)).sort(), [videoId(28), videoId(29), videoId(30)])
  },
)

t.test('an expired job can be claimed, so that its end can be booked', async (t) => {
  const stand = await openVideoStand(t)
  await stand.accept({ expiresInMs: -1 })
  t.ok((await claimOne(stand)).expiresAtMs < Date.now() + 1)
})

t.test('renewing many leases reports the lost ones, and prolongs the others', async (t) => {
  const stand = await openVideoStand(t)
  const ids = [await stand.accept(), await stand.accept(), await stand.accept()]
  const claims = await stand.work.claim(new Map([['acme', 3]]), SPENT_MS)
  const [taken] = await stand.work.claim(new Map([['acme', 1]]), LEASE_MS)
  const ended = present(claims.find(({ id }) => id !== taken?.id))
  await stand.work.end(ended, { kind: 'failed', error: 'e', mayHaveCost: false })
  t.same(new Set(await stand.work.renew(claims, LEASE_MS)), new Set([taken?.id, ended.id]))
  t.same(await stand.work.claim(new Map([['acme', 3]]), LEASE_MS), [])
  t.same(await stand.work.renew([], LEASE_MS), [])
  t.equal(ids.length, 3)
})

t.test(
  'a row has the times of its steps and the polls of its provider, as last reported by renewals and steps',
  async (t) => {
    const stand = await openVideoStand(t)
    const taken = await running(stand, 'up-1')
    t.match(await stand.row(taken.id), { polls: 0, running_at: Date, storing_at: null })
    await stand.work.renew([{ ...taken, polls: 3 }], LEASE_MS)
    t.match(await stand.row(taken.id), { polls: 3 })
    const made = present(
      await stand.work.made({ ...taken, polls: 5 }, { sources: [{ kind: 'content', index: 0 }] }),
    )
    t.equal(made.polls, 5)
    t.match(await stand.row(taken.id), { polls: 5, storing_at: Date })
    await stand.work.end({ ...made, polls: 6 }, { kind: 'failed', error: 'e', mayHaveCost: false })
    t.match(await stand.row(taken.id), { polls: 6, state: 'failed' })
  },
)

t.test('a cancelled job keeps its count of polls', async (t) => {
  const stand = await openVideoStand(t)
  const taken = await running(stand, 'up-1')
  await stand.work.renew([{ ...taken, polls: 3 }], LEASE_MS)
  await book(stand.store, [cancellation(taken.id)], CONTEXT)
  t.match(await stand.row(taken.id), { polls: 3, state: 'cancelled' })
})

t.test('more leases than fit in one statement are renewed in several statements', async (t) => {
  const stand = await openVideoStand(t)
  const id = await stand.accept()
  const claim = await claimOne(stand)
  const lost = { ...claim, attempt: claim.attempt + 1 }
  const claims = [
    ...Array.from({ length: VIDEO_RENEWED_AT_ONCE }, (_, nth) => ({ ...lost, id: `vid_none_${nth}` })),
    claim,
  ]
  const before = Number((await stand.row(id))['lease_until'])
  t.equal((await stand.work.renew(claims, LEASE_MS * 2)).length, VIDEO_RENEWED_AT_ONCE)
  t.ok(Number((await stand.row(id))['lease_until']) > before, 'the one behind the first part')
})

t.test('a released job is due at its time, and its former runner can no longer write', async (t) => {
  const stand = await openVideoStand(t)
  await stand.accept()
  const claim = await claimOne(stand)
  await stand.work.release([claim], LEASE_MS)
  t.same(await stand.work.due(), new Map())
  t.equal(await stand.work.submitting(claim, { leaseMs: LEASE_MS, callMs: 1 }), null)
  await stand.store.sql`UPDATE video_jobs SET lease_until = now() - interval '1 s'`
  t.equal((await claimOne(stand)).attempt, 3)
})

t.test(
  'a submission is not taken over before its lease and its call are over, even after renewals and releases',
  async (t) => {
    const stand = await openVideoStand(t)
    const id = await stand.accept()
    const leaseLeft = async () =>
      (
        await stand.store.sql<{ ms: number }[]>`
    SELECT (extract(epoch FROM lease_until - clock_timestamp()) * 1000)::float8 AS ms FROM video_jobs WHERE id = ${id}`
      )[0]?.ms ?? 0
    const claim = present(
      await stand.work.submitting(await claimOne(stand), { leaseMs: 10_000, callMs: 60_000 }),
    )
    t.match(claim, { state: 'submitting', submissions: 1, attempt: 1 })
    t.equal((claim.submitEndsAtMs ?? 0) - (claim.submittedAtMs ?? 0), 60_000)
    t.ok((await leaseLeft()) > 60_000)
    await stand.work.renew([claim], 10_000)
    t.ok((await leaseLeft()) > 60_000, 'renewed')
    await stand.work.release([claim], 0)
    t.ok((await leaseLeft()) > 50_000, 'released')
    t.ok((await leaseLeft()) <= 60_000)
  },
)

t.test('a submission that surely did not arrive is begun again with the same token', async (t) => {
  const stand = await openVideoStand(t)
  await stand.accept()
  const first = present(
    await stand.work.submitting(await claimOne(stand), { leaseMs: LEASE_MS, callMs: 1_000 }),
  )
  const back = present(await stand.work.unsubmitted(first))
  t.match(back, { state: 'accepted', submissions: 1, submitEndsAtMs: null })
  const again = present(await stand.work.submitting(back, { leaseMs: LEASE_MS, callMs: 1_000 }))
  t.match(again, { state: 'submitting', submissions: 2, submitToken: first.submitToken })
  t.match(present(await stand.work.submitting(again, { leaseMs: LEASE_MS, callMs: 1_000 })), {
    submissions: 3,
  })
})

t.test("the provider's id and results are kept, with a generation id of our own", async (t) => {
  const stand = await openVideoStand(t)
  const taken = await running(stand, 'up-1')
  t.match(taken, { state: 'running', upstreamId: 'up-1', generationId: /^gen_[0-9a-f]{32}$/ })
  const made = {
    sources: [
      { kind: 'url', url: 'https://cdn.test/a?x=\0' },
      { kind: 'content', index: 0 },
    ],
  } as const
  t.same(present(await stand.work.made(taken, made)).made, made)
})

t.test('within one provider account, a provider id belongs to one job', async (t) => {
  const stand = await openVideoStand(t)
  const first = await running(stand, 'up-1')
  await stand.accept()
  await stand.accept({ ownSecret: 'mine' })
  const claims = await stand.work.claim(new Map([['acme', 2]]), LEASE_MS)
  const [ofOperator, ofWorkspace] = [videoId(2), videoId(3)].map((id) =>
    present(claims.find((claim) => claim.id === id)),
  )
  const submit = async (claim: ClaimedVideo) =>
    present(await stand.work.submitting(claim, { leaseMs: LEASE_MS, callMs: 1_000 }))
  const submitting = await submit(present(ofOperator))
  t.same(await stand.work.owned(submitting, ['up-0', 'up-1']), new Set(['up-1']))
  t.same(await stand.work.owned(first, ['up-1']), new Set(), "its own is not another one's")
  t.same(await stand.work.owned(first, []), new Set())
  t.equal(await stand.work.submitted(submitting, 'up-1'), 'owned')
  t.match(
    await stand.work.submitted(submitting, 'up-2'),
    { upstreamId: 'up-2' },
    'and the claim still stands',
  )
  const own = await submit(present(ofWorkspace))
  t.same(await stand.work.owned(own, ['up-1']), new Set())
  t.match(await stand.work.submitted(own, 'up-1'), { upstreamId: 'up-1' })
})

t.test('a runner whose job was claimed by another one writes nothing', async (t) => {
  const stand = await openVideoStand(t)
  const id = await stand.accept()
  const stale = await claimOne(stand, SPENT_MS)
  const fresh = await claimOne(stand)
  const before = await stand.row(id)
  t.equal(await stand.work.submitting(stale, { leaseMs: LEASE_MS, callMs: 1 }), null)
  t.equal(await stand.work.end(stale, { kind: 'failed', error: 'e', mayHaveCost: true }), null)
  t.same(await stand.work.renew([stale], LEASE_MS), [id])
  await stand.work.release([stale], 0)
  for (const state of ['submitting', 'running'] as const) {
    const reported = { ...stale, state }
    t.equal(await stand.work.unsubmitted(reported), null)
    t.equal(await stand.work.submitted(reported, 'up'), 'lost')
    t.equal(await stand.work.made(reported, { sources: [] }), null)
  }
  t.same(await stand.row(id), before)
  t.ok(await stand.work.submitting(fresh, { leaseMs: LEASE_MS, callMs: 1 }))
})

t.test('lists views of open and recently ended jobs in pages, in the order of ids', async (t) => {
  const stand = await openVideoStand(t)
  const ids: string[] = []
  for (let nth = 0; nth < 5; nth++) ids.push(await stand.accept())
  const claims = await stand.work.claim(new Map([['acme', 5]]), LEASE_MS)
  for (const claim of claims.slice(0, 2))
    await stand.work.end(claim, { kind: 'failed', error: 'e', mayHaveCost: false })
  const endedAgo = (nth: number, ms: number) =>
    stand.store
      .sql`UPDATE video_jobs SET ended_at = now() - ${ms} * interval '1 ms' WHERE id = ${claims[nth]?.id ?? ''}`
  await endedAgo(0, VIDEO_RECENT_MS)
  await endedAgo(1, VIDEO_RECENT_MS / 2)
  const shown = [...(await stand.work.views(null, 2)), ...(await stand.work.views(videoId(2), 9))].map(
    ({ id }) => id,
  )
  const all = ids.filter((id) => id !== claims[0]?.id)
  t.same(new Set([...shown]), new Set(all))
  t.same(
    (await stand.work.views(null, 9)).map(({ id }) => id),
    all,
  )
})
