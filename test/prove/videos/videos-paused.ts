/** A runner that was stopped and goes on changes nothing that another has taken over. */
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../support/nodes/node.ts'
import { callingPortsOf } from '../../support/wire/sockets.ts'
import { some } from './judging.ts'
import { pidsOf } from './killing.ts'
import { startKindsProvider, type KindsProvider } from './provider.ts'
import { startVideoStand, type VideoStand } from './video-stand.ts'
import { judgeRun, offerAll } from './videos.ts'
import type { Program, Proof } from '../proof.ts'

const JOBS = 400
const STOPPED_MS = 20_000
const AWAKE_MS = 10_000
const CALM_MS_MAX = 200_000
/** None ends before it is allowed to. */
const SHORT_MAKE_MS = 600_000
const GIVE_UP_MS = 60_000

export const program: Program = {
  text: 'a runner that is stopped for 20 s and goes on: it changes no row and calls no provider for a job that another took over',
  async run(proof) {
    const provider = await startKindsProvider(proof, { makeMs: proof.isShort ? SHORT_MAKE_MS : 45_000 })
    const bench = await startVideoStand(proof, {
      fronts: 1,
      runners: 2,
      providers: provider.baseUrls,
      video: {
        polls_per_second: 200,
        poll_first_ms: 500,
        poll_max_ms: 2_000,
        lookup_quiet_ms: 4_000,
        submit_timeout_ms: proof.isShort ? 30_000 : 5_000,
      },
    })
    const { accepted } = await offerAll(proof, bench, proof.isShort ? 60 : JOBS)
    await untilRunning(bench, accepted.length * 0.9)
    const serverPorts = Object.values(provider.baseUrls).map((url) => Number(new URL(url).port))
    const victim = await busyRunner(bench.stand.pid, serverPorts)
    const overtaken = await stopped({ proof, bench, victim })
    await awake({ proof, bench, victim, provider, serverPorts, overtaken })
    if (proof.isShort) await provider.finish()
    const calmMs = await bench.untilCalm(CALM_MS_MAX)
    proof.check(
      'all is calm in the end',
      calmMs !== null,
      calmMs === null ? 'never' : `after ${(calmMs / 1_000).toFixed(1)} s`,
    )
    await judgeRun(proof, bench, {
      offered: accepted.length,
      accepted,
      submissions: await provider.submissions(),
    })
  },
}

/** Until both hold jobs that run at their providers. */
async function untilRunning({ store }: VideoStand, count: number): Promise<void> {
  for (let running = 0; running < count; await pause(250)) {
    const [row] = await store.sql<
      { count: number }[]
    >`SELECT count(*)::int AS count FROM video_jobs WHERE state = 'running'`
    running = row?.count ?? 0
  }
}

interface Stopping {
  readonly proof: Proof
  readonly bench: VideoStand
  /** Process id of the runner that stops. */
  readonly victim: number
}

/** @returns attempts of the jobs that the other runner took over */
async function stopped({ proof, bench, victim }: Stopping): Promise<ReadonlyMap<string, number>> {
  const before = await attemptsOf(bench)
  process.kill(victim, 'SIGSTOP')
  const stoppedMs = proof.isShort ? STOPPED_MS * 0.6 : STOPPED_MS
  await pause(stoppedMs)
  let taken = await attemptsOf(bench)
  const overtakenOf = (): readonly (readonly [id: string, attempt: number])[] =>
    [...taken].filter(([id, attempt]) => attempt > (before.get(id) ?? Infinity))
  for (
    const endsAt = performance.now() + GIVE_UP_MS;
    overtakenOf().length === 0 && performance.now() < endsAt;
    await pause(250)
  )
    taken = await attemptsOf(bench)
  const overtaken = overtakenOf()
  proof.check(
    'the other one takes its jobs over',
    overtaken.length > 0,
    `${overtaken.length} of ${taken.size} in ${stoppedMs / 1_000} s`,
  )
  return new Map(overtaken)
}

interface Awaking extends Stopping {
  readonly provider: KindsProvider
  readonly serverPorts: readonly number[]
  readonly overtaken: ReadonlyMap<string, number>
}

/** The runner goes on and leaves alone what the other took over. */
async function awake({ proof, bench, victim, provider, serverPorts, overtaken }: Awaking): Promise<void> {
  process.kill(victim, 'SIGCONT')
  const wokenAt = Date.now()
  const awakeMs = proof.isShort ? AWAKE_MS / 3 : AWAKE_MS
  const ports = new Set<number>()
  for (const endsAt = performance.now() + awakeMs; performance.now() < endsAt; await pause(50)) {
    for (const serverPort of serverPorts)
      for (const port of callingPortsOf(victim, serverPort)) ports.add(port)
  }
  const after = await attemptsOf(bench)
  const moved = [...overtaken.keys()].filter(
    (id) => after.get(id) !== undefined && after.get(id) !== overtaken.get(id),
  )
  proof.check('it claims none of them back', moved.length === 0, `${moved.length}${some(moved)}`)
  const upstreamIds = await upstreamIdsOf(bench, overtaken)
  const polls = (await provider.polls()).filter(({ atMs }) => atMs >= wokenAt)
  const foreign = polls.filter(({ port, upstreamId }) => ports.has(port) && upstreamIds.has(upstreamId))
  proof.check(
    'it polls none of them',
    foreign.length === 0,
    `${foreign.length} of ${polls.length} polls in ${(awakeMs / 1_000).toFixed(0)} s`,
  )
}

async function attemptsOf({ store }: VideoStand): Promise<ReadonlyMap<string, number>> {
  const rows = await store.sql<
    { id: string; attempt: number }[]
  >`SELECT id, attempt FROM video_jobs WHERE state IN ('submitting', 'running', 'storing')`
  return new Map(rows.map(({ id, attempt }) => [id, attempt]))
}

/** Ids that the jobs have at their providers. */
async function upstreamIdsOf(
  { store }: VideoStand,
  ids: ReadonlyMap<string, unknown>,
): Promise<ReadonlySet<string>> {
  const rows = await store.sql<
    { id: string; upstream_id: string }[]
  >`SELECT id, upstream_id FROM video_jobs WHERE upstream_id IS NOT NULL`
  return new Set(rows.filter(({ id }) => ids.has(id)).map((row) => row.upstream_id))
}

/** One that calls providers: the other one may have been too late for any job. */
async function busyRunner(pid: number, serverPorts: readonly number[]): Promise<number> {
  let found: number | undefined
  await until('a runner calls its providers', () => {
    found = pidsOf(pid, 'runner').find((runner) =>
      serverPorts.some((port) => callingPortsOf(runner, port).size > 0),
    )
    return found !== undefined
  })
  if (found === undefined) throw new Error('no runner calls a provider')
  return found
}
