/** Options of the command line of `latency`. */
import { numbersText, optionReader } from '../options.ts'

export const LATENCY_SUBJECTS = ['sluice', 'sluice-ungoverned', 'nginx', 'fastify', 'node'] as const
export type LatencySubject = (typeof LATENCY_SUBJECTS)[number]

export interface LatencyOptions {
  /** Seconds of one cell. */
  readonly seconds: number
  readonly repeats: number
  readonly connections: number
  readonly dimensions: number
  /** Percent of each subject's own ceiling. */
  readonly shares: readonly number[]
  readonly against: readonly LatencySubject[]
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = {
  duration: [1, 600, 5],
  repeats: [1, 100, 3],
  connections: [1, 1_000, 48],
  dimensions: [1, 65_536, 1_536],
} as const
const SHARES = [10, 25, 50, 75, 90] as const

export const LATENCY_OPTIONS_TEXT =
  `options: ${numbersText(NUMBERS)} --shares ${SHARES.join(',')} ` +
  `--against ${LATENCY_SUBJECTS.slice(1).join(',')} --record FILE`

export const readLatencyOptions = optionReader(
  { numbers: NUMBERS, lists: { against: LATENCY_SUBJECTS }, flags: [], counts: { shares: [1, 200, SHARES] } },
  (given): LatencyOptions => ({
    seconds: given.number('duration'),
    repeats: given.number('repeats'),
    connections: given.number('connections'),
    dimensions: given.number('dimensions'),
    shares: given.counts('shares'),
    against: LATENCY_SUBJECTS.filter(
      (name) => name === 'sluice' || given.some('against', LATENCY_SUBJECTS).includes(name),
    ),
    json: given.json,
  }),
)
