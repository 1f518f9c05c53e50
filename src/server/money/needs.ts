import type { Outcome } from '../../schemas/failures.ts'
import { fail, ok } from '../../schemas/failures.ts'
import type { AccountKind, HoldInput } from '../ports/money/money.ts'
import type { Balance } from './balance.ts'
import type { Balances } from './balances.ts'
import { costUnbounded } from '../../schemas/money/money-refusals.ts'
import { workspaceOf } from './reservation.ts'

/** Balances of the accounts with a finite limit that a call takes from. Failures: cost_unbounded, busy. */
export function balancesOf(ask: HoldInput, balances: Balances, now: number): Outcome<readonly Balance[]> {
  const { money } = ask.key
  if (!money.isCreditLimited && !money.isWorkspaceLimited && !money.isKeyLimited) return NONE
  const { paidNano, anyNano } = ask.bound
  const needed: Balance[] = []
  const unbounded: AccountKind[] = []
  let isFull = false
  const need = (kind: AccountKind, id: string, amountNano: number | null): void => {
    // An amount of 0 takes nothing, however little is left.
    if (amountNano === 0) return
    const balance = balances.of(kind, id, now)
    if (balance === null) isFull = true
    else if (balance.isUnlimited) return
    else if (amountNano === null) unbounded.push(kind)
    else needed.push(balance)
  }
  if (money.isCreditLimited) need('organization', ask.key.organizationId, paidNano)
  if (money.isWorkspaceLimited)
    need('workspace', workspaceOf(ask), money.workspaceCountsByok ? anyNano : paidNano)
  if (money.isKeyLimited) need('key', money.accountId, money.keyCountsByok ? anyNano : paidNano)
  if (unbounded.length > 0) return costUnbounded(unbounded, ask.bound.unpriced ?? null)
  return isFull ? fail('busy') : ok(needed)
}

const NONE: Outcome<readonly Balance[]> = ok([])
