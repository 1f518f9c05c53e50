/** Options of the command line of `embeddings`. */
import { numbersText, optionReader } from '../options.ts'

export const EMBEDDINGS_TARGETS = [
  'direct',
  'nginx',
  'haproxy',
  'relay',
  'lean-relay',
  'sluice-ungoverned',
  'sluice',
  'fastify',
  'node',
  'portkey',
] as const
export type EmbeddingsTarget = (typeof EMBEDDINGS_TARGETS)[number]

export interface EmbeddingsOptions {
  readonly seconds: number
  readonly repeats: number
  readonly connections: number
  readonly dimensions: number
  readonly latencyMs: number
  readonly only: readonly EmbeddingsTarget[]
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = {
  duration: [1, 600, 6],
  repeats: [1, 100, 5],
  connections: [1, 1_000, 48],
  dimensions: [1, 65_536, 1_536],
  'latency-ms': [0, 60_000, 0],
} as const

const OTHERS = EMBEDDINGS_TARGETS.filter((name) => name !== 'sluice').join(',')

export const EMBEDDINGS_OPTIONS_TEXT = `options: ${numbersText(NUMBERS)} --against ${OTHERS} --only direct,nginx --record FILE`

export const readEmbeddingsOptions = optionReader(
  { numbers: NUMBERS, lists: { only: EMBEDDINGS_TARGETS, against: EMBEDDINGS_TARGETS }, flags: [] },
  (given): EmbeddingsOptions => ({
    seconds: given.number('duration'),
    repeats: given.number('repeats'),
    connections: given.number('connections'),
    dimensions: given.number('dimensions'),
    latencyMs: given.number('latency-ms'),
    only: given.some('only', [...given.some('against', EMBEDDINGS_TARGETS), 'sluice']),
    json: given.json,
  }),
)
