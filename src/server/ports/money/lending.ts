import type { AccountKind, Day, Span, TextTokens } from './money.ts'

export interface AccountNeed {
  readonly accountId: string
  /** Nano-USD that all waiting calls need beyond the front's balance; at least 1. */
  readonly needNano: number
  /** Nano-USD of the smallest need of one call: a smaller grant is of no use. */
  readonly leastNano: number
  /** Nano-USD of the account that this front used in the last second. */
  readonly useNano: number
}

/** All accounts short at the end of a tick; one request at a time, repeated until it is answered: a sequence is answered once. */
export interface LendInput {
  readonly journalId: string
  /** 1, 2, 3, … */
  readonly sequence: number
  /** The newest that this front knows: the day of the reply is not before it, even when a clock steps back. */
  readonly day: Day
  readonly liveFronts: number
  readonly accounts: readonly AccountNeed[]
}

/** After the grant. All amounts are whole nano-USD. */
export interface LimitState {
  readonly span: Span
  readonly limitNano: number
  /** Nano-USD that count against the limit: spent, and byok where it counts. */
  readonly spentNano: number
  /** Limit less spent less lent; negative when the limit was lowered. */
  readonly restNano: number
  /** First instant of the next window; null for `lifetime`. */
  readonly resetsAtMs: number | null
}

export interface AccountGrant {
  readonly accountId: string
  /** From 0 to the rest of the limits; a part of the need when the rest is less. */
  readonly lentNano: number
  /** The account has no limit: nothing is lent, and nothing refused. */
  readonly isUnlimited: boolean
  /** Other fronts or jobs hold money of the account, which may come back. */
  readonly isLentElsewhere: boolean
  readonly limits: readonly LimitState[]
}

export interface LendReply {
  /** The day of all of these leases: never before a day that any of the accounts has seen. */
  readonly day: Day
  /** Grants in the order of the request. */
  readonly accounts: readonly AccountGrant[]
}

/** The reply five times a second while a front holds money or has something to flush. */
export interface Pulse {
  readonly day: Day
  /** Accounts among those held whose money was refused to another front. */
  readonly wanted: readonly string[]
}

export interface BookedCall {
  readonly day: Day
  readonly atMs: number
  readonly requestId: string
  readonly operation: string
  readonly organizationId: string
  readonly workspaceId: string
  readonly keyHash: string
  readonly keyAccountId: string
  readonly model: string
}

/** One entry of a journal. Whole nano-USD. `paid`: accounts whose lease the entry was paid from. */
export type BookEntry =
  | (BookedCall & {
      readonly kind: 'settle'
      readonly provider: string
      /** Tokens of the prompt. */
      readonly tokens: number
      /** Left out: the model writes no text. */
      readonly text?: TextTokens
      readonly milliseconds: number
      readonly costNano: number
      readonly overrunNano: number
      readonly isByok: boolean
      readonly isEstimated: boolean
      readonly paid: PaidFrom
    })
  | { readonly kind: 'give_back'; readonly day: Day; readonly accountId: string; readonly amountNano: number }

export type PaidFrom = Readonly<Record<AccountKind, boolean>>

/** By the last record: what the answer has cost, and what two more seconds would have cost. */
export interface TakeProgress {
  readonly atMs: number
  readonly provider: string
  /** Canonical id of the model that answers. */
  readonly model: string
  /** Tokens of the prompt. */
  readonly tokens: number
  readonly text: TextTokens
  /** Milliseconds since the call was sent. */
  readonly milliseconds: number
  /** Nano-USD, within the bound of the call. */
  readonly costNano: number
  readonly isByok: boolean
  /** The provider goes on, and charges, when its connection ends: the rest of the bound may be spent. */
  readonly isDrained: boolean
  readonly paid: PaidFrom
  /** JSON for the record of the call; the books do not read it. */
  readonly note: string
}

/** A take without a settlement. */
export interface OpenTake extends BookedCall {
  /** Nano-USD taken of each account. */
  readonly amounts: Readonly<Record<AccountKind, number>>
  readonly paid: PaidFrom
  /** Left out: it is unknown whether the call was answered. */
  readonly progress?: TakeProgress
}

export interface JournalOwner {
  readonly id: string
  readonly node: string
  /** Boot id of the operating system: a different id means that bytes that were not on disk are lost. */
  readonly bootId: string
}

/** Bytes of a journal that are applied in Postgres, with their entries. */
export interface Flush {
  readonly journalId: string
  readonly from: number
  readonly to: number
  readonly entries: readonly BookEntry[]
}

/** `applied`: now or by an earlier try. `fenced` (closed journal) and `standsAt` (the books are past the beginning): nothing was written. */
export type FlushResult = 'applied' | 'fenced' | { readonly standsAt: number }

/** The front of the journal is dead. */
export interface Closing {
  readonly journalId: string
  /** Entries after the applied offset; null when the file cannot be read. */
  readonly rest: Pick<Flush, 'from' | 'to' | 'entries'> | null
  /** In a journal that was closed before, every open take is forfeited already; streams become usage. */
  readonly open: readonly OpenTake[]
  /** False after a crash of the machine, or when a part cannot be read: money without an entry is forfeited too. */
  readonly isComplete: boolean
}

export interface ClosingReport {
  /** The journal was open until now. */
  readonly isClosed: boolean
  readonly entries: number
  readonly forfeits: number
  readonly forfeitedNano: bigint
  readonly returnedNano: bigint
}

/** Each method rejects when Postgres is away; the request may have been applied, and a repetition does not apply it twice. */
export interface Lender {
  /** Makes the journal known to Postgres. @returns the day of the calendar */
  open(owner: JournalOwner): Promise<Day>
  /** Null: the journal was closed. */
  lend(ask: LendInput): Promise<LendReply | null>
  pulse(accountIds: readonly string[]): Promise<Pulse>
  flush(flush: Flush): Promise<FlushResult>
  close(closing: Closing): Promise<ClosingReport>
}

/** The number of a node's money in its data directory, which Postgres repeats. */
export interface KeptCount {
  readonly node: string
  /** 0: none was kept. */
  read(): number
  /** Keeps a number that Postgres has committed; never rejects, and never lowers it. */
  keep(n: number): Promise<void>
}
