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
    const purse = new Balance({ kind, accountId: accountOf(kind, id), ownerId: id }, now)
    this.#byOwner[kind].set(id, purse)
    this.#byAccount.set(purse.accountId, purse)
    return purse
  }

  byAccount(accountId: string): Balance | undefined {
    return this.#byAccount.get(accountId)
  }

  /** Counts an entry of the journal as applied in Postgres. */
  booked(entry: BookEntry): void {
    if (entry.kind === 'give_back') {
      const purse = this.#byAccount.get(entry.accountId)
      if (purse !== undefined) purse.returningNano -= entry.amountNano
      return
    }
    const { paid, costNano, organizationId, workspaceId, keyAccountId } = entry
    if (paid.organization) book(this.#byOwner.organization.get(organizationId), costNano)
    if (paid.workspace) book(this.#byOwner.workspace.get(workspaceId), costNano)
    if (paid.key) book(this.#byOwner.key.get(keyAccountId), costNano)
  }

  get heldNano(): number {
    let nano = 0
    for (const purse of this.#byAccount.values()) nano += purse.balanceNano
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
  turn(day: Day): boolean {
    if (this.day !== null && day <= this.day) return false
    if (this.day !== null) this.giveBackAll()
    this.day = day
    return true
  }

  /** Gives money back to the day that it belongs to. */
  giveBack(purse: Balance, day: Day, amountNano: number): void {
    if (amountNano <= 0) return
    purse.returningNano += amountNano
    this.giveBacks += 1
    // The rest of two expensive calls may be more than one record holds; the reader of the journal would call
    // such a record damaged.
    for (let rest = amountNano; rest > 0; rest -= COST_NANO_MAX) {
      this.#journal.giveBack({
        kind: 'give_back',
        day,
        accountId: purse.accountId,
        amountNano: Math.min(rest, COST_NANO_MAX),
      })
    }
  }

  /** Gives back the money that no call holds. @returns nano-USD */
  giveBackBalance(purse: Balance): number {
    const { balanceNano } = purse
    purse.balanceNano = 0
    if (this.day !== null) this.giveBack(purse, this.day, balanceNano)
    return balanceNano
  }

  giveBackAll(): number {
    let nano = 0
    for (const purse of this.#byAccount.values()) nano += this.giveBackBalance(purse)
    return nano
  }

  /**
   * Gives back balances that were not used for MONEY_IDLE_MS, and forgets balances that are settled in full.
   */
  giveBackIdle(now: number): void {
    for (const purse of this.#byAccount.values()) {
      if (now - purse.lastUsedAt < MONEY_IDLE_MS || purse.waiting > 0) continue
      this.giveBackBalance(purse)
      if (
        purse.openNano === 0 &&
        purse.returningNano === 0 &&
        purse.bookedNano === purse.paidNano &&
        !purse.isAsked
      )
        this.#drop(purse)
    }
  }

  /**
   * A limit may have changed. A change of a key may name any of its hashes, so the balances of all keys are
   * reset; they are few.
   */
  obey(change: Change): void {
    const { kind } = change
    if (kind === 'everything') for (const purse of this.#byAccount.values()) purse.forget()
    else if (kind === 'key') for (const purse of this.#byOwner.key.values()) purse.forget()
    else if (kind === 'organization' || kind === 'workspace') this.#byOwner[kind].get(change.id)?.forget()
  }

  #drop(purse: Balance): void {
    this.#byAccount.delete(purse.accountId)
    this.#byOwner[purse.kind].delete(purse.ownerId)
  }
}

/** @param balance undefined: the balance was forgotten meanwhile */
function book(purse: Balance | undefined, costNano: number): void {
  if (purse !== undefined) purse.bookedNano += costNano
}

function accountOf(kind: AccountKind, id: string): string {
  if (kind === 'organization') return organizationAccount(id)
  return kind === 'workspace' ? workspaceAccount(id) : id
}
