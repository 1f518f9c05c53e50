import type { Outcome } from '../../../schemas/failures.ts'
import type { FailureReason } from '../../../schemas/requests/failure-reason.ts'
import type { RequestBatch } from '../../../schemas/requests/request-record.ts'

/** Instants are milliseconds from the begin of the call. */
export interface LoggedAttempt {
  readonly provider: string
  /** HTTP status of the provider; null when it did not answer. */
  readonly status: number | null
  readonly code: string
  readonly atMs: number
  readonly durationMs: number
}

/** Null is what the call did not have, or what is not known. */
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
  /** What refused the call: the owner of a limit and its interval. */
  readonly limit: string | null
  readonly workspaceId: string | null
  readonly keyHash: string | null
  /** Also of a deleted key. */
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
  /** Calls that the row stands for. */
  readonly weight: number
  /** Of `FLAG`. */
  readonly flags: number
  /** The call was in the ledger but not in the log: only the ledger's facts are known. */
  readonly isRecovered: boolean
}

export type RequestPlace = Pick<LoggedRequest, 'endedUs' | 'batch' | 'n'>

export interface RequestQuery {
  /** Null: calls without a valid key, which no organization has made. */
  readonly organizationId: string | null
  /** UUID or slug. */
  readonly workspace?: string
  /** The hash of a key, or the first characters of it. */
  readonly key?: string
  /** The name of a key, or the first characters of it; upper and lower case are the same. */
  readonly keyName?: string
  readonly requestId?: string
  readonly operation?: string
  readonly model?: string
  /** The first characters of a model's id, or of the part after its author. */
  readonly modelPrefix?: string
  readonly provider?: string
  readonly error?: string
  /** With any failure, or without one. */
  readonly isFailed?: boolean
  /** The client left before the end of the answer. */
  readonly isLeft?: boolean
  /** The lowest and the highest status. */
  readonly status?: readonly [number, number]
  readonly minDurationMs?: number
  readonly minCostNano?: number
  /** ISO 8601. */
  readonly from?: string
  /** The instant after the last, ISO 8601. */
  readonly to?: string
  /** Only rows after this one. */
  readonly before?: RequestPlace
  readonly limit: number
}

export interface RequestPage {
  /** Newest first. A page of a search that finds little may be short. */
  readonly rows: readonly LoggedRequest[]
  /** Where the next page begins; null when this one is the last. */
  readonly next: RequestPlace | null
}

export interface RequestLog {
  /**
   * One search of an organization at a time; the signal also ends its wait. Failures: workspace_unknown,
   * store_unavailable, busy, that of the signal.
   */
  find(query: RequestQuery, signal: AbortSignal): Promise<Outcome<RequestPage>>
}

/** Batches of all fronts of a node that wait to be written, in files on its disk. */
export interface RequestSpill {
  /** Names, oldest first. */
  list(): Promise<readonly string[]>
  /** Valid until the next file is read. Null: damaged. No batch: gone, as its front has joined it with another file. */
  read(name: string): Promise<readonly RequestBatch[] | null>
  remove(name: string): Promise<void>
}

/** Each method rejects when the store is away. */
export interface RequestRows {
  /** @returns rows that were new */
  insert(batch: RequestBatch): Promise<number>
  /** Takes from the ledger what the log should have and has not. */
  recover(): Promise<Comparison>
  /** What was paid until now needs no row. Changes nothing where the log of another node is on and compares. */
  passOver(): Promise<void>
}

export interface Comparison {
  readonly recovered: number
  /** Nothing was paid in the part that was compared, and more of the ledger is due: no node ran for a while. */
  readonly isBehind: boolean
}

export type CountRequests = (outcome: RequestOutcome, calls: number) => void

/** `spilled`: a front wrote it down; `written`: in the log; `recovered`: from the ledger; `lost`: no room, refused by the disk, or damaged. */
type RequestOutcome = 'spilled' | 'written' | 'recovered' | 'lost'
