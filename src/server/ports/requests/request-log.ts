import type { Outcome } from '../../../schemas/failures.ts'
import type { FailureReason } from '../../../schemas/requests/failure-reason.ts'
import type { RequestBatch } from '../../../schemas/requests/request-record.ts'

/** Times are milliseconds since the call began. */
export interface LoggedAttempt {
  readonly provider: string
  /** HTTP status of the provider; null when it did not answer. */
  readonly status: number | null
  readonly code: string
  readonly atMs: number
  readonly durationMs: number
}

/** Null: the call did not have the value, or it is not known. */
export interface LoggedRequest {
  readonly batch: string
  readonly n: number
  readonly requestId: string
  /** Unix microseconds of the end, as decimal digits. */
  readonly endedUs: string
  readonly operation: string
  /** 0: not known. */
  readonly status: number
  readonly error: string | null
  /** The limit that refused the call: its owner and its interval. */
  readonly limit: string | null
  readonly workspaceId: string | null
  readonly keyHash: string | null
  /** Also known for a deleted key. */
  readonly keyName: string | null
  readonly model: string | null
  readonly provider: string | null
  readonly durationMs: number | null
  readonly authMs: number | null
  readonly limitsMs: number | null
  readonly validateMs: number | null
  readonly holdMs: number | null
  readonly upstreamMs: number | null
  readonly firstMs: number | null
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly cachedTokens: number | null
  readonly costNano: number | null
  readonly requestBytes: number | null
  readonly replyBytes: number | null
  readonly attempts: number | null
  readonly failed: readonly LoggedAttempt[]
  readonly reason: FailureReason | null
  /** Number of calls that the row represents. */
  readonly weight: number
  /** Of `FLAG`. */
  readonly flags: number
  /** True when the call was in the ledger but not in the log: only the ledger's figures are known. */
  readonly isRecovered: boolean
}

export type RequestPlace = Pick<LoggedRequest, 'endedUs' | 'batch' | 'n'>

export interface RequestQuery {
  /** Null: calls without a valid key, which belong to no organization. */
  readonly organizationId: string | null
  /** UUID or slug. */
  readonly workspace?: string
  /** The hash of a key, or its first characters. */
  readonly key?: string
  /** The name of a key, or its first characters, compared case-insensitively. */
  readonly keyName?: string
  readonly requestId?: string
  readonly operation?: string
  readonly model?: string
  /** The first characters of a model's id, or of its part after the author. */
  readonly modelPrefix?: string
  readonly provider?: string
  readonly error?: string
  /** True: only failed calls. False: only calls without a failure. */
  readonly isFailed?: boolean
  /** The client left before the end of the answer. */
  readonly isLeft?: boolean
  /** The lowest and the highest status. */
  readonly status?: readonly [number, number]
  readonly minDurationMs?: number
  readonly minCostNano?: number
  /** ISO 8601. */
  readonly from?: string
  /** End of the period (exclusive), ISO 8601. */
  readonly to?: string
  /** Only rows that follow this one in the list. */
  readonly before?: RequestPlace
  readonly limit: number
}

export interface RequestPage {
  /** Newest first. A page may be short when few rows match. */
  readonly rows: readonly LoggedRequest[]
  /** Start of the next page; null: this is the last page. */
  readonly next: RequestPlace | null
}

export interface RequestLog {
  /**
   * One search of an organization at a time; the signal also aborts the wait for its turn. Failures:
   * workspace_unknown, store_unavailable, busy, that of the signal.
   */
  find(query: RequestQuery, signal: AbortSignal): Promise<Outcome<RequestPage>>
}

/** Batches of all fronts of a node that wait to be written, in files on its disk. */
export interface RequestSpill {
  /** Names, oldest first. */
  list(): Promise<readonly string[]>
  /** Valid until the next file is read. Null: damaged. Empty: the file no longer exists, since its front has merged it into another one. */
  read(name: string): Promise<readonly RequestBatch[] | null>
  remove(name: string): Promise<void>
}

/** Each method rejects when the store is unavailable. */
export interface RequestRows {
  /** @returns number of new rows */
  insert(batch: RequestBatch): Promise<number>
  /** Adds to the log the calls that are missing there but are in the ledger. */
  recover(): Promise<Comparison>
  /** Marks all calls paid until now as not needing a row. Changes nothing when another node keeps the log and compares it with the ledger. */
  passOver(): Promise<void>
}

export interface Comparison {
  readonly recovered: number
  /** The compared part of the ledger contains no payments, and more is due: no node ran for a while. */
  readonly isBehind: boolean
}

export type CountRequests = (outcome: RequestOutcome, calls: number) => void

/**
 * `spilled`: written to the disk by a front; `written`: in the log; `recovered`: from the ledger; `lost`: no
 * room, refused by the disk, or damaged.
 */
type RequestOutcome = 'spilled' | 'written' | 'recovered' | 'lost'
