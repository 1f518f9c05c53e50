/** Whatever is killed, each accepted job ends once, is charged once, and is reported once it has ended. */
import { setTimeout as pause } from 'node:timers/promises'
import { countOf, judge, readJobs } from './judging.ts'
import { startKilling } from './killing.ts'
import type { Accepted, Answer } from './offers.ts'
import { startKindsProvider } from './provider.ts'
import { modelOf, startVideoStand, SUBMIT_KINDS, type VideoStand } from './video-stand.ts'
import type { Stand } from '../../support/nodes/stand.ts'
import { checkLedger } from '../check-ledger.ts'
import { tally, type Program, type Proof } from '../proof.ts'

const JOBS = 5_000
const RATE_PER_S = 110
const KILLS_MIN = 50
const KILLS_EACH_MIN = 10
const KILL_EVERY_MS = 1_000
/** In short: where a front takes longer to start than until the next kill, nothing would ever be accepted. */
const KILLS_SHORT_MOST = 6
/** Milliseconds of all calls for one job in short, where a front may take long to start. */
const OFFER_SHORT_MS_MAX = 300_000
const CALM_MS_MAX = 400_000
const ACCEPTED_SHARE_MIN = 0.95
/** A call that is not known to have ended is one that the provider lists soon. */
const LOOKUP_QUIET_MS = 4_000
const SUBMIT_TIMEOUT_MS = 5_000

export const program: Program = {
  text: '5,000 video jobs while a front, a runner or Redis is killed each second: none lost, charged twice, stuck or untold',
  async run(proof) {
    const provider = await startKindsProvider(proof)
    const bench = await startVideoStand(proof, {
      fronts: proof.isShort ? 1 : 2,
      runners: 2,
      providers: provider.baseUrls,
      video: {
        polls_per_second: 200,
        poll_first_ms: 500,
        poll_max_ms: 2_000,
        concurrency: 64,
        submit_timeout_ms: SUBMIT_TIMEOUT_MS,
        lookup_quiet_ms: LOOKUP_QUIET_MS,
      },
    })
    const [jobs, kills, each] = proof.isShort ? [90, 3, 1] : [JOBS, KILLS_MIN, KILLS_EACH_MIN]
    const killing = startKilling({
      pid: bench.stand.pid,
      redis: bench.redis,
      everyMs: KILL_EVERY_MS,
      random: (below) => proof.random(below),
      ...(proof.isShort && { most: KILLS_SHORT_MOST }),
    })
    const { accepted, statuses, perS } = await offerAll(proof, bench, jobs)
    while (
      killing.total < kills ||
      Object.entries(killing.kills).some(
        ([victim, count]) => count < each && (victim !== 'redis' || bench.redis !== null),
      )
    ) {
      await pause(100)
    }
    await killing.end()
    proof.check(
      'enough was killed',
      killing.total >= kills,
      Object.entries(killing.kills)
        .map(([victim, count]) => `${victim} × ${count}`)
        .join(', '),
    )
    proof.check(
      'enough was accepted',
      accepted.length >= jobs * ACCEPTED_SHARE_MIN,
      `${accepted.length} of ${jobs}; refused on the way: ${tally(statuses)}`,
    )
    proof.checkTimed(
      `at least ${RATE_PER_S - 10} a second were offered`,
      perS >= RATE_PER_S - 10,
      `${perS.toFixed(0)} a second`,
    )
    const calmMs = await bench.untilCalm(proof.isShort ? CALM_MS_MAX / 2 : CALM_MS_MAX)
    proof.check(
      'all is calm in the end',
      calmMs !== null,
      calmMs === null ? 'never' : `${(calmMs / 1_000).toFixed(1)} s behind the last kill`,
    )
    await judgeRun(proof, bench, { offered: jobs, accepted, submissions: await provider.submissions() })
  },
}

/** Of a stand, what a run is judged by. */
export interface JudgedStand extends Pick<VideoStand, 'store' | 'receiver'> {
  readonly stand: Pick<Stand, 'cli'>
}

/** Offers at a steady pace, whatever becomes of earlier ones. */
export async function offerAll(
  proof: Proof,
  { client, receiver }: VideoStand,
  count: number,
  ratePerS = RATE_PER_S,
): Promise<{
  readonly accepted: readonly Accepted[]
  readonly statuses: Readonly<Record<number, number>>
  readonly perS: number
}> {
  const statuses: Record<number, number> = {}
  const offers: Promise<Accepted | null>[] = []
  const startedAt = performance.now()
  for (let nth = 0; nth < count; nth++) {
    const kind = SUBMIT_KINDS[nth % SUBMIT_KINDS.length] ?? 'token'
    const offer = {
      nth,
      tag: `job ${proof.seed}-${nth};`,
      model: modelOf(kind),
      callbackUrl: `${receiver.origin}/${nth}`,
    }
    const answer = ({ status }: Answer): void => void (statuses[status] = (statuses[status] ?? 0) + 1)
    offers.push(client.offer(offer, answer, ...(proof.isShort ? [OFFER_SHORT_MS_MAX] : [])))
    await pause(Math.max(0, startedAt + ((nth + 1) * 1_000) / ratePerS - performance.now()))
  }
  const perS = count / ((performance.now() - startedAt) / 1_000)
  const accepted = (await Promise.all(offers)).filter((one) => one !== null)
  proof.say(`calls until a job was accepted: ${countOf(accepted.map(({ calls }) => String(calls)))}`)
  return { accepted, statuses, perS }
}

/** When all is calm. */
export async function judgeRun(
  proof: Proof,
  { store, stand, receiver }: JudgedStand,
  run: Omit<Parameters<typeof judge>[1], 'rows' | 'webhooks' | 'leases'>,
): Promise<void> {
  const { sql } = store
  const [held] = await sql<
    { count: number }[]
  >`SELECT count(*)::int AS count FROM leases WHERE journal_id IN (SELECT hold_id FROM video_jobs)`
  judge(proof, { ...run, rows: await readJobs(sql), webhooks: receiver.received, leases: held?.count ?? -1 })
  await checkLedger(proof, stand)
}
