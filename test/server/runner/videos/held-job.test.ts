import t from 'tap'
import { VIDEO_LEASE_MARGIN_MS, VIDEO_LEASE_MS } from '../../../../src/schemas/videos/video-limits.ts'
import { HeldJob } from '../../../../src/server/runner/videos/held-job.ts'
import { present } from '../../../support/must.ts'
import { modelRows } from '../../../support/videos/model-video-rows.ts'

/** Claimed at 1,000 and answered at 3,000 of our clock, which was 50,000 of the store's. */
async function held(): Promise<HeldJob> {
  const world = modelRows(() => 50_000)
  world.add({ id: 'a', expiresAtMs: 60_000 })
  const [claim] = await world.work.claim(new Map([['tokens', 1]]), VIDEO_LEASE_MS)
  return new HeldJob(present(claim), { requestedAt: 1_000, leaseMs: VIDEO_LEASE_MS, answeredAt: 3_000 })
}

t.test('a lease counts from its request, and ends early by a safety margin', async (t) => {
  const job = await held()
  const over = 1_000 + VIDEO_LEASE_MS - VIDEO_LEASE_MARGIN_MS
  t.ok(VIDEO_LEASE_MARGIN_MS > 0)
  t.equal(job.mayWrite(over - 1), true)
  t.equal(job.mayWrite(over), false)
})

t.test('a later end prolongs a lease, and an earlier one shortens it', async (t) => {
  const job = await held()
  job.prolong(500, VIDEO_LEASE_MS)
  t.equal(job.leaseEndsAt, 1_000 + VIDEO_LEASE_MS)
  job.prolong(2_000, VIDEO_LEASE_MS)
  t.equal(job.leaseEndsAt, 2_000 + VIDEO_LEASE_MS)
  job.shorten(4_000, VIDEO_LEASE_MS)
  t.equal(job.leaseEndsAt, 2_000 + VIDEO_LEASE_MS)
  job.shorten(1_500, VIDEO_LEASE_MS)
  t.equal(job.leaseEndsAt, 1_500 + VIDEO_LEASE_MS)
})

t.test('a time of the store is reached a little late, never early', async (t) => {
  t.equal((await held()).expiresAt, 13_000, 'the store read its clock before we had its answer')
})

t.test('nothing is written for a job that the runner no longer holds', async (t) => {
  const job = await held()
  job.phase = 'gone'
  t.equal(job.mayWrite(1_000), false)
})
