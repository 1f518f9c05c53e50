import type { AccountKind, Day, Span, TextTokens } from './money.ts'

export interface AccountNeed {
  readonly accountId: string
  /** Nano-USD that all waiting calls need in addition to the front's balance; at least 1. */
  readonly needNano: number
  /** Nano-USD of the smallest need of one call: a smaller grant is useless. */
  readonly leastNano: number
  /** Nano-USD of the account that this front used in the last second. */
  readonly useNano: number
}

/**
 * All accounts that are short of money at the end of a tick. One request is sent at a time, and repeated until
 * it is answered; each sequence number is answered once.
 */
export interface LendInput {
  readonly journalId: string
  /** 1, 2, 3, … */
  readonly sequence: number
  /** The newest day that this front knows: the reply never has an earlier day, even when a clock is set back. */
  readonly day: Day
  readonly liveFronts: number
  readonly accounts: readonly AccountNeed[]
}

/** The state after the grant. All amounts are whole nano-USD. */
export interface LimitState {
  readonly span: Span
  readonly limitNano: number
  /** Nano-USD that count against the limit: spend, including byok if it counts. */
  readonly spentNano: number
  /** The limit minus spent and lent; may be negative after the limit was lowered. */
  readonly restNano: number
  /** Start of the next window; null for `lifetime`. */
  readonly resetsAtMs: number | null
}

export interface AccountGrant {
  readonly accountId: string
  /** From 0 to what remains of the limits; less than the need when not enough remains. */
  readonly lentNano: number
  /** The account has no limit: nothing needs to be lent, and nothing is refused. */
  readonly isUnlimited: boolean
  /** Other fronts or jobs hold money of the account, which they may return. */
  readonly isLentElsewhere: boolean
  readonly limits: readonly LimitState[]
}

export interface LendReply {
  /** The day of all of these leases: never earlier than the latest day recorded for any of the accounts. */
  readonly day: Day
  /** Grants in the order of the request. */
  readonly accounts: readonly AccountGrant[]
}

/** The reply to the request that a front sends five times a second while it holds money or has entries to flush. */
export interface Pulse {
  readonly day: Day
  /** Held accounts for which another front was refused money. */
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
      /** Left out: the model generates no text. */
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

/** State at the last record: the cost of the answer so far plus the cost of two more seconds. */
export interface TakeProgress {
  readonly atMs: number
  readonly provider: string
  /** Canonical id of the model that answered. */
  readonly model: string
  /** Tokens of the prompt. */
  readonly tokens: number
  readonly text: TextTokens
  /** Milliseconds since the call was sent. */
  readonly milliseconds: number
  /** Nano-USD, within the bound of the call. */
  readonly costNano: number
  readonly isByok: boolean
  /** The provider continues, and charges, even after the connection is closed: the rest of the bound may be spent. */
  readonly isDrained: boolean
  readonly paid: PaidFrom
  /** JSON for the record of the call; bookkeeping does not read it. */
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

/**
 * `applied`: now or by an earlier attempt. Nothing was written for `fenced` (the journal is closed) and
 * `standsAt` (the books are already past the start of the flush).
 */
export type FlushResult = 'applied' | 'fenced' | { readonly standsAt: number }

/** The front of the journal is dead. */
export interface Closing {
  readonly journalId: string
  /** Entries after the applied offset; null when the file cannot be read. */
  readonly rest: Pick<Flush, 'from' | 'to' | 'entries'> | null
  /** If the journal was closed earlier, every open take is already forfeited; open streams are booked as usage. */
  readonly open: readonly OpenTake[]
  /** False after a crash of the machine, or when a part cannot be read: money without an entry is then forfeited too. */
  readonly isComplete: boolean
}

export interface ClosingReport {
  /** True when this call closed the journal. */
  readonly isClosed: boolean
  readonly entries: number
  readonly forfeits: number
  readonly forfeitedNano: bigint
  readonly returnedNano: bigint
}

/** Each method rejects when Postgres is unavailable. The request may still have been applied; a repetition does not apply it twice. */
export interface Lender {
  /** Registers the journal in Postgres. @returns the day of the calendar */
  open(owner: JournalOwner): Promise<Day>
  /** Null: the journal was closed. */
  lend(ask: LendInput): Promise<LendReply | null>
  pulse(accountIds: readonly string[]): Promise<Pulse>
  flush(flush: Flush): Promise<FlushResult>
  close(closing: Closing): Promise<ClosingReport>
}

/** The money counter of a node, kept in its data directory; Postgres stores the same number. */
export interface KeptCount {
  readonly node: string
  /** 0: none was kept. */
  read(): number
  /** Stores a number that Postgres has committed; never rejects, and never lowers the stored number. */
  keep(n: number): Promise<void>
}
