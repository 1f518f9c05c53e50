import type { Outcome } from '../../../schemas/failures.ts'
import type { HistoryData, HistoryDimension, HistoryEvent } from '../../../schemas/operator/history.ts'
import type { HistoryInput } from '../../../schemas/operator/history-range.ts'

export interface History {
  /** Resolutions below an hour cover this node, hours cover the installation. Failures: busy (no answer from the supervisor), store_unavailable. */
  read(input: HistoryInput): Promise<Outcome<HistoryData>>
}

/** `all` has one name. */
export type HourDimension = 'all' | HistoryDimension

export interface HourRow {
  readonly dimension: HourDimension
  /** Empty: the sum of all names without their own row. */
  readonly name: string
  /** Sums, then histograms. */
  readonly figures: readonly number[]
}

/** One hour of a node, counted from the node's start or from the beginning of the hour. */
export interface HistoryHour {
  /** UUID of the node's start. */
  readonly run: string
  /** Second since 1970 in which the hour began. */
  readonly hourS: number
  /** Seconds of the hour for which there are figures. */
  readonly seconds: number
  readonly rows: readonly HourRow[]
  readonly events: readonly HistoryEvent[]
}

export interface HoursRead {
  /** Events of all nodes, oldest first. */
  readonly events: readonly HistoryEvent[]
  /** For each hour the known seconds, as the maximum over all nodes; hours without any are left out. */
  readonly known: readonly { readonly hourS: number; readonly seconds: number }[]
  /** The names with the largest sums, and one entry without a name for all others. */
  readonly named: readonly {
    readonly name: string
    /** `place`: position among the requested figures, from 1. Sums of 0 are left out. */
    readonly sums: readonly (readonly [hourS: number, place: number, sum: number])[]
  }[]
}
