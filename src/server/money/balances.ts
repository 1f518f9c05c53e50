import { organizationAccount, workspaceAccount } from '../../schemas/money/accounts.ts'
import { COST_NANO_MAX, MONEY_IDLE_MS, MONEY_BALANCES_MAX } from '../../schemas/money/money-limits.ts'
import type { Journal } from '../ports/money/journal.ts'
import type { Change } from '../ports/keys/keys.ts'
import type { BookEntry } from '../ports/money/lending.ts'
import type { AccountKind, Day } from '../ports/money/money.ts'
import { Balance } from './balance.ts'

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
  /** Null until the authority has named the day. */
  day: Day | null = null
  giveBacks = 0

  constructor(journal: Pick<Journal, 'giveBack'>) {
    this.#journal = journal
  }

  /**
   * @param id of the organization or workspace, or of a key's account. @returns null when there are too many
   */
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

  /** Accounts with a balance that can be given back. */
  held(): string[] {
    const ids: string[] = []
    for (const { accountId, balanceNano } of this.#byAccount.values())
      if (balanceNano > 0) ids.push(accountId)
    return ids
  }

  /** Moves to the authority's day: balances of an older day go back. @returns whether the day is new */
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
    // The rest of two expensive calls may be more than one record holds; the reader of the journal would call
    // such a record damaged.
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

  /**
   * Gives back balances that were not used for MONEY_IDLE_MS, and forgets balances that are settled in full.
   */
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

  /**
   * A limit may have changed. A change of a key may name any of its hashes, so the balances of all keys are
   * reset; they are few.
   */
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
