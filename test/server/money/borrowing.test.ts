/** How long a call waits for money, and its outcome at the end. */
import t from 'tap'
import { MONEY_TRIED_MS_MAX } from '../../../src/schemas/money/money-limits.ts'
import { MONEY_WAIT_MS_MAX, BalanceWaiters } from '../../../src/server/money/borrowing.ts'
import type { Reservation } from '../../../src/server/money/reservation.ts'
import { Balance } from '../../../src/server/money/balances.ts'

const AMOUNT = 300

/** A call that was refused while another front held money of its account: it is tried again. */
function refusedOnce() {
  const clock = { now: 0 }
  const balance = new Balance({ kind: 'key', accountId: 'k1', ownerId: 'k1' }, clock.now)
  const limit = { span: 'lifetime' as const, limitNano: 1_000, spentNano: 0, resetsAtMs: null }
  const answer = (restNano: number): void =>
    balance.receive({
      accountId: 'k1',
      lentNano: 0,
      isUnlimited: false,
      isLentElsewhere: true,
      limits: [{ ...limit, restNano }],
    })
  const reservation = {
    ask: { deadlineAt: Infinity },
    amounts: { organization: 0, workspace: 0, key: AMOUNT },
    balances: [balance],
    short: () => (balance.balanceNano < AMOUNT ? [balance] : []),
    mayTake: () => balance.balanceNano >= AMOUNT,
    hold: () => ({ ok: true }),
  } as unknown as Reservation
  const waiters = new BalanceWaiters(() => clock.now)
  let reported = 'nothing'
  void waiters.add(reservation).then((outcome) => {
    reported = outcome.ok ? 'held' : outcome.failure.name
  })
  answer(200)
  const [waiter] = [...waiters]
  if (waiter !== undefined) waiters.mark(waiter, true)
  waiters.judge(true)
  const at = async (ms: number): Promise<string> => {
    clock.now = ms
    waiters.serve()
    waiters.expire()
    await Promise.resolve()
    return reported
  }
  return { balance, answer, at }
}

t.test('a call for which no money can be borrowed is refused after MONEY_TRIED_MS_MAX', async (t) => {
  const { at } = refusedOnce()
  t.equal(await at(MONEY_TRIED_MS_MAX - 1), 'nothing')
  t.equal(await at(MONEY_TRIED_MS_MAX), 'key_limit_exceeded')
})

t.test('money that was returned in parts is requested again, because the store is available', async (t) => {
  const { balance, at } = refusedOnce()
  // The authority's 200 and these cover the call together.
  balance.balanceNano = 150
  t.equal(await at(MONEY_TRIED_MS_MAX), 'nothing')
  balance.balanceNano = AMOUNT
  t.equal(await at(MONEY_TRIED_MS_MAX + 10), 'held')
})

t.test('when the store does not answer, it counts as unavailable only at the end of the wait', async (t) => {
  const { balance, at } = refusedOnce()
  balance.balanceNano = 150
  t.equal(await at(MONEY_TRIED_MS_MAX), 'nothing')
  t.equal(await at(MONEY_WAIT_MS_MAX - 1), 'nothing')
  t.equal(await at(MONEY_WAIT_MS_MAX), 'store_unavailable')
})
