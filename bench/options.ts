/** What the command line of a scenario may ask for; `tools/bench.mjs` reads it before it installs anything. */
import { parseArgs } from 'node:util'

export const EMBEDDINGS_TARGETS = ['direct', 'nginx', 'ungoverned', 'sluice', 'portkey'] as const
export type EmbeddingsTarget = (typeof EMBEDDINGS_TARGETS)[number]

export interface EmbeddingsOptions {
  readonly seconds: number
  readonly repeats: number
  readonly connections: number
  readonly dimensions: number
  readonly latencyMs: number
  readonly only: readonly EmbeddingsTarget[]
  /** File for the report; null = a new one in `bench/results`. */
  readonly json: string | null
}

/** Least value and default of each number. */
const NUMBERS = {
  seconds: [1, 6],
  repeats: [1, 5],
  connections: [1, 48],
  dimensions: [1, 1_536],
  'latency-ms': [0, 0],
} as const satisfies Readonly<Record<string, readonly [number, number]>>

export const OPTIONS_TEXT =
  `options: ${Object.entries(NUMBERS).map(([name, [, byDefault]]) => `--${name} ${byDefault}`).join(' ')} ` +
  `--only ${EMBEDDINGS_TARGETS.slice(0, 2).join(',')} --json FILE`

/** @returns what is wrong, in one line, instead of the options; 'help' when that is asked for */
export function readOptions(args: readonly string[]): EmbeddingsOptions | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        ...Object.fromEntries(Object.keys(NUMBERS).map((name) => [name, { type: 'string' as const }])),
        only: { type: 'string' },
        json: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    const given = values as Readonly<Record<string, string | boolean | undefined>>
    if (given['help'] === true) return 'help'
    return {
      seconds: numberOf('seconds', given),
      repeats: numberOf('repeats', given),
      connections: numberOf('connections', given),
      dimensions: numberOf('dimensions', given),
      latencyMs: numberOf('latency-ms', given),
      only: targetsOf(given['only']),
      json: typeof given['json'] === 'string' ? given['json'] : null,
    }
  } catch (problem) {
    return (problem instanceof Error ? problem.message : String(problem)).split('\n')[0] ?? ''
  }
}

/** For the scenario itself; whoever starts it by hand is told in one line. */
export function optionsOrExit(args: readonly string[]): EmbeddingsOptions {
  const options = readOptions(args)
  if (typeof options !== 'string') return options
  process.stderr.write(`${options === 'help' ? OPTIONS_TEXT : options}\n`)
  process.exit(options === 'help' ? 0 : 2)
}

function numberOf(name: keyof typeof NUMBERS, given: Readonly<Record<string, string | boolean | undefined>>): number {
  const [least, byDefault] = NUMBERS[name]
  const text = given[name]
  if (text === undefined) return byDefault
  const value = Number(text)
  if (!Number.isInteger(value) || value < least) {
    throw new Error(`--${name} takes a whole number of at least ${least}, not '${text}'`)
  }
  return value
}

function targetsOf(text: string | boolean | undefined): readonly EmbeddingsTarget[] {
  if (typeof text !== 'string') return EMBEDDINGS_TARGETS
  const names = text.split(',')
  const unknown = names.find((name) => !EMBEDDINGS_TARGETS.some((target) => target === name))
  if (unknown !== undefined) {
    throw new Error(`--only takes some of ${EMBEDDINGS_TARGETS.join(',')}, not '${unknown}'`)
  }
  return EMBEDDINGS_TARGETS.filter((target) => names.includes(target))
}
