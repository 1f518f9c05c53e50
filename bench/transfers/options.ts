/** What the command line of `uploads`, `downloads` and `egress` may ask for. */
import { numbersText, optionReader, optionsOrExit } from '../options.ts'

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

/**
 * Only run when they are asked for: the others together take both scenarios some four minutes on two cores.
 */
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
  /** File for the record; null = it is printed alone. */
  readonly json: string | null
}

const NUMBERS = {
  repeats: [1, 100, 3],
  connections: [1, 1_000, 8],
  payload: [1_000, 100e6, 100e6],
  crowd: [1, 1_000, 100],
  readers: [1, 1_000, 200],
  'reader-seconds': [1, 3_600, 60],
} as const

const ALL_SECTIONS: readonly Section[] = [...new Set([...SECTIONS.uploads, ...SECTIONS.downloads])]

export const TRANSFER_OPTIONS_TEXT =
  `options: ${numbersText(NUMBERS)} ` +
  `--against ${TRANSFER_TARGETS.filter((name) => name !== 'sluice').join(',')} --only sluice --sections ${byDefault().join(',')} --all --record FILE\n` +
  `sections: uploads ${SECTIONS.uploads.join(',')}; downloads ${SECTIONS.downloads.join(',')}; egress ${SECTIONS.egress.join(',')}; --all runs every one`

export const readTransferOptions = optionReader(
  {
    numbers: NUMBERS,
    lists: { only: TRANSFER_TARGETS, against: TRANSFER_TARGETS, sections: ALL_SECTIONS },
    flags: ['all'],
  },
  (given): TransferOptions => ({
    repeats: given.number('repeats'),
    connections: given.number('connections'),
    payloadBytes: given.number('payload'),
    crowd: given.number('crowd'),
    readers: given.number('readers'),
    readerSeconds: given.number('reader-seconds'),
    only: given.some('only', [...given.some('against', TRANSFER_TARGETS), 'sluice']),
    sections: given.some('sections', given.has('all') ? ALL_SECTIONS : byDefault()),
    json: given.json,
  }),
)

/** For the scenarios themselves. */
export function transferOptionsOrExit(args: readonly string[]): TransferOptions {
  return optionsOrExit(args, readTransferOptions, TRANSFER_OPTIONS_TEXT)
}

function byDefault(): readonly Section[] {
  return ALL_SECTIONS.filter((section) => !LONG.includes(section))
}
