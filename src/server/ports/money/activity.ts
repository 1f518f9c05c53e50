import type { Outcome } from '../../../schemas/failures.ts'
import type { Day } from './money.ts'

/** Sums of the calls of one day, key, workspace and model. Whole nano-USD. */
export interface ActivityRow extends ActivitySums {
  readonly day: Day
  readonly workspaceId: string
  readonly keyHash: string
  readonly model: string
}

export interface ActivitySums {
  readonly requests: bigint
  /** Tokens of prompts. */
  readonly tokens: bigint
  /** Tokens of answers, with reasoning. */
  readonly outputTokens: bigint
  /** Prompt tokens that were in caches of providers. */
  readonly cachedTokens: bigint
  readonly milliseconds: bigint
  readonly spentNano: bigint
  /** Spend with credentials of workspaces. */
  readonly byokNano: bigint
  /** Maximum costs charged for calls whose actual cost was lost with their front. */
  readonly forfeitedNano: bigint
}

export interface ActivityPeriod {
  /** Both `from` and `to` are included. Left out: ACTIVITY_DAYS_DEFAULT days up to `to`. */
  readonly from?: Day
  /** Left out: today, but at most ACTIVITY_DAYS_MAX days from `from`. */
  readonly to?: Day
}

export interface ActivityInput extends ActivityPeriod {
  readonly organizationId: string
  /** UUID or slug, as sent. */
  readonly workspace?: string
  readonly keyHash?: string
  readonly model?: string
  readonly limit: number
  readonly offset: number
}

export interface ActivityPage {
  /** Newest first. */
  readonly rows: readonly ActivityRow[]
  /** Number of rows on all pages. */
  readonly count: number
  readonly from: Day
  readonly to: Day
}

/** Roll-ups of the ledger. Failures: workspace_unknown, store_unavailable. */
export interface Activity {
  list(input: ActivityInput): Promise<Outcome<ActivityPage>>
}
