/** The recommended worker counts of a machine, in one sentence with the reason. */
import { adviceOn } from '../../src/server/cli/operator/doctor/workers.ts'
import { BUSY_SHARE_MAX, IDLE_CORES_MIN, tooMany } from '../../src/server/observe/load-advice.ts'
import { GENERATOR_CORES_MAX } from '../record.ts'
import { spread } from '../statistics.ts'
import type { Measured } from './measure.ts'
import { textOf, type Pair } from './pairs.ts'

export interface PairFound {
  readonly pair: Pair
  /** One measurement of each repeat. */
  readonly repeats: readonly Measured[]
}

/** Gain that more processes and threads must bring: less is noise and wastes memory. Decision. */
export const GAIN_MIN = 0.05

export interface Recommended {
  readonly pair: Pair
  readonly sentence: string
}

/** Requests a second by which a pair is judged: those answered in time, or the ceiling where none is. */
export type Judged = (found: PairFound) => number

export function judgedBy(all: readonly PairFound[]): Judged {
  const isAnyHeld = all.some((one) => heldRate(one) > 0)
  return isAnyHeld ? heldRate : ceilingRate
}

/**
 * Null when no pair answers anything. The recommendation never has more fronts than cores, as in `doctor`.
 */
export function recommend(all: readonly PairFound[], cores: number): Recommended | null {
  const rateOf = judgedBy(all)
  const fit = all.filter((one) => tooMany(one.pair.fronts, { all: cores }) === null && rateOf(one) > 0)
  const [best] = [...fit].sort((a, b) => rateOf(b) - rateOf(a))
  if (best === undefined) return null
  const enough = fit.filter((one) => rateOf(one) >= rateOf(best) * (1 - GAIN_MIN))
  const [chosen = best] = [...enough].sort(
    (a, b) => sizeOf(a.pair) - sizeOf(b.pair) || a.pair.fronts - b.pair.fronts,
  )
  const { fronts, workers } = chosen.pair
  const head = `On this machine of ${cores} ${cores === 1 ? 'core' : 'cores'} this mix wants SLUICE_FRONTS=${fronts} SLUICE_WORKERS=${workers}`
  return { pair: chosen.pair, sentence: `${head}: ${reason({ chosen, fit, rateOf, tried: all.length })}` }
}

interface Reasoned {
  readonly chosen: PairFound
  readonly fit: readonly PairFound[]
  readonly rateOf: Judged
  readonly tried: number
}

function reason({ chosen, fit, rateOf, tried }: Reasoned): string {
  const others = fit.filter((one) => one !== chosen)
  const [larger] = others
    .filter((one) => sizeOf(one.pair) > sizeOf(chosen.pair))
    .sort((a, b) => rateOf(b) - rateOf(a))
  if (larger !== undefined)
    return `${textOf(larger.pair)} ${gainText(rateOf(larger) / rateOf(chosen))} and costs ${costText(larger, chosen)}`
  const [smaller] = others.sort((a, b) => rateOf(b) - rateOf(a))
  if (smaller === undefined)
    return tried === 1 ? 'no other pair was tried' : 'no other pair that fits its cores answers in time'
  return `${textOf(smaller.pair)} ${gainText(rateOf(smaller) / rateOf(chosen))}`
}

function gainText(ratio: number): string {
  const percent = Math.round((ratio - 1) * 100)
  if (percent === 0) return 'gives no more'
  return percent > 0 ? `gives only ${percent} % more` : `gives ${-percent} % less`
}

function costText(over: PairFound, under: PairFound): string {
  const memory = (one: PairFound): number => spread(one.repeats.map(({ ceiling }) => ceiling.ownMb)).median
  const more = Math.round(memory(over) - memory(under))
  return more > 0 ? `${more} MB` : 'no memory'
}

/** Size of a pair: a front is a process and costs far more than a thread. */
function sizeOf({ fronts, workers }: Pair): number {
  return fronts * 1_000 + workers
}

export function heldRate({ repeats }: PairFound): number {
  return repeats.length === 0 ? 0 : spread(repeats.map(({ held }) => held?.ratePerS ?? 0)).median
}

export function ceilingRate({ repeats }: PairFound): number {
  return repeats.length === 0 ? 0 : spread(repeats.map(({ ceiling }) => ceiling.ratePerS)).median
}

/** The limit of a pair at its ceiling; each figure is compared with the bound of `doctor`. */
export function limitText({ pair, repeats }: PairFound): string {
  const of = (read: (one: Measured['ceiling']) => number): number =>
    spread(repeats.map(({ ceiling }) => read(ceiling))).median
  const [server, generator, mock] = [
    of((one) => one.serverCores),
    of((one) => one.generatorCores),
    of((one) => one.mockCores),
  ]
  const idle = of(({ cores }) => cores.idle)
  const all = repeats[0]?.ceiling.cores.all ?? 0
  const others = all - idle - server - generator - mock
  const loop = of(({ load }) => Math.max(0, ...load.each.map(({ loopShare }) => loopShare)))
  const used = `${server.toFixed(2)} of ${all} cores for the node, ${mock.toFixed(2)} for the provider, generator ${generator.toFixed(2)}`
  const limits = [
    ...(generator > GENERATOR_CORES_MAX ? ['the generator was the limit'] : []),
    ...(mock > GENERATOR_CORES_MAX ? ['the provider that stands in for others was the limit'] : []),
    ...(idle < IDLE_CORES_MIN ? ['no core was idle'] : []),
    ...(others >= IDLE_CORES_MIN
      ? [`other programs had ${others.toFixed(1)} cores, and these figures are theirs too`]
      : []),
    ...(loop > BUSY_SHARE_MAX
      ? [`its busiest event loop was busy ${Math.round(loop * 100)} % of the time`]
      : []),
  ]
  return `${textOf(pair)}: ${used}; ${limits.length === 0 ? `${idle.toFixed(1)} cores idle` : limits.join(', ')}`
}

/** The text of `sluice doctor` for a pair at its ceiling, by the last repeat. */
export function doctorText({ pair, repeats }: PairFound): string {
  const last = repeats.at(-1)
  if (last === undefined) return `${textOf(pair)}: not run`
  const text = adviceOn(last.ceiling.load, last.ceiling.cores).filter(({ check }) => check === 'load')
  return `doctor at the ceiling of ${textOf(pair)}: ${text.map(({ detail, fix }) => (fix === undefined ? detail : `${detail} (${fix})`)).join('; ')}`
}
