/**
 * Pollers see no job go back or go away and cost Postgres nothing; a hanging provider delays no other one.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { videoRankOf, type VideoStatus } from '../../../src/schemas/videos/video-jobs.ts'
import { some } from './judging.ts'
import { startKindsProvider, type KindsProvider } from './provider.ts'
import { startVideoStand, type VideoStand } from './video-stand.ts'
import { offerAll } from './videos.ts'
import { tally, type Program, type Proof } from '../proof.ts'
import { VIDEO_VIEW_DOUBT_MS } from '../../../src/server/redis/video-views.ts'

const JOBS = 10_000
const POLLS_PER_S = 2_000
const POLLED_MS = 20_000
/** Polls a second of each provider, and milliseconds of the longest wait between two of a job. */
const CAP_PER_S = 400
const POLL_MAX_MS = 12_000
const SHORT_POLL_MAX_MS = 2_000
const LATE_MS_MAX = 2_000
const OPEN_MS_MAX = 300_000
/**
 * All are open for as long as pollers are counted, and then made at the pace at which they were offered; in
 * short once that is done.
 */
const MAKE_MS = 200_000
/**
 * Counts that are made: sessions report earlier transactions up to ten seconds late. Each count has the cost
 * of pollers.
 */
const COUNTS_MAX = 12
/** Milliseconds after which views are asked of Redis again, which was late with one. */
const DOUBT_PAST_MS = VIDEO_VIEW_DOUBT_MS + 1_000
/** Transactions per second of an idle node: heartbeats, epochs, claims. */
const IDLE_PER_S_MAX = 60

export const program: Program = {
  text: '10,000 open video jobs on three providers, one of which hangs, and 2,000 polls a second',
  async run(proof) {
    const provider = await startKindsProvider(proof, { makeMs: MAKE_MS })
    const bench = await startVideoStand(proof, {
      fronts: 2,
      runners: proof.isShort ? 1 : 2,
      providers: provider.baseUrls,
      video: {
        polls_per_second: CAP_PER_S,
        poll_first_ms: 1_000,
        poll_max_ms: proof.isShort ? SHORT_POLL_MAX_MS : POLL_MAX_MS,
        concurrency: 64,
        submit_timeout_ms: 10_000,
      },
    })
    const count = proof.isShort ? 90 : JOBS
    const { accepted } = await offerAll(proof, bench, count)
    const ids = accepted.map(({ id }) => id)
    await untilRunning(bench, ids.length)
    await provider.set('blind', { hangs: true })
    // Everybody is in the longest wait by now.
    await pause(proof.isShort ? 1_000 : 2 * POLL_MAX_MS)
    await polled(proof, bench, ids)
    if (proof.isShort) await provider.finish()
    await seen(proof, bench, provider)
    await watched(proof, bench, ids)
  },
}

async function untilRunning({ store }: VideoStand, count: number): Promise<void> {
  const endsAt = performance.now() + OPEN_MS_MAX
  for (let running = 0; running < count && performance.now() < endsAt; await pause(500)) {
    const [row] = await store.sql<
      { count: number }[]
    >`SELECT count(*)::int AS count FROM video_jobs WHERE state = 'running'`
    running = row?.count ?? 0
  }
}

/** Many who poll, while Redis is up: what Postgres does is what it does without them. */
async function polled(proof: Proof, bench: VideoStand, ids: readonly string[]): Promise<void> {
  const ms = proof.isShort ? 1_000 : POLLED_MS
  const idle = await transactions(bench, () => pause(ms / 2))
  const statuses: Record<number, number> = {}
  const wanted = proof.isShort ? POLLS_PER_S / 10 : POLLS_PER_S
  let polls = 0
  const poll = async (): Promise<void> => {
    const [startedAt, before] = [performance.now(), polls]
    const under: Promise<void>[] = []
    for (; performance.now() - startedAt < ms; await pause(5)) {
      for (const due = before + ((performance.now() - startedAt) / 1_000) * wanted; polls < due; polls++) {
        const id = ids[proof.random(ids.length)] ?? ''
        under.push(
          bench.client
            .call('GET', `/videos/${id}`)
            .then(({ status }) => void (statuses[status] = (statuses[status] ?? 0) + 1)),
        )
      }
    }
    await Promise.all(under)
  }
  const most = idle.perS + IDLE_PER_S_MAX
  let [busy, counts] = [await transactions(bench, poll), 1]
  for (; busy.perS >= most && counts < COUNTS_MAX; counts++) {
    await pause(DOUBT_PAST_MS)
    busy = await transactions(bench, poll)
  }
  proof.check('every poll is answered', statuses[200] === polls, tally(statuses))
  proof.checkTimed(
    `${wanted} polls a second are made`,
    polls >= counts * wanted * (ms / 1_000) * 0.9,
    `${((polls / counts / ms) * 1_000).toFixed(0)} a second`,
  )
  proof.check(
    'pollers cost Postgres nothing',
    busy.perS < most,
    `${busy.perS.toFixed(0)} transactions a second beside ${idle.perS.toFixed(0)} without pollers`,
  )
}

