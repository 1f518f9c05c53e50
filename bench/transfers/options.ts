/** What the command line of `uploads`, `downloads` and `egress` may ask for; `tools/bench.mjs` reads it before it installs anything. */
import { parseArgs } from 'node:util'

export const TRANSFER_TARGETS = ['nginx', 'busboy', 'tus', 'sluice'] as const
export type TransferTarget = (typeof TRANSFER_TARGETS)[number]

/** Parts of each scenario, in the order in which they run. */
export const SECTIONS = {
  uploads: ['speed', 'crowd', 'sizes', 'tiny', 'memory', 's3', 'sink'],
  downloads: ['speed', 'crowd', 'sizes', 'readers'],
  egress: ['speed', 'sizes'],
} as const
export type Scenario = keyof typeof SECTIONS
export type Section = (typeof SECTIONS)[Scenario][number]

/** Only run when they are asked for: the others together take both scenarios some four minutes on two cores. */
const LONG: readonly Section[] = ['crowd', 'sizes', 's3', 'sink']

export interface TransferOptions {
  readonly repeats: number
  /** At once, in every section but `crowd`, `memory` and `readers`, which say their own. */
  readonly connections: number
  /** Bytes of the large file. */
  readonly payloadBytes: number
  /** At once in `memory`, `s3` and as the last row of `crowd`. */
  readonly crowd: number
  /** Of the `readers` section, at 10 KB/s each, and how long they read. */
  readonly readers: number
  readonly readerSeconds: number
  readonly only: readonly TransferTarget[]
  readonly sections: readonly Section[]
  /** File for the report; null = a new one in `bench/results`. */
  readonly json: string | null
}

/** Least value, most and default of each number. */
const NUMBERS = {
  repeats: [1, 100, 3],
  connections: [1, 1_000, 8],
  'payload-mb': [1, 100, 100],
  crowd: [1, 1_000, 100],
  readers: [1, 1_000, 200],
  'reader-seconds': [1, 3_600, 60],
} as const satisfies Readonly<Record<string, readonly [number, number, number]>>

const ALL_SECTIONS: readonly Section[] = [...new Set([...SECTIONS.uploads, ...SECTIONS.downloads])]

export const TRANSFER_OPTIONS_TEXT =
  `options: ${Object.entries(NUMBERS).map(([name, [, , byDefault]]) => `--${name} ${byDefault}`).join(' ')} ` +
  `--only ${TRANSFER_TARGETS.join(',')} --sections ${byDefault().join(',')} --all --json FILE\n` +
  `sections: uploads ${SECTIONS.uploads.join(',')}; downloads ${SECTIONS.downloads.join(',')}; egress ${SECTIONS.egress.join(',')}; --all runs every one`

/** @returns what is wrong, in one line, instead of the options; 'help' when that is asked for */
export function readTransferOptions(args: readonly string[]): TransferOptions | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        ...Object.fromEntries(Object.keys(NUMBERS).map((name) => [name, { type: 'string' as const }])),
        only: { type: 'string' },
        sections: { type: 'string' },
        all: { type: 'boolean' },
        json: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    const given = values as Readonly<Record<string, string | boolean | undefined>>
    if (given['help'] === true) return 'help'
    const sections = given['all'] === true ? ALL_SECTIONS : byDefault()
    return {
      repeats: numberOf('repeats', given),
      connections: numberOf('connections', given),
      payloadBytes: numberOf('payload-mb', given) * 1e6,
      crowd: numberOf('crowd', given),
      readers: numberOf('readers', given),
      readerSeconds: numberOf('reader-seconds', given),
      only: someOf('only', TRANSFER_TARGETS, given, TRANSFER_TARGETS),
      sections: someOf('sections', ALL_SECTIONS, given, sections),
      json: typeof given['json'] === 'string' ? given['json'] : null,
    }
  } catch (problem) {
    return (problem instanceof Error ? problem.message : String(problem)).split('\n')[0] ?? ''
  }
}

/** For the scenario itself; whoever starts it by hand is told in one line. */
export function transferOptionsOrExit(args: readonly string[]): TransferOptions {
  const options = readTransferOptions(args)
  if (typeof options !== 'string') return options
  process.stderr.write(`${options === 'help' ? TRANSFER_OPTIONS_TEXT : options}\n`)
  process.exit(options === 'help' ? 0 : 2)
}

function byDefault(): readonly Section[] {
  return ALL_SECTIONS.filter((section) => !LONG.includes(section))
}

function numberOf(name: keyof typeof NUMBERS, given: Readonly<Record<string, string | boolean | undefined>>): number {
  const [least, most, byDefault] = NUMBERS[name]
  const text = given[name]
  if (text === undefined) return byDefault
  const value = Number(text)
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new Error(`--${name} takes a whole number from ${least} to ${most}, not '${text}'`)
  }
  return value
}

function someOf<T extends string>(
  name: string,
  all: readonly T[],
  given: Readonly<Record<string, string | boolean | undefined>>,
  byDefault: readonly T[],
): readonly T[] {
  const text = given[name]
  if (typeof text !== 'string') return byDefault
  const names = text.split(',')
  const unknown = names.find((one) => !all.some((known) => known === one))
  if (unknown !== undefined) throw new Error(`--${name} takes some of ${all.join(',')}, not '${unknown}'`)
  return all.filter((known) => names.includes(known))
}
