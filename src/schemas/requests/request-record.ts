/** A finished call for the request log, as numbers only. A text is represented by its number in a list that all calls of a batch share; 0: none. */

/** Stands for an unknown figure; no figure is negative. */
export const UNKNOWN = -1

/** The indexes of a call's numbers. */
export const FIGURE = {
  /** Unix milliseconds. */
  endedMs: 0,
  durationMs: 1,
  authMs: 2,
  limitsMs: 3,
  validateMs: 4,
  holdMs: 5,
  upstreamMs: 6,
  firstMs: 7,
  status: 8,
  inputTokens: 9,
  outputTokens: 10,
  cachedTokens: 11,
  costNano: 12,
  requestBytes: 13,
  replyBytes: 14,
  attempts: 15,
  weight: 16,
  /** Of `FLAG`. */
  flags: 17,
  /** The figures from here to `limit` are texts. */
  organization: 18,
  workspace: 19,
  key: 20,
  operation: 21,
  model: 22,
  provider: 23,
  error: 24,
  limit: 25,
  /** A number in the batch's list of failed attempts. */
  failed: 26,
  /** Unix milliseconds of the payment in the ledger. */
  paidMs: 27,
} as const

/** Numbers of a call. */
export const FIGURES = 28

/** Facts of a call, as bits. */
export const FLAG = {
  byok: 1,
  estimated: 2,
  unpriced: 4,
  clientGone: 8,
  creditLimited: 16,
  workspaceLimited: 32,
  keyLimited: 64,
} as const

export type Reason = readonly [place: number, number: number]

/** Finished calls of one front. */
export interface RequestBatch {
  /** A unique decimal number, so that a batch that is written twice is stored once. */
  readonly id: string
  /** FIGURES numbers for each call. */
  readonly figures: Float64Array
  /** Of each call. */
  readonly requestIds: readonly string[]
  /** The texts, counted from 1. */
  readonly names: readonly string[]
  /** Failed attempts and failure reasons as JSON, numbered from 1. */
  readonly failed: readonly string[]
  /** Failed calls with a reason: the index of the call, and the number of the reason's JSON in `failed`. */
  readonly reasons: readonly Reason[]
}
