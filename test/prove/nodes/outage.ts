/** Both stores stop for a while, and no caller with a known key notices. */
import { request, type Agent } from 'node:http'
import { startLoad } from '../../support/load/load.ts'
import { monotonicMs } from '../../support/load/load-plan.ts'
import { outsidePostgres, outsideRedis } from '../../support/nodes/outside-stores.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import { connectToEach } from '../both-fronts.ts'
import { tally, type Program } from '../proof.ts'

const RATE_PER_S = 1_000
/** In short, and no more of them at once than a slow machine answers. */
const SHORT_RATE_PER_S = 100
const DEGRADED_MS_MAX = 2_000
const NORMAL_MS_MAX = 3_000
const GIVE_UP_MS = 60_000

export const program: Program = {
  text: '1,000 requests a second for 30 s while Postgres and Redis are stopped for 10 s of it',
  async run(proof) {
    const redis = await outsideRedis()
    if (redis === null) {
      proof.skipped = 'redis-server is not on the PATH'
      return
    }
    proof.after(() => redis.close())
    const postgres = await outsidePostgres()
    proof.after(() => postgres.close())
    const stand = await startStand({
      settings: { SLUICE_FRONTS: '2', DATABASE_URL: postgres.url, REDIS_URL: redis.url },
    })
    proof.after(() => stand.stop())
    // The key and its models are to be known at both fronts, also where the load of the lead misses one of them.
    for (const agent of await connectToEach(stand)) {
      await called(stand, agent)
      agent.destroy()
    }
    const [leadMs, outMs] = proof.isShort ? [1_000, 2_500] : [10_000, 10_000]

    const load = await startLoad({
      host: '127.0.0.1',
      port: stand.port,
      connections: 64,
      durationMs: 600_000,
      ...(proof.isShort
        ? { pace: { kind: 'closed' }, ratePerSMax: SHORT_RATE_PER_S, answerTimeoutMs: 2 * GIVE_UP_MS }
        : { pace: { kind: 'open', ratePerS: RATE_PER_S } }),
      requests: [stand.embeddings()],
    })
    await pause(leadMs)
    const outAt = monotonicMs()
    await Promise.all([postgres.kill(), redis.kill()])
    const degradedMs = await until(stand, outAt, (readiness) => readiness === 'degraded')
    await pause(Math.max(0, outMs - (monotonicMs() - outAt)))
    await Promise.all([postgres.start(), redis.start()])
    const normalMs = await until(stand, monotonicMs(), (readiness) => readiness === 'ready')
    await pause(leadMs)
    const result = await load.stop()

    const failed = result.requests - (result.statuses[200] ?? 0)
    proof.check(
      'no request fails for a known key',
      failed === 0 && result.requests > 0,
      `${tally(result.statuses)} ${result.failures.join(', ')}`,
    )
    proof.check(
      'readiness is degraded, not unavailable, while the stores are away',
      degradedMs < GIVE_UP_MS,
      `after ${degradedMs.toFixed(0)} ms`,
    )
    proof.check('readiness is back to normal', normalMs < GIVE_UP_MS, `after ${normalMs.toFixed(0)} ms`)
    proof.checkTimed('degraded within 2 s', degradedMs <= DEGRADED_MS_MAX, `${degradedMs.toFixed(0)} ms`)
    proof.checkTimed(
      'normal within 3 s of their return',
      normalMs <= NORMAL_MS_MAX,
      `${normalMs.toFixed(0)} ms`,
    )
    const perS = (result.requests / result.measuredMs) * 1_000
    proof.checkTimed(
      'the rate is held',
      perS >= (proof.isShort ? SHORT_RATE_PER_S : RATE_PER_S) * 0.98,
      `${perS.toFixed(0)} a second, p50 ${result.latency.p50} ms, p99 ${result.latency.p99} ms, most ${result.latency.max} ms`,
    )
  },
}

/** Milliseconds since `from` until the readiness page says so. */
function called({ port, embeddings }: Stand, agent: Agent): Promise<void> {
  const { method, path, headers, body } = embeddings()
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, method, path, headers, agent }, (answer) =>
      answer.resume().once('end', resolve),
    )
      .once('error', reject)
      .end(body)
  })
}

async function until(stand: Stand, from: number, isStated: (readiness: string) => boolean): Promise<number> {
  while (monotonicMs() - from < GIVE_UP_MS) {
    const { text } = await stand.admin('/readyz').catch(() => ({ text: '{}' }))
    const { status } = JSON.parse(text) as { status?: string }
    if (status !== undefined && isStated(status)) break
    await pause(20)
  }
  return monotonicMs() - from
}
