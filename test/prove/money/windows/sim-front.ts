import { isDeepStrictEqual } from 'node:util'
import type { AccountNeed, BookEntry, Lender, OpenTake } from '../../../../src/server/ports/money/lending.ts'
import type { AccountKind, Day } from '../../../../src/server/ports/money/money.ts'
import { openTake, settlement, TestJournal, type Owners } from '../../../support/money/money.ts'
import type { Oracle } from './oracle.ts'

/** A caller, and from which of its accounts its calls are paid. */
export interface Payer {
  readonly owners: Owners
  readonly isLimited: Readonly<Record<AccountKind, boolean>>
  readonly countsByok: Readonly<Record<AccountKind, boolean>>
}

export interface SimOptions {
  readonly lender: Lender
  readonly oracle: Oracle
  readonly payers: readonly Payer[]
  /** A whole number below. */
  readonly random: (below: number) => number
}

const KINDS = ['organization', 'workspace', 'key'] as const
const BOUND_NANO_MAX = 1_000
/** Accounts that one request is for. */
const ASKS_MAX = 12

interface Open {
  readonly payer: Payer
  readonly take: OpenTake
  readonly isByok: boolean
}

/**
 * A front as the authority sees one: it spends what it was lent, of one day at a time, and gives back what is
 * left of others.
 */
export class SimFront {
  readonly journal: TestJournal
  readonly #options: SimOptions
  readonly #balances = new Map<string, number>()
  readonly #needs = new Map<string, { needNano: number; leastNano: number }>()
  #open: Open[] = []
  #pending: BookEntry[] = []
  #day: Day = ''
  refused = 0
  lateEvents = 0
  /** What did not hold. */
  readonly wrongs: string[] = []

  constructor(options: SimOptions) {
    this.#options = options
    this.journal = new TestJournal(options.lender)
  }

  async open(): Promise<void> {
    await this.journal.open()
    this.#day = this.journal.day
  }

  /** What it holds of each account and day: what it may still spend, and what open calls have taken. */
  held(): ReadonlyMap<string, number> {
    const held = new Map(this.#balances)
    for (const { take } of this.#open)
      for (const { name, nano } of namesOf(take)) held.set(name, (held.get(name) ?? 0) + nano)
    return held
  }

  openTakes(): readonly OpenTake[] {
    return this.#open.map(({ take }) => take)
  }

  /**
   * Calls, settles, a flush and a request for money; each of the latter is now and then repeated, as after a
   * lost answer.
   */
  async round(calls: number): Promise<void> {
    for (let call = 0; call < calls; call++) this.#call()
    this.#settle({ all: false })
    this.#giveBack({ all: false })
    await this.#flush()
    await this.#lend()
    if (this.#chance(4)) {
      const { day } = await this.#options.lender.pulse(
        this.#options.payers.map(({ owners }) => owners.accounts.key),
      )
      if (day > this.#day) this.#day = day
    }
  }

  async drain(): Promise<void> {
    this.#settle({ all: true })
    this.#giveBack({ all: true })
    await this.#flush()
  }

  #call(): void {
    const payer = this.#pick(this.#options.payers)
    const isByok = this.#chance(4)
    const nano = 1 + this.#options.random(BOUND_NANO_MAX)
    const paid = paidBy(payer, isByok)
    const take = openTake(payer.owners, this.#day, nano, {
      paid,
      atMs: Date.parse(this.#day) + this.#options.random(86_400_000),
    })
    const short = namesOf(take).filter(({ name }) => (this.#balances.get(name) ?? 0) < nano)
    for (const { accountId } of short) {
      const need = this.#needs.get(accountId)
      this.#needs.set(accountId, {
        needNano: (need?.needNano ?? 0) + nano,
        leastNano: Math.min(need?.leastNano ?? nano, nano),
      })
    }
    if (short.length > 0) return
    for (const { name } of namesOf(take)) this.#add(name, -nano)
    this.#open.push({ payer, take, isByok })
  }

  #settle({ all }: { readonly all: boolean }): void {
    const { oracle, random } = this.#options
    const kept: Open[] = []
    for (const open of this.#open) {
      const { payer, take, isByok } = open
      if (!all && this.#chance(12)) {
        kept.push(open)
        continue
      }
      const bound = take.amounts.key
      const costNano = random(bound + 1)
      const { day, requestId, atMs, paid } = take
      for (const { name } of namesOf(take)) this.#add(name, bound - costNano)
      const overrunNano = this.#chance(50) ? 9 : 0
      this.#pending.push(
        settlement(payer.owners, day, costNano, {
          requestId,
          atMs,
          paid,
          isByok,
          overrunNano,
          isEstimated: this.#chance(20),
        }),
      )
      oracle.count(Object.values(payer.owners.accounts), { day, costNano, isByok })
      if (day < this.#day) this.lateEvents += 1
    }
    this.#open = kept
  }

