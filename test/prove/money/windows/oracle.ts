import type { Day, Span } from '../../../../src/server/ports/money/money.ts'

const DAY_MS = 86_400_000
/** A Monday. */
const A_MONDAY_MS = Date.UTC(2020, 0, 6)

/** What one account should have spent on one day, nano-USD. */
interface Spent {
  paid: number
  byok: number
}

/** The plainest books there are: every event by account and day, and windows by counting days. */
export class Oracle {
  readonly #spent = new Map<string, Map<Day, Spent>>()
  events = 0
  totalNano = 0

  count(
    accountIds: readonly string[],
    event: { readonly day: Day; readonly costNano: number; readonly isByok: boolean },
  ): void {
    for (const accountId of accountIds) {
      const days = this.#spent.get(accountId) ?? new Map<Day, Spent>()
      this.#spent.set(accountId, days)
      const spent = days.get(event.day) ?? { paid: 0, byok: 0 }
      days.set(event.day, spent)
      spent[event.isByok ? 'byok' : 'paid'] += event.costNano
    }
    this.events += 1
    this.totalNano += event.costNano
  }

  /** What stands in the window of a span that `day` lies in. */
  spentIn(accountId: string, span: Span, day: Day): Spent {
    const sum = { paid: 0, byok: 0 }
    for (const [other, { paid, byok }] of this.#spent.get(accountId) ?? []) {
      if (!isTogether(span, day, other)) continue
      sum.paid += paid
      sum.byok += byok
    }
    return sum
  }
}

/** Whether two days lie in one window, found otherwise than the authority does. */
export function isTogether(span: Span, one: Day, other: Day): boolean {
  const [a, b] = [new Date(one), new Date(other)]
  switch (span) {
    case 'daily':
      return a.getTime() === b.getTime()
    case 'weekly':
      return weekOf(a) === weekOf(b)
    case 'monthly':
      return a.getUTCFullYear() * 12 + a.getUTCMonth() === b.getUTCFullYear() * 12 + b.getUTCMonth()
    case 'lifetime':
      return true
    default:
      return span satisfies never
  }
}

function weekOf(day: Date): number {
  return Math.floor((day.getTime() - A_MONDAY_MS) / (7 * DAY_MS))
}

export function dayAfter(day: Day, days = 1): Day {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)
}
