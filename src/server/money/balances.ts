import { organizationAccount, workspaceAccount } from '../../schemas/money/accounts.ts'
import { COST_NANO_MAX, MONEY_IDLE_MS } from '../../schemas/money/money-limits.ts'
import type { Journal } from '../ports/money/journal.ts'
import type { Change } from '../ports/keys/keys.ts'
import type { BookEntry, AccountGrant, LimitState } from '../ports/money/lending.ts'
import type { AccountKind, Day } from '../ports/money/money.ts'
import type { RefusingLimit } from '../../schemas/money/money-refusals.ts'

/** Milliseconds for which a front repeats the authority's refusal without asking again, unless a limit changes. Decision. */
export const MONEY_REFUSED_MS = 200
/** Maximum of accounts with a limit whose balance one front keeps; `busy` beyond. Decision. */
export const MONEY_BALANCES_MAX = 50_000

/** All balances of one front, of one day. Design §6.2, §6.3. */
export class Balances {
  readonly #journal: Pick<Journal, 'giveBack'>
  /** Keyed by the raw id of the owner, so that a call builds no text. */
  readonly #byOwner: Readonly<Record<AccountKind, Map<string, Balance>>> = {
    organization: new Map(),
    workspace: new Map(),
    key: new Map(),
  }

  readonly #byAccount = new Map<string, Balance>()
  /** The day of the balances; null until the authority has reported the day. */
  day: Day | null = null
  giveBacks = 0

  constructor(journal: Pick<Journal, 'giveBack'>) {
    this.#journal = journal
  }

  /** @param id of the organization or workspace, or of a key's account. @returns null when there are too many */
  of(kind: AccountKind, id: string, now: number): Balance | null {
    const known = this.#byOwner[kind].get(id)
    if (known !== undefined) return known
    if (this.#byAccount.size >= MONEY_BALANCES_MAX) return null
    const balance = new Balance({ kind, accountId: accountOf(kind, id), ownerId: id }, now)
    this.#byOwner[kind].set(id, balance)
    this.#byAccount.set(balance.accountId, balance)
    return balance
  }

  byAccount(accountId: string): Balance | undefined {
    return this.#byAccount.get(accountId)
  }

  /** Counts an entry of the journal as applied in Postgres. */
  booked(entry: BookEntry): void {
    if (entry.kind === 'give_back') {
      const balance = this.#byAccount.get(entry.accountId)
      if (balance !== undefined) balance.returningNano -= entry.amountNano
      return
    }
    const { paid, costNano, organizationId, workspaceId, keyAccountId } = entry
    if (paid.organization) book(this.#byOwner.organization.get(organizationId), costNano)
    if (paid.workspace) book(this.#byOwner.workspace.get(workspaceId), costNano)
    if (paid.key) book(this.#byOwner.key.get(keyAccountId), costNano)
  }

  get heldNano(): number {
    let nano = 0
    for (const balance of this.#byAccount.values()) nano += balance.balanceNano
    return nano
  }

  /** Ids of accounts with a balance that can be returned. */
  held(): string[] {
    const ids: string[] = []
    for (const { accountId, balanceNano } of this.#byAccount.values())
      if (balanceNano > 0) ids.push(accountId)
    return ids
  }

  /** Switches to the authority's day: balances of an older day are returned. @returns whether the day is new */
  advance(day: Day): boolean {
    if (this.day !== null && day <= this.day) return false
    if (this.day !== null) this.giveBackAll()
    this.day = day
    return true
  }

  /** Gives money back to the day that it belongs to. */
  giveBack(balance: Balance, day: Day, amountNano: number): void {
    if (amountNano <= 0) return
    balance.returningNano += amountNano
    this.giveBacks += 1
    // The rest of two expensive calls may exceed the limit of one record; the reader of the journal would
    // treat such a record as damaged.
    for (let rest = amountNano; rest > 0; rest -= COST_NANO_MAX) {
      this.#journal.giveBack({
        kind: 'give_back',
        day,
        accountId: balance.accountId,
        amountNano: Math.min(rest, COST_NANO_MAX),
      })
    }
  }

  /** Gives back the money that no call holds. @returns nano-USD */
  giveBackBalance(balance: Balance): number {
    const { balanceNano } = balance
    balance.balanceNano = 0
    if (this.day !== null) this.giveBack(balance, this.day, balanceNano)
    return balanceNano
  }

  giveBackAll(): number {
    let nano = 0
    for (const balance of this.#byAccount.values()) nano += this.giveBackBalance(balance)
    return nano
  }

  /** Gives back balances that were not used for MONEY_IDLE_MS, and forgets balances that are settled in full. */
  giveBackIdle(now: number): void {
    for (const balance of this.#byAccount.values()) {
      if (now - balance.lastUsedAt < MONEY_IDLE_MS || balance.waiting > 0) continue
      this.giveBackBalance(balance)
      if (
        balance.openNano === 0 &&
        balance.returningNano === 0 &&
        balance.bookedNano === balance.paidNano &&
        !balance.isRequested
      )
        this.#drop(balance)
    }
  }

  /** Called when a limit may have changed. A change of a key may name any of its hashes, so the balances of all keys are reset; they are few. */
  apply(change: Change): void {
    const { kind } = change
    if (kind === 'everything') for (const balance of this.#byAccount.values()) balance.forget()
    else if (kind === 'key') for (const balance of this.#byOwner.key.values()) balance.forget()
    else if (kind === 'organization' || kind === 'workspace') this.#byOwner[kind].get(change.id)?.forget()
  }

  #drop(balance: Balance): void {
    this.#byAccount.delete(balance.accountId)
    this.#byOwner[balance.kind].delete(balance.ownerId)
  }
}

/** @param balance undefined: the balance was forgotten meanwhile */
function book(balance: Balance | undefined, costNano: number): void {
  if (balance !== undefined) balance.bookedNano += costNano
}

function accountOf(kind: AccountKind, id: string): string {
  if (kind === 'organization') return organizationAccount(id)
  return kind === 'workspace' ? workspaceAccount(id) : id
}

/** Milliseconds of a slot in which use is counted. */
const USE_SLOT_MS = 1_000

interface Refusal {
  readonly until: number
  /** Nano-USD from which calls are refused: a call that needs less may still be covered. */
  readonly fromNano: number
  readonly limits: readonly LimitState[]
}

/** The meaning of an account's last answer for a call that its balance does not cover. */
export interface Verdict {
  /** Finite limits that refuse the call. */
  readonly limits: readonly LimitState[]
  /** True when returned money cannot help: even then the amount would exceed the limit. */
  readonly isFinal: boolean
}

/**
 * A front's balance of one account: money of one day that is lent to the front and neither taken by a call
 * nor given back. Whole nano-USD, below 2⁵³. Design §6.
 */
export class Balance {
  readonly kind: AccountKind
  readonly accountId: string
  /**
   * The owner of the account, as invalidations name it. For a key, this is the id of its account, whichever
   * of its hashes was used.
   */
  readonly ownerId: string
  balanceNano = 0
  /** Nano-USD taken by calls under way; a part of it may be returned. */
  openNano = 0
  /** Nano-USD given back by the front and not yet applied in Postgres. */
  returningNano = 0
  /** Nano-USD paid from this balance since the start. */
  paidNano = 0
  /** Nano-USD of `paidNano` that is applied in Postgres. */
  bookedNano = 0
  /** True when the authority reported that the account has no limit, and its owner has not changed since. */
  isUnlimited = false
  waiting = 0
  waitingRequested = 0
  /** True while a request asks for this account: `Balances` must keep the balance, so that the grant finds it. */
  isRequested = false
  /** Monotonic milliseconds before which another request would be useless. */
  quietUntil = 0
  /** Number of changes of the owner so far. An answer to a request from before the last change is not remembered. */
  changes = 0
  lastUsedAt: number
  #limits: readonly LimitState[] = []
  #bookedAtAnswer = 0
  #isLentElsewhere = false
  #refusal: Refusal | null = null
  #slotAt: number
  #used = 0
  #usedBefore = 0

  constructor(owner: Pick<Balance, 'kind' | 'accountId' | 'ownerId'>, now: number) {
    this.kind = owner.kind
    this.accountId = owner.accountId
    this.ownerId = owner.ownerId
    this.lastUsedAt = now
    this.#slotAt = now
  }

  take(amountNano: number, now: number): void {
    this.balanceNano -= amountNano
    this.openNano += amountNano
    this.#count(amountNano, now)
  }

  /** Ends the take of a call. @param keptNano the part of the take that stays in this balance */
  settle(amountNano: number, keptNano: number): void {
    this.openNano -= amountNano
    this.balanceNano += keptNano
  }

  receive(grant: AccountGrant): void {
    this.balanceNano += grant.lentNano
    this.isUnlimited = grant.isUnlimited
    this.#limits = grant.limits
    this.#bookedAtAnswer = this.bookedNano
    this.#isLentElsewhere = grant.isLentElsewhere
    this.#refusal = null
  }

  /** Called when the owner changed, since the authority's last answer may now be wrong. Money that is lent stays lent. */
  forget(): void {
    this.changes += 1
    this.isUnlimited = false
    this.#refusal = null
    this.quietUntil = 0
  }

  /** Judges a call that needs more than the balance, by the last answer. */
  judge(amountNano: number): Verdict {
    const hopeless = this.#limits.filter(({ limitNano, spentNano }) => amountNano > limitNano - spentNano)
    if (hopeless.length > 0) return { limits: hopeless, isFinal: true }
    const limits = this.#limits.filter(({ restNano }) => restNano + this.balanceNano < amountNano)
    return { limits, isFinal: limits.length > 0 && !this.#mayComeBack() }
  }

  refuse(amountNano: number, limits: readonly LimitState[], now: number): void {
    this.#refusal = { until: now + MONEY_REFUSED_MS, fromNano: amountNano, limits }
  }

  /** Limits that refused an amount of this size a moment ago. */
  refusing(amountNano: number, now: number): readonly RefusingLimit[] {
    const refusal = this.#refusal
    if (
      refusal === null ||
      now >= refusal.until ||
      amountNano < refusal.fromNano ||
      amountNano <= this.balanceNano
    )
      return []
    return this.refusingLimits(refusal.limits, amountNano)
  }

  /**
   * Limits of the last answer as a caller sees them. Money paid from this balance counts as used even before
   * it is applied in Postgres, and unused money in this balance counts as free.
   */
  refusingLimits(limits: readonly LimitState[], boundNano: number): readonly RefusingLimit[] {
    const unbookedNano = Math.max(0, this.paidNano - this.#bookedAtAnswer)
    return limits.map((limit) => {
      const spentNano = Math.min(limit.limitNano - limit.restNano, limit.spentNano + unbookedNano)
      const restNano = Math.min(limit.limitNano - spentNano, limit.restNano + this.balanceNano)
      return { kind: this.kind, limit: { ...limit, spentNano, restNano }, boundNano }
    })
  }

  /** Nano-USD that calls took per second recently: the larger of the current and the previous slot. */
  useNano(now: number): number {
    this.#count(0, now)
    return Math.max(this.#used, this.#usedBefore)
  }

  #mayComeBack(): boolean {
    return this.#isLentElsewhere || this.openNano > 0 || this.returningNano > 0
  }

  #count(amountNano: number, now: number): void {
    const slots = Math.floor((now - this.#slotAt) / USE_SLOT_MS)
    if (slots !== 0) {
      this.#usedBefore = slots === 1 ? this.#used : 0
      this.#used = 0
      this.#slotAt = slots === 1 ? this.#slotAt + USE_SLOT_MS : now
    }
    this.#used += amountNano
    if (amountNano > 0) this.lastUsedAt = now
  }
}
