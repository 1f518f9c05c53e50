/** Whether each stream has one row of the ledger and one record, with what it cost. */
import { until } from '../../../support/wait.ts'
import type { Proof } from '../../proof.ts'
import { bookedOf, paidOf, type Booked } from './booked.ts'
import type { PacedCall } from './callers.ts'
import { PROMPT_TOKENS } from './dialects.ts'
import type { PacedStand } from './stand.ts'

/** What the books are compared with, and the books. */
type Books = Pick<PacedStand, 'store' | 'provider'>

const NANO_PER_USD = 1e9

/** @param calls all were answered, and are over */
export async function checkCharged(
  proof: Proof,
  stand: Books,
  { name, calls }: { readonly name: string; readonly calls: readonly PacedCall[] },
): Promise<void> {
  let wrong: readonly string[] = []
  // Rows and records are written in batches.
  await until('all is charged', async () => {
    wrong = await unchargedOf(stand, calls)
    return wrong.length === 0
  }).catch(() => undefined)
  proof.check(
    `${name}: each stream has one row and one record, with what it cost`,
    wrong.length === 0 && calls.length > 0 && calls.every(({ status }) => status === 200),
    `${calls.length} streams, ${wrong.length} wrong ${wrong.slice(0, 3).join('; ')}`,
  )
}

/** @returns what the books and the records say of these streams that is not so */
async function unchargedOf(stand: Books, calls: readonly PacedCall[]): Promise<readonly string[]> {
  const booked = await bookedOf(stand, calls)
  return calls.flatMap((call) => {
    const wrong = wrongOf(stand, call, booked(call))
    return wrong === null ? [] : [`${call.id} (${call.end}): ${wrong}`]
  })
}

function wrongOf({ provider }: Pick<Books, 'provider'>, call: PacedCall, booked: Booked): string | null {
  const found = paidOf(call, booked)
  if (!found.ok) return found.wrong
  const { row, facts, cost } = found
  const { usage, finishReason } = facts
  const generated = provider.answers.get(call.id)?.generated ?? 0
  if (call.end === 'whole') {
    const answer = Math.round(call.cost * NANO_PER_USD)
    const isTrue = usage.input === PROMPT_TOKENS && usage.output === generated && call.read === generated
    return row.kind === 'usage' && finishReason === call.dialect.finish && answer === cost && isTrue
      ? null
      : `${row.kind}, ${finishReason}, told ${answer}: ${JSON.stringify(usage)} of ${generated}`
  }
  // A part of a token is one.
  const isBetween = usage.output >= call.read && usage.output <= generated + 1
  return row.kind === 'estimated' && finishReason === 'error' && facts.isEstimated && isBetween
    ? null
    : `${row.kind}, ${finishReason}: ${usage.output} tokens, ${call.read} read, ${generated} generated`
}
