import { chargedNano } from '../../schemas/money/costs.ts'
import type { PaidFrom } from '../ports/money/lending.ts'
import type { Journal } from '../ports/money/journal.ts'
import type { AccountKind, CallCost, Day, Hold, HoldAsk } from '../ports/money/money.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Balance } from './balance.ts'
import type { Balances } from './balances.ts'

/** The parts that all calls of a front share. */
export interface MoneyContext {
  readonly purses: Balances
  readonly journal: Journal
  readonly turn: GroupCommit
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly epochNow: () => number
  /**
   * Called when an end of a call was gathered in the journal, or when money came back to a balance that calls
   * wait for.
   */
  readonly ended: (taking: Reservation) => void
  readonly counts: MoneyCounts
}

/** Figures since the start. */
export interface MoneyCounts {
  takes: number
  overruns: number
  open: number
}

/** A call and the money that it needs of each account. A reservation that was taken is the call's hold. */
export class Reservation implements Hold {
  readonly ask: HoldAsk
  /** The most that the call may cost, as each account counts it; 0 where the most is unknown. */
  readonly amounts: Readonly<Record<AccountKind, number>>
  /** Balances of the accounts with a finite limit that the call needs money of. */
  readonly purses: readonly Balance[]
  readonly #till: MoneyContext
  #day: Day = ''
  #takeId = 0
  #paid: PaidFrom = NOTHING_PAID
  #isOpen = false
  #isWritten = false

  constructor(till: MoneyContext, ask: HoldAsk, purses: readonly Balance[]) {
    this.#till = till
    this.ask = ask
    this.purses = purses
    this.amounts = amountsOf(ask)
  }

  /** Balances that do not cover the call now. */
  short(): Balance[] {
    return this.purses.filter((purse) => !this.#covers(purse))
  }

  /**
   * Whether all balances cover the call, and no call that waits for an answer about one of them came first.
   */
  mayTake(isFirst = false): boolean {
    for (const purse of this.purses) {
      if (!this.#covers(purse) || (purse.waitingAsked > 0 && !isFirst)) return false
    }
    return this.#till.purses.day !== null
  }

  /**
   * Subtracts from every balance, and gathers the take for the journal. `written` says whether the journal
   * has it.
   * @returns false when the day is unknown; nothing is taken then
   */
  take(): boolean {
    const {
      purses: { day },
      journal,
      turn,
      counts,
    } = this.#till
    if (day === null) return false
    const { key, facts } = this.ask
    const now = this.#till.now()
    const paid = { organization: false, workspace: false, key: false }
    for (const purse of this.purses) {
      if (purse.isUnlimited) continue
      paid[purse.kind] = true
      purse.take(this.amounts[purse.kind], now)
    }
    this.#paid = paid
    this.#day = day
    this.#takeId = journal.take({
      day,
      atMs: this.#till.epochNow(),
      requestId: facts.requestId,
      operation: facts.operation,
      model: facts.model,
      organizationId: key.organizationId,
      workspaceId: workspaceOf(this.ask),
      keyHash: key.hash,
      keyAccountId: key.money.accountId,
      amounts: this.amounts,
      paid,
    })
    counts.open += 1
    this.#isOpen = true
    turn.gather(this)
    return true
  }

  written(): boolean | Promise<boolean> {
    if (this.#isWritten || !this.#isOpen) return this.#isWritten
    return this.#till.turn.done.then(() => this.#isWritten)
  }

  wrote(isWritten: boolean): void {
    const { counts } = this.#till
    this.#isWritten = isWritten
    if (isWritten) {
      counts.takes += 1
      return
    }
    counts.open -= 1
    this.#isOpen = false
    this.#returnRest(NOTHING_PAID, 0)
  }

  settle(cost: CallCost): void {
    if (!this.#mayEnd()) return
    const { key, facts, bound } = this.ask
    const charged = chargedNano(cost, bound)
    const paid = this.#paidBy(cost)
    if (cost.costNano > charged) this.#till.counts.overruns += 1
    this.#till.journal.settle(this.#takeId, {
      kind: 'settle',
      day: this.#day,
      atMs: this.#till.epochNow(),
      requestId: facts.requestId,
      operation: facts.operation,
      model: facts.model,
      provider: cost.provider,
      organizationId: key.organizationId,
      workspaceId: workspaceOf(this.ask),
      keyHash: key.hash,
      keyAccountId: key.money.accountId,
      tokens: cost.tokens ?? 0,
      milliseconds: Math.round(cost.milliseconds ?? 0),
      costNano: charged,
      overrunNano: cost.costNano - charged,
      isByok: cost.isByok,
      isEstimated: cost.isEstimated,
      paid,
    })
    this.#end(paid, charged)
  }

  release(): void {
    if (!this.#mayEnd()) return
    this.#till.journal.release(this.#takeId)
    this.#end(NOTHING_PAID, 0)
  }

  /** The end of a call is written after its take, or neither is written. */
  #mayEnd(): boolean {
    if (this.#isOpen && !this.#isWritten) this.#till.turn.write()
    return this.#isOpen
  }

  #end(paid: PaidFrom, chargedNano: number): void {
    this.#isOpen = false
    this.#till.counts.open -= 1
    this.#returnRest(paid, chargedNano)
    this.#till.ended(this)
  }

  /** Money that was not used stays in the balance, unless its day is over. */
  #returnRest(paid: PaidFrom, chargedNano: number): void {
    const { purses } = this.#till
    const isToday = this.#day === purses.day
    for (const purse of this.purses) {
      if (!this.#paid[purse.kind]) continue
      const amount = this.amounts[purse.kind]
      const rest = paid[purse.kind] ? Math.max(0, amount - chargedNano) : amount
      purse.settle(amount, isToday ? rest : 0)
      if (paid[purse.kind]) purse.paidNano += chargedNano
      if (!isToday) purses.giveBack(purse, this.#day, rest)
    }
  }

  /**
   * A call by a workspace's own credentials is paid only by the accounts that count such calls. B2.9, B2.10.
   */
  #paidBy({ isByok }: CallCost): PaidFrom {
    if (!isByok) return this.#paid
    const { workspaceCountsByok, keyCountsByok } = this.ask.key.money
    return {
      organization: false,
      workspace: this.#paid.workspace && workspaceCountsByok,
      key: this.#paid.key && keyCountsByok,
    }
  }

  #covers(purse: Balance): boolean {
    return purse.balanceNano >= this.amounts[purse.kind] || purse.isUnlimited
  }
}

const NOTHING_PAID: PaidFrom = { organization: false, workspace: false, key: false }

function amountsOf({
  key: { money },
  bound: { paidNano, anyNano },
}: HoldAsk): Readonly<Record<AccountKind, number>> {
  const paid = paidNano ?? 0
  const any = anyNano ?? 0
  // Credit is the operator's money: costs that a workspace pays itself never count.
  return {
    organization: paid,
    workspace: money.workspaceCountsByok ? any : paid,
    key: money.keyCountsByok ? any : paid,
  }
}

export function workspaceOf({ key }: Pick<HoldAsk, 'key'>): string {
  return key.workspaceId ?? key.defaultWorkspaceId
}
