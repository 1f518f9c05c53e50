import { FRONTS_MAX, WORKERS_MAX } from '../../../schemas/limits/limits.ts'
import type { Texts } from '../../config/texts.ts'
import type { NodeGeneration } from '../node-setup.ts'
import { sessionThreads } from './shares.ts'
import { StartRefused } from '../start-refused.ts'

/** New numbers for a running node; null leaves a number unchanged. */
export interface ScaleInput {
  readonly fronts: number | null
  readonly workers: number | null
}

export interface Counts {
  readonly fronts: number
  /** Effective number: at least one for each front. */
  readonly workers: number
}

export type ScaleEnd =
  | { readonly state: 'done'; readonly before: Counts; readonly now: Counts }
  | { readonly state: 'refused'; readonly reason: string }

/** The settings that a scale request replaces, their member of the config, and their largest number. */
const SCALED = {
  SLUICE_FRONTS: { member: 'fronts', most: FRONTS_MAX },
  SLUICE_WORKERS: { member: 'workers', most: WORKERS_MAX },
} as const
type ScaledName = keyof typeof SCALED
const NAMES = Object.keys(SCALED) as readonly ScaledName[]

/** A number that replaces a setting until the setting changes: `instead` is the text that the setting had. */
interface Stand {
  readonly count: number
  readonly instead: string | undefined
}
export type Stands = Readonly<Partial<Record<ScaledName, Stand>>>

export function countsOf({ config: { fronts, workers } }: Pick<NodeGeneration, 'config'>): Counts {
  return { fronts, workers: sessionThreads(workers, fronts).reduce((sum, threads) => sum + threads, 0) }
}

/**
 * The stands after a scale request, together with the earlier ones. Throws `StartRefused` for a number out of
 * range.
 * @param given the settings as last read, before any stand
 */
export function standsOf(input: ScaleInput, earlier: Stands, given: Texts): Stands {
  const stands: Partial<Record<ScaledName, Stand>> = { ...earlier }
  for (const name of NAMES) {
    const { member, most } = SCALED[name]
    const count = input[member]
    if (count === null) continue
    if (!Number.isInteger(count) || count < 1 || count > most)
      throw new StartRefused(`${member}: a whole number from 1 to ${most}`)
    stands[name] = { count, instead: given[name] }
  }
  return stands
}

/** The stands whose setting is unchanged. A setting that changed since the stand was made takes precedence. */
export function stillStanding(stands: Stands, given: Texts): Stands {
  return Object.fromEntries(Object.entries(stands).filter(([name, { instead }]) => given[name] === instead))
}

export function withStands(generation: NodeGeneration, stands: Stands): NodeGeneration {
  const config: Record<string, unknown> = { ...generation.config }
  const settings: Record<string, string> = { ...generation.settings }
  for (const name of NAMES) {
    const stand = stands[name]
    if (stand === undefined) continue
    config[SCALED[name].member] = stand.count
    settings[name] = String(stand.count)
  }
  return { ...generation, config: Object.freeze({ ...generation.config, ...config }), settings }
}
