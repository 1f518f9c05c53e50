import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { chargedNano } from '../../schemas/money/costs.ts'
import { costUnbounded } from '../../schemas/money/money-refusals.ts'
import type { PaidFrom } from '../ports/money/lending.ts'
import type { Journal, Settlement } from '../ports/money/journal.ts'
import type {
  AccountKind,
  CallCost,
  CallProgress,
  Day,
  Hold,
  HoldInput,
  WriteWaiter,
} from '../ports/money/money.ts'
import type { Balances, Balance } from './balances.ts'

export interface MoneyContext {
  readonly balances: Balances
  readonly journal: Journal
  readonly groupCommit: GroupCommit
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly epochNow: () => number
  /** Called when the end of a call was gathered for the journal, or when money was returned to a balance that calls wait for. */
  readonly ended: (reservation: Reservation) => void
  readonly counts: MoneyCounts
}

/** Figures since the start. */
export interface MoneyCounts {
  takes: number
  overruns: number
  /** Charged. */
  spentNano: number
  open: number
}

/** A call and the money that it needs from each account. A reservation that was taken is the call's hold. */
export class Reservation implements Hold {
  readonly ask: HoldInput
  /** The maximum cost of the call, as each account counts it; 0 where it is unknown. */
  readonly amounts: Readonly<Record<AccountKind, number>>
  /** Balances of the accounts with a finite limit from which the call needs money. */
  readonly balances: readonly Balance[]
  readonly #context: MoneyContext
  #day: Day = ''
  #takeId = 0
  #paid: PaidFrom = NOTHING_PAID
  #isOpen = false
  #isWritten = false
  #waiter: WriteWaiter | null = null

  constructor(context: MoneyContext, ask: HoldInput, balances: readonly Balance[]) {
    this.#context = context
    this.ask = ask
    this.balances = balances
    this.amounts = amountsOf(ask)
  }

