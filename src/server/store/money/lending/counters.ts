import { SPANS, type Day, type Span } from '../../../ports/money/money.ts'
import type { Account, PerSpan } from '../accounts.ts'
import type { Transaction } from '../../base/open.ts'
import { windowOf } from '../windows.ts'

/**
 * USD at which counters of accounts and roll-ups stop: higher than every limit, and low enough that three
 * times the amount in nano-USD fits a `bigint`. A counter that overflowed would stop the accounting of all
 * workspaces. Decision.
 */
export const COUNTER_USD_MAX = 3_000_000_000

const NANO_PER_USD = 1_000_000_000n
export const COUNTER_NANO_MAX = BigInt(COUNTER_USD_MAX) * NANO_PER_USD

/** Changes of counters, nano-USD. */
export interface Change {
  readonly spent: bigint
  readonly byok: bigint
  readonly lent: bigint
}

/** An account with the windows of a day: windows that have ended start again at 0. The day never decreases. Design §6.3. */
export function rolledTo(account: Account, day: Day): Account {
  if (day <= account.day) return account
  const keep = (counter: PerSpan): PerSpan =>
    perSpan((span) => (isSameWindow(span, day, account.day) ? counter[span] : 0n))
  return { ...account, day, spent: keep(account.spent), byok: keep(account.byok), lent: keep(account.lent) }
}

/**
 * An account after a change that belongs to a day: the change counts only in windows that contain this day,
 * not in later ones.
 */
export function changedBy(account: Account, day: Day, { spent, byok, lent }: Change): Account {
  const rolled = rolledTo(account, day)
  const add = (counter: PerSpan, change: bigint): PerSpan => {
    if (change === 0n) return counter
    return perSpan((span) =>
      isSameWindow(span, day, rolled.day) ? cappedNano(counter[span] + change) : counter[span],
    )
  }
  return {
    ...rolled,
    spent: add(rolled.spent, spent),
    byok: add(rolled.byok, byok),
    lent: add(rolled.lent, lent),
  }
}

/** Caps a sum that is kept as a `bigint`. */
export function cappedNano(nano: bigint): bigint {
  return nano > COUNTER_NANO_MAX ? COUNTER_NANO_MAX : nano
}

export function isSameWindow(span: Span, day: Day, other: Day): boolean {
  return day === other || windowOf(span, day) === windowOf(span, other)
}

/**
 * Writes rows that this transaction has locked. @param wanted ids of accounts for which money was refused
 * while other fronts held some
 */
export async function saveAccounts(
  tx: Transaction,
  accounts: readonly Account[],
  wanted: ReadonlySet<string> = NONE,
): Promise<void> {
  if (accounts.length === 0) return
  const rows = JSON.stringify(accounts.map((account) => rowOf(account, wanted.has(account.id))))
  await tx`
    UPDATE accounts AS a SET day = x.day,
      daily_spent_nano = x.ds, weekly_spent_nano = x.ws, monthly_spent_nano = x.ms, lifetime_spent_nano = x.ls,
      daily_byok_nano = x.db, weekly_byok_nano = x.wb, monthly_byok_nano = x.mb, lifetime_byok_nano = x.lb,
      daily_lent_nano = x.dl, weekly_lent_nano = x.wl, monthly_lent_nano = x.ml, lifetime_lent_nano = x.ll,
      wanted_at = CASE WHEN x.wanted THEN clock_timestamp() ELSE a.wanted_at END
    FROM json_to_recordset(${rows}::text::json) AS x(id text, day date, wanted boolean,
      ds bigint, ws bigint, ms bigint, ls bigint, db bigint, wb bigint, mb bigint, lb bigint, dl bigint, wl bigint, ml bigint, ll bigint)
    WHERE a.id = x.id`
}

const NONE: ReadonlySet<string> = new Set()

/** Values are texts, since a JSON number cannot represent every `bigint`. */
function rowOf(
  { id, day, spent, byok, lent }: Account,
  wanted: boolean,
): Readonly<Record<string, string | boolean>> {
  return {
    id,
    day,
    wanted,
    ds: String(spent.daily),
    ws: String(spent.weekly),
    ms: String(spent.monthly),
    ls: String(spent.lifetime),
    db: String(byok.daily),
    wb: String(byok.weekly),
    mb: String(byok.monthly),
    lb: String(byok.lifetime),
    dl: String(lent.daily),
    wl: String(lent.weekly),
    ml: String(lent.monthly),
    ll: String(lent.lifetime),
  }
}

function perSpan(of: (span: Span) => bigint): PerSpan {
  return { daily: of('daily'), weekly: of('weekly'), monthly: of('monthly'), lifetime: of('lifetime') }
}

/** Spans in which an account has a limit, the narrowest window first. */
export function spansOf(limits: Readonly<Partial<Record<Span, bigint>>>): readonly Span[] {
  return SPANS.filter((span) => limits[span] !== undefined)
}
