/** Counts and requests for tests of the history. */
import type { HistoryInput } from '../../../src/schemas/operator/history-range.ts'
import {
  COLUMN,
  COLUMNS,
  DURATIONS_AT,
  FIRSTS_AT,
  type Counts,
} from '../../../src/server/observe/history/columns.ts'
import type { HistoryDimension } from '../../../src/schemas/operator/history.ts'

export interface Came {
  readonly calls?: number
  readonly refused?: number
  readonly failed?: number
  readonly tokens?: number
  readonly costNano?: number
  /** Calls by the bucket of their duration. */
  readonly durations?: Readonly<Record<number, number>>
  /** Streams by the bucket of the time to their first output. */
  readonly firsts?: Readonly<Record<number, number>>
}

/** What came under some names of one dimension. */
export function came(by: HistoryDimension, names: Readonly<Record<string, Came>>): Counts {
  const none: Counts = { operation: [], provider: [], model: [], key: [] }
  return { ...none, [by]: Object.entries(names).map(([name, one]) => ({ name, columns: columnsOf(one) })) }
}

function columnsOf({ durations = {}, firsts = {}, ...sums }: Came): readonly number[] {
  const columns = new Array<number>(COLUMNS).fill(0)
  for (const [name, sum] of Object.entries(sums)) columns[COLUMN[name as keyof typeof COLUMN]] = sum
  for (const [bucket, count] of Object.entries(durations)) columns[DURATIONS_AT + Number(bucket)] = count
  for (const [bucket, count] of Object.entries(firsts)) columns[FIRSTS_AT + Number(bucket)] = count
  return columns
}

/** Requests by the second of a few seconds, but for what a test is about. */
export function askedFor(more: Partial<HistoryInput>): HistoryInput {
  return { metric: 'requests', by: 'all', grainS: 1, sinceS: 0, untilS: 1, ...more }
}