  /** Balances that do not cover the call now. */
  short(): Balance[] {
    return this.balances.filter((balance) => !this.#covers(balance))
  }

  /** Whether all balances cover the call, and no earlier call waits for an answer about one of them. */
  mayTake(isFirst = false): boolean {
    for (const balance of this.balances) {
      if (!this.#covers(balance) || (balance.waitingRequested > 0 && !isFirst)) return false
    }
    return this.#context.balances.day !== null
  }

  /** Returns the hold of a call whose balances cover it, before its take is in the journal. Failure: store_unavailable. */
  hold(): Outcome<Hold> {
    return this.take() ? ok(this) : fail('store_unavailable')
  }

  /** Gathers the take for the journal; `written` reports whether it was written. @returns false: the day is unknown, and nothing is taken */
  take(): boolean {
    const {
      balances: { day },
      journal,
      groupCommit,
      counts,
    } = this.#context
    if (day === null) return false
    const { key, facts } = this.ask
    const paid = this.balances.length === 0 ? NOTHING_PAID : this.#takeOfBalances()
    this.#paid = paid
    this.#day = day
    this.#takeId = journal.take({
      day,
      atMs: this.#context.epochNow(),
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
    groupCommit.gather(this)
    return true
  }

  #takeOfBalances(): PaidFrom {
    const now = this.#context.now()
    const paid = { organization: false, workspace: false, key: false }
    for (const balance of this.balances) {
      if (balance.isUnlimited) continue
      paid[balance.kind] = true
      balance.take(this.amounts[balance.kind], now)
    }
    return paid
  }

  written(waiter: WriteWaiter): boolean | null {
    if (this.#isWritten || !this.#isOpen) return this.#isWritten
    this.#waiter = waiter
    return null
  }

  goOn(): void {
    const waiter = this.#waiter
    this.#waiter = null
    waiter?.written(this.#isWritten)
  }

  wrote(isWritten: boolean): void {
    const { counts } = this.#context
    this.#isWritten = isWritten
    if (isWritten) {
      counts.takes += 1
      return
    }
    counts.open -= 1
    this.#isOpen = false
    this.#returnRest(NOTHING_PAID, 0)
  }

  progress({ isDrained, note, ...cost }: CallProgress): void {
    // Until its take is written, the journal has no entry to which progress could belong.
    if (!this.#isOpen || !this.#isWritten) return
    const { journal, groupCommit, epochNow } = this.#context
    const { facts, bound } = this.ask
    journal.progress(this.#takeId, {
      atMs: epochNow(),
      provider: cost.provider,
      model: cost.model ?? facts.model,
      tokens: cost.tokens,
      text: cost.text,
      milliseconds: Math.round(cost.milliseconds),
      costNano: chargedNano(cost, bound),
      isByok: cost.isByok,
      isDrained,
      paid: this.#paidBy(cost),
      note,
    })
    groupCommit.writeSoon()
  }

  settle(cost: CallCost): number | null {
    if (!this.#mayEnd()) return null
    const { key, facts, bound } = this.ask
    const atMs = this.#context.epochNow()
    const charged = chargedNano(cost, bound)
    const paid = this.#paidBy(cost)
    if (cost.costNano > charged) this.#context.counts.overruns += 1
    this.#context.counts.spentNano += charged
    const entry: Settlement = {
      kind: 'settle',
      day: this.#day,
      atMs,
      requestId: facts.requestId,
      operation: facts.operation,
      model: cost.model ?? facts.model,
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
      ...(cost.text && { text: cost.text }),
    }
    this.#context.journal.settle(this.#takeId, entry)
    this.#end(paid, charged)
    return atMs
  }

  release(): void {
    if (!this.#mayEnd()) return
    this.#context.journal.release(this.#takeId)
    this.#end(NOTHING_PAID, 0)
  }

  /** True if the end of a call may be written: after its take, or not at all if the take was not written. */
  #mayEnd(): boolean {
    if (this.#isOpen && !this.#isWritten) this.#context.groupCommit.write()
    return this.#isOpen
  }

  #end(paid: PaidFrom, chargedNano: number): void {
    this.#isOpen = false
    this.#context.counts.open -= 1
    this.#returnRest(paid, chargedNano)
    this.#context.ended(this)
  }

  /** Unused money stays in the balance, unless its day is over. */
  #returnRest(paid: PaidFrom, chargedNano: number): void {
    const { balances } = this.#context
    const isToday = this.#day === balances.day
    for (const balance of this.balances) {
      if (!this.#paid[balance.kind]) continue
      const amount = this.amounts[balance.kind]
      const rest = paid[balance.kind] ? Math.max(0, amount - chargedNano) : amount
      balance.settle(amount, isToday ? rest : 0)
      if (paid[balance.kind]) balance.paidNano += chargedNano
      if (!isToday) balances.giveBack(balance, this.#day, rest)
    }
  }

  /** The accounts that pay: a call with a workspace's own credentials is paid only by accounts that count such calls. */
  #paidBy({ isByok }: CallCost): PaidFrom {
    if (!isByok) return this.#paid
    const { workspaceCountsByok, keyCountsByok } = this.ask.key.money
    return {
      organization: false,
      workspace: this.#paid.workspace && workspaceCountsByok,
      key: this.#paid.key && keyCountsByok,
    }
  }

  #covers(balance: Balance): boolean {
    return balance.balanceNano >= this.amounts[balance.kind] || balance.isUnlimited
  }
}

const NOTHING_PAID: PaidFrom = { organization: false, workspace: false, key: false }

/** Balances of the accounts with a finite limit that a call takes from. Failures: cost_unbounded, busy. */
export function balancesOf(
  ask: HoldInput,
  balances: Balances,
  clock: () => number,
): Outcome<readonly Balance[]> {
  const { money } = ask.key
  if (!money.isCreditLimited && !money.isWorkspaceLimited && !money.isKeyLimited) return NONE
  const bounds = boundsOf(ask)
  const now = clock()
  const needed: Balance[] = []
  const unbounded: AccountKind[] = []
  let isFull = false
  const need = (kind: AccountKind, id: string): void => {
    const amountNano = bounds[kind]
    // An amount of 0 takes nothing, even from an empty balance.
    if (amountNano === 0) return
    const balance = balances.of(kind, id, now)
    if (balance === null) isFull = true
    else if (balance.isUnlimited) return
    else if (amountNano === null) unbounded.push(kind)
    else needed.push(balance)
  }
  if (money.isCreditLimited) need('organization', ask.key.organizationId)
  if (money.isWorkspaceLimited) need('workspace', workspaceOf(ask))
  if (money.isKeyLimited) need('key', money.accountId)
  if (unbounded.length > 0) return costUnbounded(unbounded, ask.bound)
  return isFull ? fail('busy') : ok(needed)
}

const NONE: Outcome<readonly Balance[]> = ok([])

/** An unknown bound counts as 0 here: `balancesOf` refuses the call if an account limits such a cost. */
function amountsOf(ask: HoldInput): Readonly<Record<AccountKind, number>> {
  const { organization, workspace, key } = boundsOf(ask)
  return { organization: organization ?? 0, workspace: workspace ?? 0, key: key ?? 0 }
}

/** The maximum cost of the call, as each account counts it; null where it is unknown. */
function boundsOf({
  key: { money },
  bound: { paidNano, anyNano },
}: HoldInput): Readonly<Record<AccountKind, number | null>> {
  // Credit is the operator's money: costs that a workspace pays itself never count against it.
  return {
    organization: paidNano,
    workspace: money.workspaceCountsByok ? anyNano : paidNano,
    key: money.keyCountsByok ? anyNano : paidNano,
  }
}

function workspaceOf({ key }: Pick<HoldInput, 'key'>): string {
  return key.workspaceId ?? key.defaultWorkspaceId
}

interface Gathered {
  /** Called once. @param isWritten false: the disk refused the write, so that the take did not happen */
  wrote(isWritten: boolean): void
  /** Called when all takes of the write have received its result: their calls may continue. */
  goOn(): void
}

/** Writes a front's journal once for all takes of one event-loop tick: an append costs as much as the rest of a call's money. */
export class GroupCommit {
  readonly #journal: Pick<Journal, 'write'>
  readonly #soon: MoneyTimers['soon']
  #gathered: Gathered[] = []
  #isDue = false

  constructor(journal: Pick<Journal, 'write'>, soon: MoneyTimers['soon']) {
    this.#journal = journal
    this.#soon = soon
  }

  /** Adds a take, which gets the result of the next write, at the latest of the one at the end of this tick. */
  gather(take: Gathered): void {
    this.#gathered.push(take)
    this.writeSoon()
  }

  writeSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    this.#soon(this.#writeDue)
  }

  readonly #writeDue = (): void => {
    this.#isDue = false
    this.write()
  }

  /** Writes the journal. Every write of the front's journal must be made here, so that each take gets its result. */
  write(): boolean {
    const isWritten = this.#journal.write()
    if (this.#gathered.length === 0) return isWritten
    const gathered = this.#gathered
    this.#gathered = []
    for (const take of gathered) take.wrote(isWritten)
    for (const take of gathered) take.goOn()
    return isWritten
  }
}

/** The clocks of one front's money, passed in so that a test can move them. */
export interface MoneyTimers {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** `Date.now` */
  readonly epochNow: () => number
  /** Runs work after this many milliseconds; the timer keeps no process alive. */
  readonly after: (ms: number, work: () => void) => void
  /** Runs work at the end of this event-loop tick. */
  readonly soon: (work: () => void) => void
}

export const REAL_TIMERS: MoneyTimers = {
  now: () => performance.now(),
  epochNow: Date.now,
  after: (ms, work) => void setTimeout(work, ms).unref(),
  soon: setImmediate,
}
