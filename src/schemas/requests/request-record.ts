/** A finished call on its way to the request log: numbers alone. A text is its number in a list that all calls of a batch share; 0: none. */

/** In place of a figure that is not known; no figure is negative. */
export const UNKNOWN = -1

/** The places of a call's numbers. */
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
  /** Texts from here to `limit`. */
  organization: 18,
  workspace: 19,
  key: 20,
  operation: 21,
  model: 22,
  provider: 23,
  error: 24,
  limit: 25,
  /** Of the batch's list of failed attempts. */
  failed: 26,
  /** Unix milliseconds in which the ledger has the payment. */
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
  /** A decimal number that no other batch has: a batch that is written twice is there once. */
  readonly id: string
  /** FIGURES numbers for each call. */
  readonly figures: Float64Array
  /** Of each call. */
  readonly requestIds: readonly string[]
  /** Text 1 and the following ones. */
  readonly names: readonly string[]
  /** Failed attempts and reasons of failures as JSON; the first has the number 1. */
  readonly failed: readonly string[]
  /** Calls with the reason of their failure: the place of the call, and the number of its JSON in `failed`. */
  readonly reasons: readonly Reason[]
}
