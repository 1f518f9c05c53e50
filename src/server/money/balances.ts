import { organizationAccount, workspaceAccount } from '../../schemas/money/accounts.ts'
import { COST_NANO_MAX, MONEY_IDLE_MS, MONEY_BALANCES_MAX } from '../../schemas/money/money-limits.ts'
import type { Journal } from '../ports/money/journal.ts'
import type { Change } from '../ports/keys/keys.ts'
import type { BookEntry } from '../ports/money/lending.ts'
import type { AccountKind, Day } from '../ports/money/money.ts'
import { Balance } from './balance.ts'

/** All balances of one front, which are of one day. Design §6.2, §6.3. */
export class Balances {
  readonly #journal: Pick<Journal, 'giveBack'>
  /** By the raw id of the owner: no text is put together on the way of a call. */
  readonly #byOwner: Readonly<Record<AccountKind, Map<string, Balance>>> = {
    organization: new Map(),
    workspace: new Map(),
    key: new Map(),
  }

  readonly #byAccount = new Map<string, Balance>()
  /** Null until the authority has told it. */
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

  /** An entry of the journal is in the books. */
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

  /** Accounts of which there is something to give back. */
  held(): string[] {
    const ids: string[] = []
    for (const { accountId, balanceNano } of this.#byAccount.values())
      if (balanceNano > 0) ids.push(accountId)
    return ids
  }

  /**
   * The authority's calendar has come to a day: what is of an older one goes back. @returns whether it is a
   * new one
   */
  turn(day: Day): boolean {
    if (this.day !== null && day <= this.day) return false
    if (this.day !== null) this.giveBackAll()
    this.day = day
    return true
  }

  /** Money goes back to the day that it is of. */
  giveBack(purse: Balance, day: Day, amountNano: number): void {
    if (amountNano <= 0) return
    purse.returningNano += amountNano
    this.giveBacks += 1
    // What two dear calls left may be more than a record holds, which its reader would take for damaged.
    for (let rest = amountNano; rest > 0; rest -= COST_NANO_MAX) {
      this.#journal.giveBack({
        kind: 'give_back',
        day,
        accountId: purse.accountId,
        amountNano: Math.min(rest, COST_NANO_MAX),
      })
    }
  }

  /** What no call holds. @returns nano-USD */
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

  /** What was not used for MONEY_IDLE_MS; purses of which nothing is left are forgotten. */
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
   * A limit may have changed. A key is changed by any of its hashes, and there are few of whose account
   * something is remembered.
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

/** @param purse undefined: it was forgotten meanwhile */
function book(purse: Balance | undefined, costNano: number): void {
  if (purse !== undefined) purse.bookedNano += costNano
}

function accountOf(kind: AccountKind, id: string): string {
  if (kind === 'organization') return organizationAccount(id)
  return kind === 'workspace' ? workspaceAccount(id) : id
}
