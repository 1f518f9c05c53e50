/**
 * The money authority in memory, written apart from the real one: it adds up leases and spend per window
 * instead of rolling counters over. Every grant is checked against the limits.
 */
import type {
  AccountGrant,
  Closing,
  ClosingReport,
  Flush,
  FlushResult,
  LendInput,
  Lender,
  LendReply,
  LimitState,
} from '../../../src/server/ports/money/lending.ts'
import { SPANS, type AccountKind, type Day, type Span } from '../../../src/server/ports/money/money.ts'
import type { Simulation } from '../wire/rate-simulation.ts'

type Limits = Partial<Record<Span, number>>

interface Known {
  sequence: number
  reply: LendReply | null
  applied: number
  isClosed: boolean
}

/**
 * What a store does with a request: `lossy` does it and loses the answer, `late` does it LATE_MS after it was
 * given up.
 */
export type Mode = 'up' | 'away' | 'lossy' | 'late'

const LATE_MS = 500

export class ModelLender {
  mode: Mode = 'up'
  today: Day
  /** Requests that it was sent, by name. */
  readonly asked = { open: 0, lend: 0, pulse: 0, flush: 0, close: 0 }
  readonly asks: LendInput[] = []
  readonly limits = new Map<string, Limits>()
  /** What broke the invariant; must stay empty. */
  readonly violations: string[] = []
  /** Of each account, by `account|day`. */
  readonly spent = new Map<string, number>()
  readonly leases = new Map<string, number>()
  readonly usage: Extract<Flush['entries'][number], { kind: 'settle' }>[] = []
  forfeitedNano = 0
  readonly #journals = new Map<string, Known>()
  readonly #days = new Map<string, Day>()
  readonly #wantedAt = new Map<string, number>()
  readonly #simulation: Simulation
  readonly #latency: () => number

  /** @param latency simulated milliseconds of one way */
  constructor(simulation: Simulation, latency: () => number, today: Day) {
    this.#simulation = simulation
    this.#latency = latency
    this.today = today
  }

