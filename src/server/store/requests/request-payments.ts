import { FIGURE, FIGURES, UNKNOWN, type RequestBatch } from '../../../schemas/requests/request-record.ts'

const MS_PER_SECOND = 1_000
/** Sums of costs are kept below what a number counts exactly: of each cost only the rest of a division counts. */
export const COST_SUMMED_BELOW = 1_000_000_000

interface Sum {
  calls: number
  nano: number
  ms: number
}

/** What calls of a batch have paid in one second, which is compared with the ledger. */
export interface SecondPaid extends Sum {
  /** Unix seconds. */
  readonly second: number
}

export function paymentsOf({ figures }: RequestBatch): readonly SecondPaid[] {
  const sums = new Map<number, Sum>()
  for (let at = 0; at < figures.length; at += FIGURES) {
    const [costNano, paidMs] = [
      figures[at + FIGURE.costNano] ?? UNKNOWN,
      figures[at + FIGURE.paidMs] ?? UNKNOWN,
    ]
    if (costNano <= 0 || paidMs < 0) continue
    const second = Math.floor(paidMs / MS_PER_SECOND)
    const sum = sums.get(second) ?? { calls: 0, nano: 0, ms: 0 }
    sums.set(second, sum)
    sum.calls++
    sum.nano += costNano % COST_SUMMED_BELOW
    sum.ms += paidMs % MS_PER_SECOND
  }
  return Array.from(sums, ([second, sum]) => ({ second, ...sum }))
}