async function transactions(
  { store }: VideoStand,
  during: () => Promise<unknown>,
): Promise<{ readonly perS: number }> {
  const read = async (): Promise<number> => {
    const [row] = await store.sql<
      { count: string }[]
    >`SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()`
    return Number(row?.count)
  }
  const [before, startedAt] = [await read(), performance.now()]
  await during()
  // Counters of a session reach the view within a second.
  await pause(1_500)
  return { perS: ((await read()) - before) / ((performance.now() - startedAt) / 1_000) }
}

/** What two providers have made is seen soon, though the third one hangs. */
async function seen(proof: Proof, bench: VideoStand, provider: KindsProvider): Promise<void> {
  const startedAt = performance.now()
  await bench.untilEnded(['token', 'lookup'], OPEN_MS_MAX)
  const seconds = (performance.now() - startedAt) / 1_000
  const late = await provider.seenAfterMs(['token', 'lookup'])
  const p99 = late[Math.floor(late.length * 0.99)] ?? Number.NaN
  proof.check(
    'all that two providers have made is completed',
    late.length > 0,
    `${late.length} jobs in ${seconds.toFixed(1)} s`,
  )
  proof.checkTimed(
    'it is seen within the interval and 2 s (p99)',
    p99 <= POLL_MAX_MS + LATE_MS_MAX,
    `p50 ${late[Math.floor(late.length / 2)]?.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, interval ${POLL_MAX_MS} ms`,
  )
  const polls = await provider.polls()
  for (const kind of ['token', 'lookup', 'blind'] as const) {
    const times = polls.filter((poll) => poll.kind === kind).map(({ atMs }) => atMs)
    const most = mostWithin(times, 1_000)
    proof.check(
      `${kind}: no second has more polls than the cap`,
      most <= CAP_PER_S,
      `at most ${most} of ${CAP_PER_S}; ${times.length} polls`,
    )
  }
}

/** The most instants in any span of so many milliseconds. */
function mostWithin(times: readonly number[], spanMs: number): number {
  let [most, first] = [0, 0]
  const sorted = [...times].sort((a, b) => a - b)
  for (const [at, time] of sorted.entries()) {
    while ((sorted[first] ?? 0) <= time - spanMs) first++
    most = Math.max(most, at - first + 1)
  }
  return most
}

/** While Redis is killed again and again, no poller sees a job go back, or go away. */
async function watched(proof: Proof, bench: VideoStand, ids: readonly string[]): Promise<void> {
  const { redis, client, receiver } = bench
  if (redis === null) return
  const ranks = new Map<string, number>()
  const wrong: string[] = []
  let [isOver, polls] = [false, 0]
  const fresh = await offerSome(client, receiver.origin, proof.isShort ? 20 : 300)
  const all = [...fresh, ...ids.slice(0, 200)]
  const watchers = Array.from({ length: 16 }, async (_, nth) => {
    for (let at = nth; !isOver; at = (at + 16) % all.length) {
      const id = all[at] ?? ''
      // Of what was heard before it was asked: answers of two fronts overtake each other.
      const least = ranks.get(id) ?? 0
      const { status, text } = await client.call('GET', `/videos/${id}`)
      polls++
      if (status !== 200) {
        // What cannot be asked says nothing of the job.
        if (status !== 0 && status !== 500) wrong.push(`${id}: ${status}`)
        continue
      }
      const rank = videoRankOf((JSON.parse(text) as { status: VideoStatus }).status)
      if (rank < least) wrong.push(`${id}: from ${least} back to ${rank}`)
      ranks.set(id, Math.max(rank, ranks.get(id) ?? 0))
    }
  })
  for (let kills = 0; kills < (proof.isShort ? 2 : 12); kills++) {
    await pause(1_500)
    await redis.kill()
    await pause(300)
    await redis.start()
  }
  isOver = true
  await Promise.all(watchers)
  proof.check(
    'no poller sees a job go back, or a 404',
    wrong.length === 0,
    `${wrong.length} of ${polls} polls${some(wrong)}`,
  )
}

async function offerSome(
  client: VideoStand['client'],
  origin: string,
  count: number,
): Promise<readonly string[]> {
  const offers = Array.from({ length: count }, (_, nth) =>
    client.offer(
      { nth, tag: `late ${nth};`, model: 'prove/token', callbackUrl: `${origin}/late/${nth}` },
      () => undefined,
    ),
  )
  return (await Promise.all(offers)).flatMap((one) => (one === null ? [] : [one.id]))
}
