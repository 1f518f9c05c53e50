import type { Outcome } from '../../../schemas/failures.ts'
import type { HistoryData, HistoryDimension, HistoryEvent } from '../../../schemas/operator/history.ts'
import type { HistoryInput } from '../../../schemas/operator/history-range.ts'

export interface History {
  /** Grains below an hour are of this node, hours of the installation. Failures: busy (no answer of the supervisor), store_unavailable. */
  read(input: HistoryInput): Promise<Outcome<HistoryData>>
}

/** `all` has one name. */
export type HourDimension = 'all' | HistoryDimension

export interface HourRow {
  readonly dimension: HourDimension
  /** Empty: all names without a row of their own. */
  readonly name: string
  /** Sums, then histograms. */
  readonly figures: readonly number[]
}

/** An hour of one node since its start, or since the hour began. */
export interface HistoryHour {
  /** UUID of the node's start. */
  readonly run: string
  /** Second since 1970 in which the hour began. */
  readonly hourS: number
  /** Seconds of it that are known. */
  readonly seconds: number
  readonly rows: readonly HourRow[]
  readonly events: readonly HistoryEvent[]
}

export interface HoursRead {
  /** Of all nodes, oldest first. */
  readonly events: readonly HistoryEvent[]
  /** Seconds of each hour that are known, the most of any node; hours without any are left out. */
  readonly known: readonly { readonly hourS: number; readonly seconds: number }[]
  /** The largest names, and one without a name for all others. */
  readonly named: readonly {
    readonly name: string
    /** Place among the figures that were asked for, from 1. Sums of nothing are left out. */
    readonly sums: readonly (readonly [hourS: number, place: number, sum: number])[]
  }[]
}
