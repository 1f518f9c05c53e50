import { IS_TEST } from '../nodes/is-test.ts'
import { MONEY_WAIT_MS_MAX } from '../../../src/server/money/borrowing.ts'

/** Milliseconds of the shortest bound of the product for a store: what is refused sooner waited for none. */
const BOUND_MS_MIN = 0.9 * MONEY_WAIT_MS_MAX
/** Late answers in a row, of seconds each, after which the stores are not late but away. */
export const LATE_IN_ROW_MAX = 100

/**
 * True for what a test sees as 503 after it waited for a store: on a machine that stands still neither a key
 * nor money comes in time. What is refused at once is the answer, and each answer to a proof that is run by
 * hand.
 */
export function isLate(status: number, tookMs: number): boolean {
  return IS_TEST && status === 503 && tookMs >= BOUND_MS_MIN
}

/** Asks until the stores were there in time: a client does the same, and a test is about its answer then. */
export async function served<T extends { readonly status: number }>(ask: () => Promise<T>): Promise<T> {
  for (let late = 0; late < LATE_IN_ROW_MAX; late++) {
    const startedAt = performance.now()
    const answer = await ask()
    if (!isLate(answer.status, performance.now() - startedAt)) return answer
  }
  throw new Error(`503 after a wait for a store, ${LATE_IN_ROW_MAX} times in a row: ${ask.toString()}`)
}
