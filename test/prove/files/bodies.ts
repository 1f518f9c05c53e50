/** Bodies at and above the limit, while small calls go on. */
import { runLoad, startLoad } from '../../support/load/load.ts'
import type { LoadRequest } from '../../support/load/load-plan.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import { tally, type Program, type Proof } from '../proof.ts'

const MIB = 1024 * 1024
const VALID_BYTES = 31 * MIB
const TOO_LARGE_BYTES = 40 * MIB
const LOOP_MS_MAX = 50
/** Milliseconds for what a crowded machine has not done yet: the node's own deadlines are sooner. */
const PATIENCE_MS = 120_000
/** Stands in every large body: no log line may hold it. */
const CANARY = 'canary-in-a-body-7d1f'

export const program: Program = {
  text: '31 MiB is 200 and 40 MiB is 413, while the loop is never blocked over 50 ms and nothing of the content is logged',
  async run(proof) {
    const stand = await startStand({ settings: { SLUICE_LOG_LEVEL: 'debug' } })
    proof.after(() => stand.stop())
    const small = await startLoad({
      host: '127.0.0.1',
      port: stand.port,
      connections: 4,
      durationMs: 600_000,
      warmUpMs: 300,
      pace: { kind: 'open', ratePerS: proof.isShort ? 40 : 200 },
      requests: [stand.embeddings()],
      drainMs: PATIENCE_MS,
      answerTimeoutMs: PATIENCE_MS,
    })
    await pause(500)
    // Each look resets the figure: the cost of the start must not count.
    await stand.admin('/metrics')
    const rounds = proof.isShort ? 1 : 5
    for (const [name, isTokens] of [
      ['text', false],
      ['tokens', true],
    ] as const) {
      await send(proof, {
        stand,
        name: `31 MiB of ${name}`,
        body: bodyOf(VALID_BYTES, isTokens),
        wanted: 200,
        rounds,
      })
    }
    await send(proof, { stand, name: '40 MiB', body: bodyOf(TOO_LARGE_BYTES, false), wanted: 413, rounds })
    const meanwhile = await small.stop()
    proof.check(
      'small calls go on meanwhile',
      Object.keys(meanwhile.statuses).every((status) => status === '200'),
      tally(meanwhile.statuses),
    )
    const delay = loopDelay((await stand.admin('/metrics')).text)
    proof.checkTimed(
      'the loop is never blocked over 50 ms',
      delay !== null && delay <= LOOP_MS_MAX,
      `${delay === null ? 'no figure' : `${delay.toFixed(1)} ms`} at most, small calls p99 ${meanwhile.latency.p99} ms, most ${meanwhile.latency.max} ms`,
    )
    proof.check(
      'nothing of the content is logged',
      !stand.output().includes(CANARY),
      `${stand.output().length} characters of log`,
    )
  },
}

interface Sending {
  readonly stand: Stand
  readonly name: string
  readonly body: string
  readonly wanted: number
  readonly rounds: number
}

async function send(proof: Proof, { stand, name, body, wanted, rounds }: Sending): Promise<void> {
  const request: LoadRequest = { ...stand.embeddings(), body }
  const statuses: Record<number, number> = {}
  for (let round = 0; round < rounds; round++) {
    const result = await runLoad({
      host: '127.0.0.1',
      port: stand.port,
      connections: 1,
      durationMs: PATIENCE_MS,
      requestsMax: 1,
      pace: { kind: 'closed' },
      requests: [request],
      answerTimeoutMs: PATIENCE_MS,
    })
    for (const [status, count] of Object.entries(result.statuses))
      statuses[Number(status)] = (statuses[Number(status)] ?? 0) + count
  }
  proof.say(`${name}: ${tally(statuses)}`)
  proof.check(`${name} is ${wanted}`, statuses[wanted] === rounds, tally(statuses))
}

/**
 * A valid embeddings body of one input, a text or a list of tokens, of so many bytes give or take an element.
 */
function bodyOf(bytes: number, isTokens: boolean): string {
  const element = isTokens ? '1,22,333,4444,55555' : `${CANARY} ${'lorem ipsum '.repeat(80)}`
  const elements = Array.from({ length: Math.floor((bytes - 100) / (element.length + 1)) }, () => element)
  const input = isTokens ? `[${elements.join(',')}]` : `"${elements.join(' ')}"`
  return `{"model":"bench/embed","user":"${CANARY}","input":${input}}`
}

/**
 * Longest delay of an event loop of the node in milliseconds since the last look; null when its metrics do
 * not say.
 */
function loopDelay(metrics: string): number | null {
  const value = /^sluice_event_loop_delay_seconds\{[^}]*percentile="100"[^}]*\} ([\d.e+-]+)$/m.exec(
    metrics,
  )?.[1]
  return value === undefined ? null : Number(value) * 1_000
}
