import { COST_NANO_MAX } from '../../../../schemas/money/money-limits.ts'
import type {
  AccountNeed,
  AccountGrant,
  LendInput,
  LendReply,
  LimitState,
} from '../../../ports/money/lending.ts'
import type { Day, Span } from '../../../ports/money/money.ts'
import { countedNano } from '../account-limits.ts'
import { lockAccounts, type Account } from '../accounts.ts'
import type { Transaction } from '../../base/open.ts'
import { latestOf, resetsAtMs } from '../windows.ts'
import { changedBy, isSameWindow, rolledTo, saveAccounts, spansOf } from './counters.ts'
import { addLeases, leasesElsewhere, type Lease } from './leases.ts'

export type Limits = Readonly<Partial<Record<Span, bigint>>>

/**
 * Lends as much money as limits allow. Locks: the journal's refills row, which delays the end of the journal,
 * then the accounts.
 * @returns null when the journal has ended
 */
export async function lend(tx: Transaction, ask: LendInput): Promise<LendReply | null> {
  const [refill] = await tx<{ sequence: string; reply: string }[]>`
    SELECT sequence, reply FROM refills WHERE journal_id = ${ask.journalId} FOR UPDATE`
  if (refill === undefined) return null
  const answered = Number(refill.sequence)
  if (answered === ask.sequence) return JSON.parse(refill.reply) as LendReply
  if (answered > ask.sequence)
    throw new Error(`money request ${ask.sequence} arrived after request ${answered}`)
  const accountIds = ask.accounts.map(({ accountId }) => accountId)
  const { reply, accounts, wanted } = decide(ask, await lookAt(tx, accountIds, ask.journalId))
  const leases = reply.accounts.flatMap(({ accountId, lentNano }) =>
    lentNano === 0 ? [] : [{ accountId, day: reply.day, lentNano: BigInt(lentNano) }],
  )
  await Promise.all([
    saveAccounts(tx, accounts, wanted),
    addLeases(tx, ask.journalId, leases),
    tx`UPDATE refills SET sequence = ${ask.sequence}, reply = ${JSON.stringify(reply)} WHERE journal_id = ${ask.journalId}`,
  ])
  return reply
}

/** Locked accounts, with the data by which a lend or a hold is decided. */
export interface Scene {
  readonly today: Day
  readonly accounts: ReadonlyMap<string, Account>
  readonly limits: ReadonlyMap<string, Limits>
  /** Leases of other fronts. */
  readonly elsewhere: readonly Lease[]
}

/**
 * Locks accounts until the commit, as the last locks of the transaction.
 * @param journalId of the front that requests money; null: no front does
 */
export async function lookAt(
  tx: Transaction,
  ids: readonly string[],
  journalId: string | null,
): Promise<Scene> {
  const locked = await lockAccounts(tx, ids)
  // Read after the locks: a change of a limit locks its account, and a wait for the lock may last past
  // midnight.
  const [limits, elsewhere, [calendar]] = await Promise.all([
    limitsOf(tx, ids),
    leasesElsewhere(tx, journalId, ids),
    tx<{ today: Day }[]>`SELECT utc_today()::text AS today`,
  ])
  if (calendar === undefined) throw new Error('the database returned no date')
  return {
    today: calendar.today,
    accounts: new Map(locked.map((account) => [account.id, account])),
    limits,
    elsewhere,
  }
}

