/** Options of the command line of `uploads`, `downloads` and `egress`. */
import { numbersText, optionReader, optionsOrExit } from '../options.ts'

export const TRANSFER_TARGETS = ['nginx', 'busboy', 'tus', 'sluice'] as const
export type TransferTarget = (typeof TRANSFER_TARGETS)[number]

/** Milliseconds until a load beside small requests runs at full speed, and after their end. */
export const HEAD_MS = 500

/** Sections of each scenario in their order. */
export const SECTIONS = {
  uploads: ['speed', 'crowd', 'sizes', 'tiny', 'memory', 's3', 'sink', 'floors'],
  downloads: ['speed', 'crowd', 'sizes', 'readers'],
  egress: ['speed', 'sizes'],
} as const
export type Scenario = keyof typeof SECTIONS
export type Section = (typeof SECTIONS)[Scenario][number]

/** Sections that run only by name: the others together take about four minutes on two cores. */
const LONG: readonly Section[] = ['crowd', 'sizes', 's3', 'sink', 'floors']

export interface TransferOptions {
  readonly repeats: number
  /**
   * Concurrent connections in every section but `crowd`, `memory` and `readers`, which have their own
   * numbers.
   */
  readonly connections: number
  /** Bytes of the large file. */
  readonly payloadBytes: number
  /** Concurrent uploads in `memory`, `s3` and the last row of `crowd`. */
  readonly crowd: number
  /** Readers of the `readers` section, at 10 KB/s each. */
  readonly readers: number
  /** Seconds for which they read. */
  readonly readerSeconds: number
  readonly only: readonly TransferTarget[]
  readonly sections: readonly Section[]
  /** File for the record; null: the record is only printed. */
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
  `--against ${TRANSFER_TARGETS.filter((name) => name !== 'sluice').join(',')} --only sluice ` +
  `--sections ${byDefault().join(',')} --all --floors --record FILE\n` +
  `sections: uploads ${SECTIONS.uploads.join(',')}; downloads ${SECTIONS.downloads.join(',')}; ` +
  `egress ${SECTIONS.egress.join(',')}; --all runs every one; ` +
  `--floors runs only floors: each step of an upload alone, next to the whole`

export const readTransferOptions = optionReader(
  {
    numbers: NUMBERS,
    lists: { only: TRANSFER_TARGETS, against: TRANSFER_TARGETS, sections: ALL_SECTIONS },
    flags: ['all', 'floors'],
  },
  (given): TransferOptions => ({
    repeats: given.number('repeats'),
    connections: given.number('connections'),
    payloadBytes: given.number('payload'),
    crowd: given.number('crowd'),
    readers: given.number('readers'),
    readerSeconds: given.number('reader-seconds'),
    only: given.some('only', [...given.some('against', TRANSFER_TARGETS), 'sluice']),
    sections: given.some('sections', sectionsOf(given.has('all'), given.has('floors'))),
    json: given.json,
  }),
)

/** Reads the options of these scenarios. */
export function transferOptionsOrExit(args: readonly string[]): TransferOptions {
  return optionsOrExit(args, readTransferOptions, TRANSFER_OPTIONS_TEXT)
}

function sectionsOf(isAll: boolean, isFloors: boolean): readonly Section[] {
  if (isAll) return ALL_SECTIONS
  return isFloors ? ['floors'] : byDefault()
}

function byDefault(): readonly Section[] {
  return ALL_SECTIONS.filter((section) => !LONG.includes(section))
}
