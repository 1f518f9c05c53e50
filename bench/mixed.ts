/**
 * `npm run bench -- mixed`: the latency of callers of each kind, and the resources of a node, under all kinds
 * of load together.
 */
import { treeCpuS } from '../test/support/load/process-cpu.ts'
import { keepRecord, progress } from './keep-record.ts'
import { GENERATOR_LATE_MS_MAX } from './latency/steps.ts'
import { answeredPerS } from './measure.ts'
import { mixedCeiling, startMixedLoad } from './mixed/load.ts'
import { MIXED_KINDS, MIXED_SHARES, UPLOAD_BYTES_LEAST, UPLOAD_BYTES_MOST } from './mixed/mix.ts'
import { MIXED_OPTIONS_TEXT, readMixedOptions } from './mixed/options.ts'
import { mixedRows, type MixedRepeat } from './mixed/rows.ts'
import { startMixedStand } from './mixed/stand.ts'
import { coresByRole, peakBytes, processCurves, watchProcesses, type WatchedLook } from './mixed/watch.ts'
import { optionsOrExit } from './options.ts'
import { checkRecord } from './record.ts'
import { spread } from './statistics.ts'

const SCENARIO = 'mixed'
const WARM_UP_MS = 2_000
/** Milliseconds of the closed loop that finds the machine's ceiling. */
const CEILING_MS = 5_000
/** Milliseconds between two looks at the processes. */
const LOOK_MS = 500

const options = optionsOrExit(process.argv.slice(2), readMixedOptions, MIXED_OPTIONS_TEXT)
const { connections, seed } = options
const stand = await startMixedStand({
  dimensions: options.dimensions,
  settings: { SLUICE_FRONTS: String(options.fronts), SLUICE_WORKERS: String(options.workers) },
})
try {
  const ratePerS = options.ratePerS === 0 ? await shareOfCeiling() : options.ratePerS
  const repeats: (MixedRepeat & { readonly looks: readonly WatchedLook[] })[] = []
  for (let repeat = 0; repeat < options.repeats; repeat++) {
    progress(`repeat ${repeat + 1} of ${options.repeats}: ${ratePerS} a second for ${options.seconds} s`)
    repeats.push(await oneRepeat(ratePerS))
  }
  const rows = mixedRows(SCENARIO, repeats, { ratePerS, connections })
  const last = repeats.at(-1)?.looks ?? []
  await keepRecord(
    {
      scenario: SCENARIO,
      question:
        'what callers of each kind see, and what a node uses, while embeddings, reads, uploads and videos are asked for at once at a fixed rate',
      settings: {
        ratePerS,
        durationMs: options.seconds * 1_000,
        repeats: options.repeats,
        connections,
        dimensions: options.dimensions,
        fronts: options.fronts,
        workers: options.workers,
        seed,
      },
      subjects: [
        {
          name: 'sluice',
          note: 'the whole node: supervisor, fronts, workers, runner, embedded Postgres and Redis',
        },
      ],
      absent: [],
      rows,
      ratios: [],
      curves: processCurves(SCENARIO, last),
      checks: [
        checkRecord(
          'requests that failed under the mix',
          spread(repeats.map(({ result }) => result.failed)),
          {
            bound: { atMost: 0 },
            rows: rows.slice(0, 1),
            repeats: null,
          },
        ),
      ],
      notes: [...notes(last), ...lateNotes(repeats)],
    },
    options.json,
  )
} finally {
  await stand.stop()
}

async function shareOfCeiling(): Promise<number> {
  progress('what the machine holds of the mix')
  const ceiling = await mixedCeiling(stand, {
    durationMs: CEILING_MS,
    warmUpMs: WARM_UP_MS,
    connections,
    seed,
  })
  return Math.max(1, Math.round((answeredPerS(ceiling) * options.share) / 100))
}

async function oneRepeat(
  ratePerS: number,
): Promise<MixedRepeat & { readonly looks: readonly WatchedLook[] }> {
  const before = treeCpuS(stand.pid)
  const load = await startMixedLoad(stand, {
    ratePerS,
    durationMs: options.seconds * 1_000,
    warmUpMs: WARM_UP_MS,
    connections,
    seed,
  })
  const watching = watchProcesses(stand.pid, LOOK_MS)
  const result = await load.result
  const looks = watching.stop()
  return { result, cpuS: treeCpuS(stand.pid) - before, peakBytes: peakBytes(looks), looks }
}

function notes(looks: readonly WatchedLook[]): readonly string[] {
  const shares = MIXED_KINDS.map((kind) => `${MIXED_SHARES[kind]} % ${kind}`).join(', ')
  const cores = [...coresByRole(looks)].map(([role, used]) => `${role} ${used.toFixed(2)}`).join(', ')
  return [
    `${shares}; files of ${UPLOAD_BYTES_LEAST / 1e6} to ${UPLOAD_BYTES_MOST / 1e6} MB, evenly over the logarithm of their size`,
    'uploaded files are listed and deleted again as the load runs, so the node does that as well; a generator process for each kind',
    `cores of the last repeat: ${cores}`,
  ]
}

function lateNotes(repeats: readonly MixedRepeat[]): readonly string[] {
  return MIXED_KINDS.flatMap((kind) => {
    const most = Math.max(...repeats.map(({ result }) => result.kinds[kind].generatorLate.p99))
    return most <= GENERATOR_LATE_MS_MAX
      ? []
      : [`${kind}: the generator itself was late, p99 up to ${most.toFixed(1)} ms, which its latency holds`]
  })
}