/** The finite limits of accounts that this transaction has locked. */
export async function limitsOf(
  tx: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Limits>> {
  const rows = await tx<{ account_id: string; span: Span; limit_nano: string }[]>`
    SELECT account_id, span, limit_nano FROM account_limits WHERE account_id = ANY(string_to_array(${ids.join(',')}, ','))`
  const limits = new Map<string, Partial<Record<Span, bigint>>>()
  for (const row of rows) {
    const ofAccount = limits.get(row.account_id) ?? {}
    ofAccount[row.span] = BigInt(row.limit_nano)
    limits.set(row.account_id, ofAccount)
  }
  return limits
}

interface Decision {
  readonly reply: LendReply
  /** The accounts after the lend. */
  readonly accounts: readonly Account[]
  /** Accounts whose holders should return unused money. */
  readonly wanted: ReadonlySet<string>
}

/**
 * Decides for each account separately, with the same day for all: money that stays unused because another
 * account refused is returned later.
 */
export function decide(ask: LendInput, scene: Scene): Decision {
  const day = latestOf([scene.today, ask.day, ...[...scene.accounts.values()].map((account) => account.day)])
  const accounts: Account[] = []
  const wanted = new Set<string>()
  const grants = ask.accounts.map((input): AccountGrant => {
    const account = scene.accounts.get(input.accountId)
    // The owner of the account was deleted, and nothing will be paid from it.
    if (account === undefined)
      return {
        accountId: input.accountId,
        lentNano: 0,
        isUnlimited: false,
        isLentElsewhere: false,
        limits: [],
      }
    const limits = scene.limits.get(input.accountId) ?? {}
    const rolled = rolledTo(account, day)
    const spans = spansOf(limits)
    const lent =
      spans.length === 0
        ? 0n
        : grantOf(input, leastOf(spans.map((span) => restOf(rolled, limits, span))), ask.liveFronts)
    const isLentElsewhere = mayComeBack({ input, account: rolled, limits, leases: scene.elsewhere })
    if (spans.length > 0 && lent < BigInt(input.needNano) && isLentElsewhere) wanted.add(account.id)
    const after = changedBy(rolled, day, { spent: 0n, byok: 0n, lent })
    accounts.push(after)
    return {
      accountId: account.id,
      lentNano: Number(lent),
      isUnlimited: spans.length === 0,
      isLentElsewhere,
      limits: spans.map((span) => stateOf(after, limits, span)),
    }
  })
  return { reply: { day, accounts: grants }, accounts, wanted }
}

/**
 * The amount of a grant: the need, or the use of the last second if that is only a small part of the rest. The
 * last of the money is lent in small amounts, so that no front holds unused money that another one is refused.
 * Design §6.
 * @param rest what remains in the tightest span, nano-USD; negative when a limit was lowered
 */
export function grantOf(
  { needNano, leastNano, useNano }: AccountNeed,
  rest: bigint,
  liveFronts: number,
): bigint {
  if (rest <= 0n) return 0n
  const need = BigInt(needNano)
  const spare = leastOf([BigInt(useNano), rest / BigInt(2 * Math.max(1, liveFronts))])
  // The front calculates with numbers: a grant that a number cannot represent exactly would differ between the
  // lease and the account.
  const lent = leastOf([need > spare ? need : spare, rest, BigInt(COST_NANO_MAX)])
  return lent >= leastOf([need, BigInt(leastNano)]) ? lent : 0n
}

/** True when other fronts hold money in every window in which too little remains: only then can waiting help. */
function mayComeBack({
  input,
  account,
  limits,
  leases,
}: {
  readonly input: AccountNeed
  readonly account: Account
  readonly limits: Limits
  readonly leases: readonly Lease[]
}): boolean {
  const isHeld = (span: Span): boolean =>
    leases.some((lease) => lease.accountId === account.id && isSameWindow(span, lease.day, account.day))
  const spans = spansOf(limits)
  const short = spans.filter((span) => restOf(account, limits, span) < BigInt(input.needNano))
  return short.length === 0 ? spans.some(isHeld) : short.every(isHeld)
}

export function stateOf(account: Account, limits: Limits, span: Span): LimitState {
  return {
    span,
    limitNano: Number(limits[span] ?? 0n),
    spentNano: Number(countedNano(account, span)),
    restNano: Number(restOf(account, limits, span)),
    resetsAtMs: resetsAtMs(span, account.day),
  }
}

export function restOf(account: Account, limits: Limits, span: Span): bigint {
  return (limits[span] ?? 0n) - countedNano(account, span) - account.lent[span]
}

export function leastOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((least, amount) => (amount < least ? amount : least))
}
