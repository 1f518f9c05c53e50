/** Redis and Postgres are away under streams: none breaks, new calls go on, and all is charged afterwards. */
import { pause } from '../../support/nodes/spawned.ts'
import { until } from '../../support/wait.ts'
import { checkLedger } from '../check-ledger.ts'
import { tally, type Program, type Proof } from '../proof.ts'
import { checkCharged } from './paced/charged.ts'
import { startCall, type PacedCall } from './paced/callers.ts'
import { drawDialect } from './paced/dialects.ts'
import { PACED_MODEL, startPacedStand, type PacedStand } from './paced/stand.ts'

const FULL = { fronts: 2, streams: 200, wordMs: 200, ratePerS: 50, leadMs: 6_000, outMs: 10_000 }
const SHORT = { fronts: 1, streams: 30, wordMs: 100, ratePerS: 15, leadMs: 1_500, outMs: 3_000 }
/** Words of a new call. */
const WORDS = 5
/** USD that the limited key may spend, and its requests a minute: no run comes near. */
const LIMIT_USD = 1_000
const RPM = 30_000
/**
 * What a call asks for. Its bound is some hundred times what it costs: what comes back of each call lasts for
 * the next ones, as it does for callers who set a generous maximum.
 */
const TOKENS_MAX = 5_000
const RETURNED_MS_MAX = 60_000

export const program: Program = {
  text: 'Redis and Postgres away for 10 s under 200 streams and 50 new calls a second: none breaks, none fails, all are charged',
  async run(proof) {
    const size = proof.isShort ? SHORT : FULL
    const stand = await startPacedStand(proof, {
      fronts: size.fronts,
      wordMs: size.wordMs,
      isPostgresEnded: true,
    })
    if (stand.redis === null) {
      proof.skipped = 'redis-server is not on the PATH'
      return
    }
    const { workspace_id: workspaceId, inference_key: free } = stand.stand.keys
    // A call waits 90 ms for its rate: with other tests running Redis may take longer.
    const rate = proof.isShort ? {} : { rate_limit_rpm: RPM }
    const limited = await stand.makeKey(workspaceId, { limit: LIMIT_USD, ...rate })
    const outage: Outage = { proof, stand, size, keys: [free, limited.key] }
    const { streams, calls, isDuring } = await through(outage)
    const whole = streams.filter(({ end }) => end === 'whole').length
    proof.check(
      'no stream breaks',
      whole === size.streams,
      `${whole} of ${size.streams} are whole; ${answersOf(streams)}`,
    )
    checkAnswers(
      proof,
      'stores are there',
      calls.filter(({ id }) => !isDuring(id)),
    )
    checkAnswers(
      proof,
      'stores are away',
      calls.filter(({ id }) => isDuring(id)),
    )
    const answered = [...streams, ...calls].filter(({ status }) => status === 200)
    await checkCharged(proof, stand, { name: 'behind it', calls: answered })
    // A front keeps it for 10 s.
    if (!proof.isShort) {
      const returnedMs = await stand.untilReturned(RETURNED_MS_MAX)
      proof.check('all that was lent comes back', returnedMs !== null, `${returnedMs?.toFixed(0)} ms`)
    }
    await checkLedger(proof, stand.stand)
  },
}

interface Outage {
  readonly proof: Proof
  readonly stand: PacedStand
  readonly size: typeof FULL
  /** Of one without a limit, and one with a limit. */
  readonly keys: readonly string[]
}

interface Calls {
  readonly streams: readonly PacedCall[]
  readonly calls: readonly PacedCall[]
  /** Whether the call of this id began while the stores were away. */
  readonly isDuring: (id: string) => boolean
}

async function through({ proof, stand, size, keys }: Outage): Promise<Calls> {
  const to = { port: stand.stand.port, model: PACED_MODEL }
  const calls: PacedCall[] = []
  const during = new Set<string>()
  let isAway = false
  let count = 0
  const start = (words?: number): PacedCall => {
    const id = `stores-${proof.seed}-${count}`
    const key = keys[count++ % keys.length] ?? ''
    if (isAway) during.add(id)
    const asked = words === undefined ? { id } : { id, words }
    const dialect = drawDialect((below) => proof.random(below))
    return startCall(to, { key, dialect, asked, tokensMax: TOKENS_MAX })
  }
  const streams = Array.from({ length: size.streams }, () => start())
  await Promise.all(streams.map(({ begun }) => begun))
  const timer = setInterval(() => calls.push(start(WORDS)), 1_000 / size.ratePerS)
  await pause(size.leadMs)
  await Promise.all([stand.postgres.kill(), stand.redis?.kill()])
  isAway = true
  await pause(size.outMs)
  isAway = false
  await Promise.all([stand.postgres.start(), stand.redis?.start()])
  await pause(size.leadMs)
  clearInterval(timer)
  // For an answer without a word, responses report no credible tokens.
  await until('every call has a word', () => calls.every(({ end, read }) => end !== 'open' || read > 0))
  stand.provider.endAll()
  await Promise.all([...streams, ...calls].map(({ over }) => over))
  return { streams, calls, isDuring: (id) => during.has(id) }
}

function checkAnswers(proof: Proof, name: string, calls: readonly PacedCall[]): void {
  proof.check(
    `${name}: no call of a known key fails, with a limit or without`,
    calls.length > 0 && calls.every(({ end }) => end === 'whole'),
    answersOf(calls),
  )
}

/** The statuses of calls, and how those ended that are not whole. */
function answersOf(calls: readonly PacedCall[]): string {
  const failed = calls.filter(({ end }) => end !== 'whole')
  const statuses: Record<number, number> = {}
  for (const { status } of calls) statuses[status] = (statuses[status] ?? 0) + 1
  return `${tally(statuses)} ${[...new Set(failed.map(({ refusal, end }) => refusal || end))].join(', ')}`
}
