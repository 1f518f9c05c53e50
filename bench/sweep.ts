/** `npm run bench -- --sweep`: finds the numbers of fronts and worker threads for a mix on this machine. */
import { availableParallelism } from 'node:os'
import type { Stand } from '../test/support/nodes/stand.ts'
import { keepRecord, progress } from './keep-record.ts'
import { rotated } from './measure.ts'
import { startMixedStand } from './mixed/stand.ts'
import { optionsOrExit } from './options.ts'
import { measure, type Measured } from './sweep/measure.ts'
import { readSweepOptions, SWEEP_OPTIONS_TEXT } from './sweep/options.ts'
import { pairsOf, textOf, type Pair } from './sweep/pairs.ts'
import { doctorText, limitText, recommend, type PairFound } from './sweep/recommend.ts'
import { curvesOf, rowsOf, SWEPT } from './sweep/rows.ts'

const options = optionsOrExit(process.argv.slice(2), readSweepOptions, SWEEP_OPTIONS_TEXT)
const { mix, connections, seconds, repeats, p99Ms } = options
const pairs = pairsOf(options.fronts, options.workers)
let running: Stand | null = null
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void Promise.resolve(running?.stop()).finally(() => process.exit(130)))
}

const MIX_TEXTS = { mixed: 'the mix of all kinds of calls', embeddings: 'embeddings calls alone' } as const
const NOTE =
  'a node of its own for each pair: fronts, runner, embedded Postgres and Redis; generator and providers are on the same cores'

const found = new Map<Pair, Measured[]>(pairs.map((pair) => [pair, []]))
for (let repeat = 0; repeat < repeats; repeat++) {
  for (const pair of rotated(pairs, repeat)) {
    progress(`${repeats === 1 ? '' : `repeat ${repeat + 1} of ${repeats}: `}${textOf(pair)}`)
    found.get(pair)?.push(await onItsOwn(pair))
  }
}
await report([...found].map(([pair, all]): PairFound => ({ pair, repeats: all })))

async function onItsOwn({ fronts, workers }: Pair): Promise<Measured> {
  const stand = await startMixedStand({
    settings: { SLUICE_FRONTS: String(fronts), SLUICE_WORKERS: String(workers) },
  })
  running = stand
  try {
    return await measure(stand, { mix, connections, durationMs: seconds * 1_000 }, { p99Ms, progress })
  } finally {
    await stand.stop()
    running = null
  }
}

async function report(all: readonly PairFound[]): Promise<void> {
  const cores = availableParallelism()
  const recommended = recommend(all, cores)
  const chosen = all.find(({ pair }) => pair === recommended?.pair)
  const sentence = recommended?.sentence ?? 'No pair can be recommended: none answered anything'
  await keepRecord(
    {
      scenario: 'sweep',
      question: `how many fronts × worker threads a machine of ${cores} cores wants for ${MIX_TEXTS[mix]}`,
      settings: {
        fronts: options.fronts.join(','),
        workers: options.workers.join(','),
        mix,
        seconds,
        repeats,
        connections,
        p99_ms: p99Ms,
      },
      subjects: [{ name: SWEPT, note: NOTE }],
      absent: [],
      rows: all.flatMap((one) => rowsOf(one, { connections, p99Ms })),
      ratios: [],
      curves: curvesOf(all, p99Ms),
      checks: [],
      notes: [sentence, ...(chosen === undefined ? [] : [doctorText(chosen)]), ...all.map(limitText)],
    },
    options.json,
  )
  progress(sentence)
  if (recommended === null) process.exitCode = 1
}