  connect(): Lender {
    return {
      open: ({ id }) =>
        this.#send('open', () => {
          if (!this.#journals.has(id))
            this.#journals.set(id, { sequence: 0, reply: null, applied: 0, isClosed: false })
          return this.today
        }),
      lend: (ask) => this.#send('lend', () => this.#lend(ask)),
      pulse: (ids) =>
        this.#send('pulse', () => ({
          day: [this.today, ...ids.map((id) => this.#days.get(id) ?? '')].reduce((a, b) => (b > a ? b : a)),
          wanted: ids.filter((id) => this.#simulation.now - (this.#wantedAt.get(id) ?? -Infinity) < 600),
        })),
      flush: (flush) => this.#send('flush', () => this.flush(flush)),
      close: (closing) => this.#send('close', () => this.close(closing)),
    }
  }

  /** Nano-USD that are spent of an account, on all days or in the window that a day lies in. */
  spentOf(accountId: string, span: Span = 'lifetime', day: Day = this.today): number {
    return sumOf(this.spent, (key) => isIn(key, accountId, span, day))
  }

  lentOf(accountId: string, span: Span = 'lifetime', day: Day = this.today): number {
    return sumOf(this.leases, (key) => isIn(key.slice(key.indexOf('/') + 1), accountId, span, day))
  }

  /** Where the books of a journal stand. */
  appliedOf(journalId: string): number {
    return this.#journalOf(journalId).applied
  }

  flush({ journalId, from, to, entries }: Pick<Flush, 'journalId' | 'from' | 'to' | 'entries'>): FlushResult {
    const journal = this.#journalOf(journalId)
    if (journal.isClosed) return 'fenced'
    if (journal.applied === to && to !== from) return 'applied'
    if (journal.applied > from) return { standsAt: journal.applied }
    if (journal.applied !== from) throw new Error(`the journal stands at ${journal.applied}, not at ${from}`)
    journal.applied = to
    for (const entry of entries) {
      if (entry.kind === 'give_back') this.#return(journalId, entry.accountId, entry.day, entry.amountNano)
      else {
        this.usage.push(entry)
        for (const [kind, accountId] of accountsOf(entry)) {
          // Who counts own credentials is left to the front here: what counts is what was paid.
          if (!entry.paid[kind]) continue
          add(this.spent, `${accountId}|${entry.day}`, entry.costNano)
          this.#return(journalId, accountId, entry.day, entry.costNano)
        }
      }
    }
    return 'applied'
  }

  close({ journalId, rest, open }: Closing): ClosingReport {
    const journal = this.#journalOf(journalId)
    const before = this.forfeitedNano
    const isRestApplied =
      journal.isClosed || rest === null || this.flush({ journalId, ...rest }) === 'applied'
    if (!isRestApplied) throw new Error('the books stand behind the beginning of the rest')
    for (const take of journal.isClosed ? [] : open) {
      for (const [kind, accountId] of accountsOf(take)) {
        if (!take.paid[kind]) continue
        add(this.spent, `${accountId}|${take.day}`, take.amounts[kind])
        this.#return(journalId, accountId, take.day, take.amounts[kind])
        this.forfeitedNano += take.amounts[kind]
      }
    }
    const isClosed = !journal.isClosed
    journal.isClosed = true
    for (const key of [...this.leases.keys()]) if (key.startsWith(`${journalId}/`)) this.leases.delete(key)
    const forfeitedNano = BigInt(this.forfeitedNano - before)
    return {
      isClosed,
      entries: rest?.entries.length ?? 0,
      forfeits: open.length,
      forfeitedNano,
      returnedNano: 0n,
    }
  }

  #lend(ask: LendInput): LendReply | null {
    const journal = this.#journalOf(ask.journalId)
    if (journal.isClosed) return null
    if (journal.sequence === ask.sequence && journal.reply !== null) return journal.reply
    this.asks.push(ask)
    const day = [
      this.today,
      ask.day,
      ...ask.accounts.map(({ accountId }) => this.#days.get(accountId) ?? ''),
    ].reduce((a, b) => (b > a ? b : a))
    const accounts = ask.accounts.map(({ accountId, needNano, leastNano, useNano }): AccountGrant => {
      this.#days.set(accountId, day)
      const limits = this.limits.get(accountId) ?? {}
      const spans = SPANS.filter((span) => limits[span] !== undefined)
      const isUnlimited = spans.length === 0
      const rest = Math.min(...spans.map((span) => this.#restOf(accountId, span, day)))
      const input = Math.max(needNano, Math.min(useNano, Math.floor(rest / (2 * ask.liveFronts))))
      const lentNano = isUnlimited || rest < Math.min(leastNano, needNano) ? 0 : Math.min(input, rest)
      if (lentNano > 0) add(this.leases, `${ask.journalId}/${accountId}|${day}`, lentNano)
      for (const span of spans)
        if (lentNano > 0 && this.#restOf(accountId, span, day) < 0)
          this.violations.push(`${accountId} ${span}`)
      const elsewhere = sumOf(
        this.leases,
        (key) => !key.startsWith(ask.journalId) && key.includes(`/${accountId}|`),
      )
      if (!isUnlimited && lentNano < needNano && elsewhere > 0)
        this.#wantedAt.set(accountId, this.#simulation.now)
      return {
        accountId,
        lentNano,
        isUnlimited,
        isLentElsewhere: elsewhere > 0,
        limits: spans.map((span) => this.#stateOf(accountId, span, day)),
      }
    })
    journal.sequence = ask.sequence
    journal.reply = { day, accounts }
    return journal.reply
  }

  #stateOf(accountId: string, span: Span, day: Day): LimitState {
    const limitNano = this.limits.get(accountId)?.[span] ?? 0
    const resetsAtMs = span === 'lifetime' ? null : Date.parse(`${day}T00:00:00Z`) + 86_400_000
    return {
      span,
      limitNano,
      spentNano: this.spentOf(accountId, span, day),
      restNano: this.#restOf(accountId, span, day),
      resetsAtMs,
    }
  }

  #restOf(accountId: string, span: Span, day: Day): number {
    return (
      (this.limits.get(accountId)?.[span] ?? 0) -
      this.spentOf(accountId, span, day) -
      this.lentOf(accountId, span, day)
    )
  }

  #return(journalId: string, accountId: string, day: Day, amountNano: number): void {
    const key = `${journalId}/${accountId}|${day}`
    const left = (this.leases.get(key) ?? 0) - amountNano
    if (left < 0) this.violations.push(`${key}: ${left} are left of a lease`)
    if (left === 0) this.leases.delete(key)
    else this.leases.set(key, left)
  }

  #journalOf(id: string): Known {
    const journal = this.#journals.get(id)
    if (journal === undefined) throw new Error('there is no such journal')
    return journal
  }

  #send<T>(name: keyof ModelLender['asked'], work: () => T): Promise<T> {
    this.asked[name] += 1
    const away = new Error('away')
    return new Promise((resolve, reject) => {
      this.#simulation.after(this.#latency(), () => {
        const { mode } = this
        if (mode === 'late') this.#simulation.after(LATE_MS, work)
        if (mode === 'away' || mode === 'late') return reject(away)
        const answer = work()
        this.#simulation.after(this.#latency(), () => (mode === 'lossy' ? reject(away) : resolve(answer)))
      })
    })
  }
}

function accountsOf(owner: {
  organizationId: string
  workspaceId: string
  keyAccountId: string
}): readonly (readonly [AccountKind, string])[] {
  return [
    ['organization', `o${owner.organizationId}`],
    ['workspace', `w${owner.workspaceId}`],
    ['key', owner.keyAccountId],
  ]
}

/** @param key `account|day` */
function isIn(key: string, accountId: string, span: Span, day: Day): boolean {
  const at = key.lastIndexOf('|')
  return key.slice(0, at) === accountId && windowOf(span, key.slice(at + 1)) === windowOf(span, day)
}

function windowOf(span: Span, day: Day): string | number {
  if (span === 'lifetime') return ''
  if (span === 'weekly') return Math.floor((Date.parse(day) / 86_400_000 + 3) / 7)
  return span === 'monthly' ? day.slice(0, 7) : day
}

function add(sums: Map<string, number>, key: string, amount: number): void {
  sums.set(key, (sums.get(key) ?? 0) + amount)
}

function sumOf(sums: ReadonlyMap<string, number>, isMeant: (key: string) => boolean): number {
  let sum = 0
  for (const [key, amount] of sums) if (isMeant(key)) sum += amount
  return sum
}