  #giveBack({ all }: { readonly all: boolean }): void {
    for (const [name, amountNano] of this.#balances) {
      const [accountId = '', day = ''] = name.split(' ')
      const isDue = all || (day < this.#day ? this.#chance(2) : this.#chance(15))
      if (!isDue) continue
      if (amountNano > 0) this.#pending.push({ kind: 'give_back', day, accountId, amountNano })
      this.#balances.delete(name)
    }
  }

  async #flush(): Promise<void> {
    const [from, to] = [this.journal.offset, (this.journal.offset += this.#pending.length)]
    const batch = { journalId: this.journal.id, from, to, entries: this.#pending }
    const results = await this.#maybeTwice(() => this.#options.lender.flush(batch))
    if (results.some((result) => result !== 'applied')) this.wrongs.push(`a flush was ${results.join(', ')}`)
    this.#pending = []
  }

  async #lend(): Promise<void> {
    const accounts: AccountNeed[] = [...this.#needs].slice(0, ASKS_MAX).map(([accountId, need]) => ({
      accountId,
      ...need,
      useNano: this.#options.random(20 * BOUND_NANO_MAX),
    }))
    this.#needs.clear()
    const ask = this.journal.ask({}, { accounts, day: this.#day, liveFronts: 4 })
    const [reply, again] = await this.#maybeTwice(() => this.#options.lender.lend(ask))
    if (reply === undefined || reply === null) return void this.wrongs.push('nothing was answered')
    if (!isDeepStrictEqual(reply, again)) this.wrongs.push('a request that was repeated got another answer')
    if (reply.day < this.#day) this.wrongs.push(`the day went back from ${this.#day} to ${reply.day}`)
    this.#day = reply.day
    for (const { accountId, lentNano } of reply.accounts) {
      if (lentNano === 0) this.refused += 1
      else this.#add(`${accountId} ${reply.day}`, lentNano)
    }
  }

  /** @returns what both tries said; one and the same when it was not repeated */
  async #maybeTwice<T>(run: () => Promise<T>): Promise<[T, T]> {
    if (!this.#chance(6)) {
      const once = await run()
      return [once, once]
    }
    // Both at once: the first one's answer is lost while it is still at work.
    return Promise.all([run(), run()])
  }

  #add(name: string, nano: number): void {
    this.#balances.set(name, (this.#balances.get(name) ?? 0) + nano)
  }

  #chance(oneIn: number): boolean {
    return this.#options.random(oneIn) === 0
  }

  #pick<T>(values: readonly T[]): T {
    const value = values[this.#options.random(values.length)]
    if (value === undefined) throw new Error('there is nothing to pick from')
    return value
  }
}

function paidBy({ isLimited, countsByok }: Payer, isByok: boolean): OpenTake['paid'] {
  const isPaid = (kind: AccountKind): boolean => isLimited[kind] && (!isByok || countsByok[kind])
  return { organization: isPaid('organization'), workspace: isPaid('workspace'), key: isPaid('key') }
}

function namesOf({ day, paid, amounts, organizationId, workspaceId, keyAccountId }: OpenTake) {
  const ids = { organization: `o${organizationId}`, workspace: `w${workspaceId}`, key: keyAccountId }
  return KINDS.filter((kind) => paid[kind]).map((kind) => ({
    accountId: ids[kind],
    name: `${ids[kind]} ${day}`,
    nano: amounts[kind],
  }))
}
