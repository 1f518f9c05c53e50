/** `npm run bench -- egress`: requests passed on, against nginx as a reverse proxy to the same target over TLS. */
import { spread } from './statistics.ts'
import { startEgressNginx, startEgressSluice, startEgressTarget, type EgressTarget } from './transfers/egress-servers.ts'
import { interleaveTransfers, type TransferSample } from './transfers/measure.ts'
import { transferOptionsOrExit } from './transfers/options.ts'
import { transferRatio, transferRow } from './transfers/report.ts'
import { Bench, progress } from './transfers/scenario.ts'
import type { FileTarget } from './transfers/target.ts'

/** Fewer are no median. */
const PAIRS_MIN = 5
/** Of the requests whose latency counts, one after the other on one connection. */
const SMALL_BYTES = 1e3
const SMALL_ROUNDS = 2_000
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
  if (bench.runs('speed')) cpuFacts(await bench.speed(repeats))
  await latency([...target.targets, ...bench.targets.filter(({ name }) => name.endsWith('down'))], repeats)
  await bench.stopServers()
}

function cpuFacts(found: ReadonlyMap<string, readonly TransferSample[]>): void {
  const cpuOf = (one: TransferSample): number => one.mainPerGb + one.threadsPerGb + one.restPerGb
  for (const way of ['up', 'down']) {
    const [ours, theirs] = [found.get(`sluice, ${way}`) ?? [], found.get(`nginx, ${way}`) ?? []]
    if (ours.length === 0 || theirs.length === 0) continue
    const cpu = transferRatio(ours, theirs, cpuOf)
    const rate = transferRatio(ours, theirs, (one) => one.mbPerS)
    bench.fact(`${way}: CPU a GB over nginx ${cpu.median.toFixed(2)} (${cpu.min.toFixed(2)}–${cpu.max.toFixed(2)}), MB/s over nginx ${rate.median.toFixed(2)}`)
  }
}

/** What each adds to the median of a small request, counted from the target itself. */
async function latency(targets: readonly FileTarget[], repeats: number): Promise<void> {
  const ask = { connections: 1, payloadBytes: SMALL_BYTES, rounds: SMALL_ROUNDS, durationMs: SMALL_MS }
  await interleaveTransfers(targets, { ...ask, rounds: SMALL_ROUNDS / 10 }, { repeats: 1, progress: (text) => progress(`warming ${text}`) })
  const found = await interleaveTransfers(targets, ask, { repeats, progress })
  bench.table('small answers, one at a time', [...found].map(([name, samples]) => transferRow(name, ask, samples)))
  const direct = found.get('direct') ?? []
  for (const [name, samples] of found) {
    const added = spread(samples.map((one, index) => (one.p50Ms - (direct[index]?.p50Ms ?? NaN)) * 1_000))
    if (name === 'direct') continue
    const spreadText = `(${added.min.toFixed(0)}–${added.max.toFixed(0)})`
    bench.fact(`${name}: p50 of a small answer +${added.median.toFixed(0)} µs ${spreadText} over direct`)
  }
}
