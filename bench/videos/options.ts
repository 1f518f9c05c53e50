/** Options of the command line of `videos`. */
import { VIDEO_JOBS_OPEN_MAX } from '../../src/schemas/videos/video-limits.ts'
import { numbersText, optionReader } from '../options.ts'

export interface VideosOptions {
  readonly seconds: number
  readonly repeats: number
  readonly connections: number
  readonly only: readonly VideosTarget[]
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

export const VIDEOS_TARGETS = ['sluice', 'bullmq', 'pg-boss'] as const
export type VideosTarget = (typeof VIDEOS_TARGETS)[number]

/** Limits of the options: a sample must stay below VIDEO_JOBS_OPEN_MAX open jobs of a workspace. */
const NUMBERS = { duration: [1, 10, 2], repeats: [1, 20, 5], connections: [1, 256, 64] } as const

export const VIDEOS_OPTIONS_TEXT =
  `options: ${numbersText(NUMBERS)} --against ${VIDEOS_TARGETS.filter((name) => name !== 'sluice').join(',')} --only sluice --record FILE\n` +
  `a sample may accept ${VIDEO_JOBS_OPEN_MAX} jobs at most; the default takes some two minutes`

const LISTS = { only: VIDEOS_TARGETS, against: VIDEOS_TARGETS } as const

export const readVideosOptions = optionReader(
  { numbers: NUMBERS, lists: LISTS, flags: [] },
  (given): VideosOptions => ({
    seconds: given.number('duration'),
    repeats: given.number('repeats'),
    connections: given.number('connections'),
    only: given.some('only', [...given.some('against', VIDEOS_TARGETS), 'sluice']),
    json: given.json,
  }),
)
