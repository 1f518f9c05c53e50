/** Rates of a key while Redis refuses every script, and calls while Sentinels fail over. */
import { startLoad } from '../../support/load/load.ts'
import { monotonicMs } from '../../support/load/load-plan.ts'
import {
  startRedisServer,
  startSentinels,
  whyNoRedis,
  type RedisServer,
} from '../../support/nodes/redis-servers.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import { tally, type Program, type Proof } from '../proof.ts'

/** Calls a minute of the key, what it may send at once, and what is offered. */
const [RPM, BURST, OFFERED_PER_S] = [600, 60, 30]
/** Share beyond the exact number of calls that may pass. */
const SURPLUS_MAX = 0.05
/** Seconds of a look at the state of the node: in them a call may be judged either way. */
const LOOK_S = 1
const GIVE_UP_MS = 60_000
const BACK_MS_MAX = 5_000

interface Refusal {
  readonly name: string
  /** Commands that have Redis refuse scripts, and those that undo them. */
  readonly begin: readonly string[]
  readonly end: readonly string[]
}

const REFUSALS: readonly Refusal[] = [
  { name: 'READONLY', begin: ['REPLICAOF 127.0.0.1 1'], end: ['REPLICAOF NO ONE'] },
  { name: 'OOM', begin: ['CONFIG SET maxmemory 1'], end: ['CONFIG SET maxmemory 0'] },
  { name: 'NOPERM', begin: ['ACL SETUSER default -@scripting'], end: ['ACL SETUSER default +@all'] },
]

export const program: Program = {
  text: 'the rate of a key is held while Redis refuses scripts (replica, full, without rights), and no call fails while Sentinels fail over',
  async run(proof) {
    proof.skipped = await whyNoRedis()
    if (proof.skipped !== null) return
    const redis = await startRedisServer(proof)
    const stand = await startStand({ settings: { REDIS_URL: redis.url } })
    proof.after(() => stand.stop())
    // In short the seed leaves one row out.
    const left = proof.isShort ? proof.random(REFUSALS.length) : null
    const rows = REFUSALS.filter((_, nth) => nth !== left)
    for (const refusal of rows) await held(proof, { refusal, redis, stand })
    await failedOver(proof)
  },
}

interface Row {
  readonly refusal: Refusal
  readonly redis: RedisServer
  readonly stand: Stand
}

/** More is offered than the key may send, before, while and after Redis refuses. */
async function held(proof: Proof, { refusal, redis, stand }: Row): Promise<void> {
  const { name } = refusal
  const made = await stand.cli('keys', 'create', '--name', name, '--kind', 'inference', '--rpm', String(RPM))
  const restMs = proof.isShort ? 1_000 : 10_000
  const beganAt = monotonicMs()
  const load = await offered(stand, stand.embeddings(String(made['key'])))
  await pause(restMs)
  const refusedAt = monotonicMs()
  for (const line of refusal.begin) await redis.command(line)
  const seenMs = await untilDegraded(stand, { isDegraded: true })
  const metrics = (await stand.admin('/metrics')).text
  await pause(2 * restMs)
  for (const line of refusal.end) await redis.command(line)
  const backMs = await untilDegraded(stand, { isDegraded: false })
  const awayS = (monotonicMs() - refusedAt) / 1_000
  await pause(restMs)
  const result = await load.stop()
  const seconds = (monotonicMs() - beganAt) / 1_000

  const exact = BURST + (RPM / 60) * seconds
  const passed = result.statuses[200] ?? 0
  const least = exact - (RPM / 60) * (awayS + LOOK_S)
  proof.check(
    `${name}: it is seen, and seen to be over`,
    seenMs < GIVE_UP_MS && backMs < GIVE_UP_MS,
    `${seenMs.toFixed(0)} ms, ${backMs.toFixed(0)} ms`,
  )
  proof.check(
    `${name}: sluice_redis_up is 0 meanwhile`,
    /^sluice_redis_up 0$/m.test(metrics),
    /^sluice_redis_up \d/m.exec(metrics)?.[0] ?? 'no metric',
  )
  proof.check(
    `${name}: no more than the limit and 5 % pass`,
    passed <= exact * (1 + SURPLUS_MAX),
    `${passed} of ${exact.toFixed(0)} in ${seconds.toFixed(1)} s`,
  )
  proof.checkTimed(
    `${name}: no fewer than the limit but for the time away`,
    passed >= least,
    `${passed}, at least ${least.toFixed(0)}`,
  )
  const others = result.requests - passed - (result.statuses[429] ?? 0)
  proof.check(`${name}: every call is answered 200 or 429`, others === 0, tally(result.statuses))
}

/** The primary is killed under load. */
async function failedOver(proof: Proof): Promise<void> {
  const { primary, url } = await startSentinels(proof)
  const stand = await startStand({ settings: { REDIS_URL: url } })
  proof.after(() => stand.stop())
  await untilDegraded(stand, { isDegraded: false })
  const load = await offered(stand, stand.embeddings())
  await pause(proof.isShort ? 1_000 : 10_000)
  const killedAt = monotonicMs()
  await primary.kill()
  await untilDegraded(stand, { isDegraded: true })
  await untilDegraded(stand, { isDegraded: false })
  const awayMs = monotonicMs() - killedAt
  await pause(proof.isShort ? 500 : 10_000)
  const result = await load.stop()
  const failed = result.requests - (result.statuses[200] ?? 0)
  proof.check(
    'no call fails while Sentinels fail over',
    failed === 0 && result.requests > 0,
    `${tally(result.statuses)} ${result.failures.join(', ')}`,
  )
  proof.check('the new primary is found', awayMs < GIVE_UP_MS, `after ${awayMs.toFixed(0)} ms`)
  proof.checkTimed('within 5 s of the death of the old one', awayMs <= BACK_MS_MAX, `${awayMs.toFixed(0)} ms`)
}

function offered(stand: Stand, request: ReturnType<Stand['embeddings']>) {
  return startLoad({
    host: '127.0.0.1',
    port: stand.port,
    connections: 16,
    durationMs: 600_000,
    pace: { kind: 'open', ratePerS: OFFERED_PER_S },
    requests: [request],
  })
}

/** Milliseconds until `/readyz` has Redis among what is degraded, or no longer. */
async function untilDegraded(
  stand: Stand,
  { isDegraded }: { readonly isDegraded: boolean },
): Promise<number> {
  const from = monotonicMs()
  while (monotonicMs() - from < GIVE_UP_MS) {
    const { text } = await stand.admin('/readyz').catch(() => ({ text: '{}' }))
    const { degraded } = JSON.parse(text) as { readonly degraded?: readonly string[] }
    if (degraded !== undefined && degraded.includes('redis') === isDegraded) break
    await pause(20)
  }
  return monotonicMs() - from
}
