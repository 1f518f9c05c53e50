/**
 * `npm run bench -- soak`: checks that memory, descriptors and the event loop of a node stay stable under a
 * long load.
 */
import { runLoad, startLoad } from '../test/support/load/load.ts'
import type { LoadPlan, LoadResult } from '../test/support/load/load-plan.ts'
import { treeCpuS } from '../test/support/load/process-cpu.ts'
import { startStand, type Stand } from '../test/support/nodes/stand.ts'
import { optionsOrExit } from './options.ts'
import { resultRow, type ResultRow, type ScenarioRecord } from './record.ts'
import { keepRecord, progress } from './keep-record.ts'
import { sampleOf } from './measure.ts'
import { peakMb, soakChecks, soakCurves, soakNotes } from './soak/findings.ts'
import { readSoakOptions, SOAK_OPTIONS_TEXT } from './soak/options.ts'
import { holdsRate, RATE_STEP } from './soak/rate.ts'
import { watch } from './soak/watch.ts'

const options = optionsOrExit(process.argv.slice(2), readSoakOptions, SOAK_OPTIONS_TEXT)
// The path of the record is no setting of the measurement.
const { json, ...settings } = options
/** Least looks at memory, and readings of the loop, of any load. */
const [LOOKS_MIN, READINGS_MIN] = [40, 10]
const [LOOK_EVERY_MS, READING_EVERY_MS] = [2_000, 30_000]
/** At most half of the load that the trial prepares. */
const TRIAL_MS = Math.min(5_000, options.duration * 500)
/** Milliseconds of load before the trial. */
const WARM_UP_MS = Math.min(3_000, options.duration * 500)

const stand = await startStand({
  dimensions: options.dimensions,
  settings: { SLUICE_FRONTS: String(options.fronts) },
})
try {
  await keepRecord(await soak(), json)
} finally {
  await stand.stop()
}

async function soak(): Promise<Omit<ScenarioRecord, 'took_seconds'>> {
  const rate = await heldRate()
  progress(`${rate} a second for ${options.duration} s`)
  const every = (ms: number, least: number): number => Math.min(ms, (options.duration * 1_000) / least)
  const watching = await watch(stand, {
    lookEveryMs: every(LOOK_EVERY_MS, LOOKS_MIN),
    loopEveryMs: every(READING_EVERY_MS, READINGS_MIN),
  })
  const cpuBefore = treeCpuS(stand.pid)
  const load = await startLoad(planOf(stand, rate, options.duration * 1_000))
  const beat = setInterval(() => progress(`${Math.round(process.uptime())} s`), READING_EVERY_MS)
  const result = await load.result.finally(() => clearInterval(beat))
  const cpuS = treeCpuS(stand.pid) - cpuBefore
  const watched = await watching.stop()
  const row = rowOf(result, { rate, cpuS, rssMb: peakMb(watched) })
  return {
    scenario: 'soak',
    question:
      'Do memory, descriptors and the event loop of a node stay where they are under governed embeddings that go on?',
    settings: { ...settings, rate },
    subjects: [
      {
        name: 'sluice',
        note: 'the whole node: supervisor, fronts, runner, embedded Postgres and Redis; key checks, limits, validation, metering',
      },
    ],
    absent: [],
    rows: [row],
    ratios: [],
    curves: soakCurves(watched),
    checks: soakChecks(watched, { seconds: options.duration, rows: [row] }),
    notes: [
      rate === options.rate
        ? `the machine holds ${rate} a second`
        : `the machine does not hold ${options.rate} a second: ${rate} were offered`,
      ...soakNotes(watched, options.duration),
    ],
  }
}

/** The given rate, or the first lower one that the machine holds for a few seconds. */
async function heldRate(): Promise<number> {
  progress('warming up')
  await runLoad({ ...planOf(stand, options.rate, WARM_UP_MS), pace: { kind: 'closed' } })
  for (let rate = options.rate; rate > 1; rate = Math.floor(rate * RATE_STEP)) {
    progress(`does the machine hold ${rate} a second?`)
    if (holdsRate(await runLoad(planOf(stand, rate, TRIAL_MS)), rate)) return rate
  }
  return 1
}

function planOf({ port, embeddings }: Stand, ratePerS: number, durationMs: number): LoadPlan {
  return {
    host: '127.0.0.1',
    port,
    connections: options.connections,
    durationMs,
    pace: { kind: 'open', ratePerS },
    requests: [embeddings()],
  }
}

function rowOf(
  result: LoadResult,
  { rate, cpuS, rssMb }: { readonly rate: number; readonly cpuS: number; readonly rssMb: number },
): ResultRow {
  return resultRow(
    {
      scenario: 'soak',
      case: `${rate} a second for ${options.duration} s`,
      subject: 'sluice',
      pace: 'open',
      connections: options.connections,
      offered_per_second: rate,
      payload_bytes: stand.mock.answerBytes,
    },
    [sampleOf(result, { cpuS, rssBytes: rssMb * 1e6, successStatus: 200 })],
  )
}
