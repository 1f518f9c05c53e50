import type { AccountKind, Day, Span } from './money.ts'

/** One account that a front needs money of. Whole nano-USD. */
export interface AccountAsk {
  readonly accountId: string
  /** What all waiting calls need beyond the front's balance; at least 1. */
  readonly needNano: number
  /** The smallest need of one of them: less than this is of no use. */
  readonly leastNano: number
  /** What this front used of it in the last second. */
  readonly useNano: number
}

/**
 * One request for money, of all accounts that a turn is short of. A front has one under way at a time, and
 * repeats it until it is answered: the authority answers a sequence once.
 */
export interface LendAsk {
  readonly journalId: string
  /** 1, 2, 3, … */
  readonly sequence: number
  /** The newest that this front was told of: the answer's is not before it, whatever clock steps back. */
  readonly day: Day
  readonly liveFronts: number
  readonly accounts: readonly AccountAsk[]
}

/** A finite limit of an account, as it is after the grant. Whole nano-USD. */
export interface LimitState {
  readonly span: Span
  readonly limitNano: number
  /** What counts against it: spent, and byok where it counts. */
  readonly spentNano: number
  /** Limit less spent less lent; negative when the limit was lowered. */
  readonly restNano: number
  /** First instant of the next window; null for `lifetime`. */
  readonly resetsAtMs: number | null
}

export interface AccountGrant {
  readonly accountId: string
  /** From 0 to what is left; part of the need when the rest is less. */
  readonly lentNano: number
  /** No limit at all: nothing is lent, and nothing refused. */
  readonly isUnlimited: boolean
  /** Others hold money of it, which may come back. */
  readonly isLentElsewhere: boolean
  readonly limits: readonly LimitState[]
}

export interface LendReply {
  /** The day that all of these leases belong to: never before one that any of the accounts has seen. */
  readonly day: Day
  /** In the order of the ask. */
  readonly accounts: readonly AccountGrant[]
}

/** What a front asks five times a second while it holds money or has something to flush. */
export interface Pulse {
  readonly day: Day
  /** Accounts of those it holds that somebody else was refused. */
  readonly wanted: readonly string[]
}

/** Which call an entry is of. */
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

/** One entry of the books, as journals keep it. Whole nano-USD. `paid`: accounts whose lease it came from. */
export type BookEntry =
  | (BookedCall & {
      readonly kind: 'settle'
      readonly provider: string
      readonly tokens: number
      readonly milliseconds: number
      readonly costNano: number
      readonly overrunNano: number
      readonly isByok: boolean
      readonly isEstimated: boolean
      readonly paid: PaidFrom
    })
  | { readonly kind: 'give_back'; readonly day: Day; readonly accountId: string; readonly amountNano: number }

/** Accounts from whose lease a call is paid. */
export type PaidFrom = Readonly<Record<AccountKind, boolean>>

/** A take that nobody settled. */
export interface OpenTake extends BookedCall {
  /** What was taken of each account. */
  readonly amounts: Readonly<Record<AccountKind, number>>
  readonly paid: PaidFrom
}

export interface JournalOwner {
  readonly id: string
  readonly node: string
  /** Of the operating system: another one means that what was not on disk is lost. */
  readonly bootId: string
}

/** Bytes of a journal that become part of the books, with what they say. */
export interface Flush {
  readonly journalId: string
  readonly from: number
  readonly to: number
  readonly entries: readonly BookEntry[]
}

/** `applied`: committed now or by an earlier try. `fenced`: the journal was closed, nothing was written. */
export type FlushResult = 'applied' | 'fenced'

/** How a journal ends whose front is dead. */
export interface Closing {
  readonly journalId: string
  /** What stands behind the applied offset; null when the file cannot be read. */
  readonly rest: Pick<Flush, 'from' | 'to' | 'entries'> | null
  readonly open: readonly OpenTake[]
  /**
   * False after a crash of the machine, or when a part cannot be read: what is not explained is forfeited
   * too.
   */
  readonly isComplete: boolean
}

export interface ClosingReport {
  /** It was open until now. */
  readonly isClosed: boolean
  readonly entries: number
  readonly forfeits: number
  readonly forfeitedNano: bigint
  readonly returnedNano: bigint
}

/**
 * Lends money, and keeps the books: Postgres. Each rejects when the store cannot be reached; what was asked
 * may then have happened, and asking again does not do it twice. Design §6.
 */
export interface Lender {
  /** Makes the journal known. @returns the day of the calendar */
  open(owner: JournalOwner): Promise<Day>
  /** Null: the journal was closed. */
  lend(ask: LendAsk): Promise<LendReply | null>
  pulse(accountIds: readonly string[]): Promise<Pulse>
  flush(flush: Flush): Promise<FlushResult>
  close(closing: Closing): Promise<ClosingReport>
}
