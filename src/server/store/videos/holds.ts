import { organizationAccount, workspaceAccount } from '../../../schemas/money/accounts.ts'
import type { RefusingLimit } from '../../../schemas/money/money-refusals.ts'
import type { AccountKind, Day, Span } from '../../ports/money/money.ts'
import type { VideoInput } from '../../ports/videos/videos.ts'
import { countedNano } from '../money/account-limits.ts'
import type { Account } from '../money/accounts.ts'
import { changedBy, isSameWindow, rolledTo, spansOf } from '../money/lending/counters.ts'
import { restOf, stateOf, type Limits, type Scene } from '../money/lending/lend.ts'
import type { Lease } from '../money/lending/leases.ts'
import type { Transaction } from '../base/open.ts'
import { latestOf } from '../money/windows.ts'

/**
 * The hold of a job from its acceptance to its end: its cost is reserved on each of its accounts with a limit, if any.
 * A hold is lent as money is lent to fronts, but in the exact amount, and stays until the job ends. Design §6, §7.
 */

type HoldInput = Pick<VideoInput, 'key' | 'workspaceId' | 'target' | 'costNano' | 'isUnpriced'>

export type HoldDecision =
  | { readonly kind: 'held'; readonly day: Day; readonly leases: readonly Lease[] }
  /** `isFinal`: waiting for other holders does not help. */
  | { readonly kind: 'refused'; readonly isFinal: boolean; readonly refusing: readonly RefusingLimit[] }
  /** Accounts whose limit counts a job without a price. */
  | { readonly kind: 'unbounded'; readonly accounts: readonly AccountKind[] }

/**
 * Accounts of these jobs that have a limit which counts them. Nothing is locked: when an account gets its first limit
 * at this moment, the limit counts from the next batch on.
 */
export async function limitedAccounts(
  tx: Transaction,
  inputs: readonly HoldInput[],
): Promise<readonly string[]> {
  const paying = inputs.filter(({ costNano, isUnpriced }) => costNano > 0 || isUnpriced)
  const ids = new Set(paying.flatMap((input) => accountsOf(input).map(({ id }) => id)))
  if (ids.size === 0) return []
  const rows = await tx<{ id: string; counts_byok: boolean }[]>`
    SELECT id, counts_byok FROM accounts
    WHERE id = ANY(string_to_array(${[...ids].join(',')}, ',')) AND EXISTS (SELECT FROM account_limits l WHERE l.account_id = accounts.id)`
  const found = new Map(rows.map((row) => [row.id, row.counts_byok]))
  const needed = paying.flatMap((input) =>
    accountsOf(input).filter(({ kind, id }) => {
      const countsByok = found.get(id)
      return countsByok !== undefined && counts(input, { ownerKind: kind, countsByok })
    }),
  )
  return [...new Set(needed.map(({ id }) => id))]
}

/** Decides about the jobs of a batch, one after another: the hold of a job counts as lent for the next job. */
export class Holding {
  /** Accounts whose money was refused while fronts held some of it. */
  readonly wanted = new Set<string>()
  readonly #scene: Scene
  readonly #now: Map<string, Account>
  readonly #changed = new Set<string>()

  /** @param scene each decision changes its accounts */
  constructor(scene: Scene) {
    this.#scene = scene
    this.#now = new Map(scene.accounts)
  }

  get changed(): readonly Account[] {
    return [...this.#now.values()].filter(({ id }) => this.#changed.has(id) || this.wanted.has(id))
  }

  decide(input: HoldInput): HoldDecision {
    const parts = this.#partsOf(input)
    const unbounded = input.isUnpriced ? parts.filter(({ limits }) => spansOf(limits).length > 0) : []
    if (unbounded.length > 0)
      return { kind: 'unbounded', accounts: unbounded.map(({ account }) => account.ownerKind) }
    const day = latestOf([this.#scene.today, ...parts.map(({ account }) => account.day)])
    const rolled = parts.map((part) => ({ ...part, account: rolledTo(part.account, day) }))
    const short = rolled.flatMap((part) => shortOf(part).map((span) => ({ ...part, span })))
    if (short.length > 0) return this.#refuse(short)
    for (const { account, nano } of rolled) {
      this.#now.set(account.id, changedBy(account, day, { spent: 0n, byok: 0n, lent: nano }))
      this.#changed.add(account.id)
    }
    return {
      kind: 'held',
      day,
      leases: rolled.map(({ account, nano }) => ({ accountId: account.id, day, lentNano: nano })),
    }
  }

  #partsOf(input: HoldInput): readonly Part[] {
    return accountsOf(input).flatMap(({ id }) => {
      const account = this.#now.get(id)
      const limits = this.#scene.limits.get(id)
      if (account === undefined || limits === undefined) return []
      return counts(input, account) ? [{ account, limits, nano: BigInt(input.costNano) }] : []
    })
  }

  /** When some of the refusing limits cannot be satisfied by returned money, only those are reported. */
  #refuse(short: readonly Short[]): HoldDecision {
    const hopeless = short.filter(
      ({ account, limits, nano, span }) => nano > (limits[span] ?? 0n) - countedNano(account, span),
    )
    if (hopeless.length > 0) return refused(hopeless, true)
    const isFinal = !short.every(({ account, span }) => this.#isLent(account, span))
    if (!isFinal) for (const { account } of short) this.wanted.add(account.id)
    return refused(short, isFinal)
  }

  #isLent(account: Account, span: Span): boolean {
    return this.#scene.elsewhere.some(
      (lease) => lease.accountId === account.id && isSameWindow(span, lease.day, account.day),
    )
  }
}

interface Part {
  readonly account: Account
  readonly limits: Limits
  readonly nano: bigint
}

interface Short extends Part {
  readonly span: Span
}

function shortOf({ account, limits, nano }: Part): readonly Span[] {
  return spansOf(limits).filter((span) => restOf(account, limits, span) < nano)
}

function refused(short: readonly Short[], isFinal: boolean): HoldDecision {
  const refusing = short.map(({ account, limits, nano, span }) => ({
    kind: account.ownerKind,
    limit: stateOf(account, limits, span),
    boundNano: Number(nano),
  }))
  return { kind: 'refused', isFinal, refusing }
}

function accountsOf({
  key,
  workspaceId,
}: HoldInput): readonly { readonly kind: AccountKind; readonly id: string }[] {
  return [
    { kind: 'organization', id: organizationAccount(key.organizationId) },
    { kind: 'workspace', id: workspaceAccount(workspaceId) },
    { kind: 'key', id: key.money.accountId },
  ]
}

/**
 * Whether a job counts on an account: a cost that the workspace pays itself never counts against credit, and counts on
 * other accounts only if they count such costs; a free job never counts.
 */
function counts(
  { target, costNano, isUnpriced }: HoldInput,
  { ownerKind, countsByok }: Pick<Account, 'ownerKind' | 'countsByok'>,
): boolean {
  if (costNano === 0 && !isUnpriced) return false
  return target.ownSecret === null || (ownerKind !== 'organization' && countsByok)
}
