import { FIGURE, FIGURES, UNKNOWN, type RequestBatch } from '../../../schemas/requests/request-record.ts'
import type { Transaction } from '../base/open.ts'

const MS_PER_SECOND = 1_000
/** Sums of costs are kept below what a number counts exactly: of each cost only the rest of a division counts. */
export const COST_SUMMED_BELOW = 1_000_000_000

interface Sum {
  calls: number
  nano: number
  ms: number
}

/** Writes what calls of a batch have paid in each second, which is compared with the ledger. */
export async function insertPayments(
  tx: Transaction,
  batch: RequestBatch,
  { isAgain }: { readonly isAgain: boolean },
): Promise<void> {
  const sums = sumsOf(batch)
  if (sums.size === 0) return
  const rows = Array.from(sums, ([second, sum]) => ({ second, ...sum }))
  await tx`
    INSERT INTO request_payments (second, batch, calls, nano, ms)
    SELECT to_timestamp(second), ${batch.id}::bigint, calls, nano, ms
    FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS x(second float8, calls int, nano bigint, ms bigint)
    ${isAgain ? tx`ON CONFLICT DO NOTHING` : tx``}`
}

/** By Unix seconds. */
function sumsOf({ figures }: RequestBatch): ReadonlyMap<number, Sum> {
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
  return sums
}
