/** Postgres restarts every 10 s, and no acknowledged job is lost. */
import { setTimeout as pause } from 'node:timers/promises'
import { startKindsProvider } from './provider.ts'
import { startVideoStand } from './video-stand.ts'
import { judgeRun, offerAll } from './videos.ts'
import { tally, type Program } from '../proof.ts'

const JOBS = 1_000
/** So that Postgres restarts four times while they are offered. */
const RATE_PER_S = 25
const RESTART_EVERY_MS = 10_000
const RESTARTS_MIN = 2
const AWAY_MS = 500
const CALM_MS_MAX = 300_000

export const program: Program = {
  text: '1,000 video jobs while Postgres restarts every 10 s: no acknowledged one is lost',
  async run(proof) {
    const provider = await startKindsProvider(proof)
    const bench = await startVideoStand(proof, {
      fronts: proof.isShort ? 1 : 2,
      runners: proof.isShort ? 1 : 2,
      isPostgresEnded: true,
      providers: provider.baseUrls,
      video: {
        polls_per_second: 100,
        poll_first_ms: 500,
        poll_max_ms: 2_000,
        submit_timeout_ms: 5_000,
        lookup_quiet_ms: 4_000,
      },
    })
    const everyMs = proof.isShort ? RESTART_EVERY_MS / 4 : RESTART_EVERY_MS
    let [isOver, restarts] = [false, 0]
    const restarting = (async () => {
      while (!isOver || restarts < RESTARTS_MIN) {
        await pause(everyMs)
        await bench.postgres.kill()
        await pause(AWAY_MS)
        await bench.postgres.start()
        restarts++
      }
    })()
    const { accepted, statuses } = await offerAll(proof, bench, proof.isShort ? 75 : JOBS, RATE_PER_S)
    isOver = true
    await restarting
    const calmMs = await bench.untilCalm(CALM_MS_MAX)
    proof.check(
      'all is calm in the end',
      calmMs !== null,
      `${restarts} restarts; ${accepted.length} accepted; refused on the way: ${tally(statuses)}`,
    )
    await judgeRun(proof, bench, {
      offered: accepted.length,
      accepted,
      submissions: await provider.submissions(),
    })
    const ended = bench.stand
      .output()
      .split('\n')
      .filter((line) => /child_ended|crash|fatal|uncaught/i.test(line))
    proof.check('no process ended', ended.length === 0, ended.slice(0, 2).join(' ') || 'none')
  },
}
