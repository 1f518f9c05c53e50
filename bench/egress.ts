/**
 * `npm run bench -- egress`: forwarded requests, against nginx as a reverse proxy to the same target over
 * TLS.
 */
import { progress } from './keep-record.ts'
import { spread } from './statistics.ts'
import {
  startEgressNginx,
  startEgressSluice,
  startEgressTarget,
  type EgressTarget,
} from './transfers/egress-servers.ts'
import { interleaveTransfers } from './transfers/measure.ts'
import { transferOptionsOrExit } from './transfers/options.ts'
import { Bench } from './transfers/scenario.ts'
import type { FileTarget } from './transfers/target.ts'

/** Repeats below which there is no median. */
const PAIRS_MIN = 5
/** Bytes of the requests whose latency counts, sent one after the other on one connection. */
const SMALL_BYTES = 1e3
/** Number of these requests. */
const SMALL_ROUNDS = 2_000
/** Milliseconds after which none of these requests begins. */
const SMALL_MS = 5_000

const options = transferOptionsOrExit(process.argv.slice(2))
const bench = new Bench('egress', options)

try {
  const target = await startEgressTarget([SMALL_BYTES, options.payloadBytes])
  if ('absent' in target) progress(`left out: ${target.absent}`)
  else await beside(target).finally(() => target.stop())
  await bench.report()
} finally {
  await bench.stopServers()
}

async function beside(target: EgressTarget): Promise<void> {
  await bench.start('nginx', () => startEgressNginx(target))
  await bench.start('sluice', () => startEgressSluice(target))
  const repeats = Math.max(PAIRS_MIN, options.repeats)
  if (bench.runs('speed')) await bench.speed(repeats)
  await latency([...target.targets, ...bench.targets.filter(({ name }) => name.endsWith('down'))], repeats)
  await bench.stopServers()
}

/** Latency that each subject adds to the median of a small request, compared with the target itself. */
async function latency(targets: readonly FileTarget[], repeats: number): Promise<void> {
  const ask = { connections: 1, payloadBytes: SMALL_BYTES, rounds: SMALL_ROUNDS, durationMs: SMALL_MS }
  await interleaveTransfers(
    targets,
    { ...ask, rounds: SMALL_ROUNDS / 10 },
    { repeats: 1, progress: (text) => progress(`warming ${text}`) },
  )
  const found = await interleaveTransfers(targets, ask, { repeats, progress })
  bench.rows('one at a time', ask, found)
  for (const target of targets) bench.subject(target)
  const direct = found.get('direct') ?? []
  for (const [name, samples] of found) {
    const added = spread(
      samples.map((one, index) => (one.latencyMs.p50 - (direct[index]?.latencyMs.p50 ?? NaN)) * 1_000),
    )
    if (name === 'direct') continue
    const spreadText = `(${added.min.toFixed(0)}–${added.max.toFixed(0)})`
    bench.fact(`${name}: p50 of a small answer +${added.median.toFixed(0)} µs ${spreadText} over direct`)
  }
}
