import type { Span } from '../../../ports/money/money.ts'
import { COUNTER_NANO_MAX } from '../lending/counters.ts'

/** Conditions under which a row with a day is in the window of an account's row. `a`: the account. */
const IN_WINDOW: Readonly<Record<Span, string>> = {
  daily: 'c.day = a.day',
  // Weeks begin on Monday, C15.
  weekly: "date_trunc('week', c.day::timestamp) = date_trunc('week', a.day::timestamp)",
  monthly: "date_trunc('month', c.day::timestamp) = date_trunc('month', a.day::timestamp)",
  lifetime: 'true',
}

/** The condition under which a row `c` with a day counts in a window of an account `a`. */
export function inWindow(span: Span): string {
  return IN_WINDOW[span]
}

/** Caps a sum in the same way as counters. */
export function capped(sum: string): string {
  return `least(${sum}, ${COUNTER_NANO_MAX})`
}

/** Rows that activity and accounts count as usage. */
const IS_USAGE = `kind IN ('usage', 'estimated')`

/** A query for the rows and nano-USD of each day, key and model. @param source the ledger, or a table with its columns */
export function factsOf(source: string): string {
  return `
    SELECT organization_id, workspace_id, key_hash, account_id, day, COALESCE(model, '') AS model, count(*) AS rows,
      count(*) FILTER (WHERE ${IS_USAGE}) AS requests,
      COALESCE(sum(tokens) FILTER (WHERE ${IS_USAGE}), 0) AS tokens,
      COALESCE(sum(output_tokens) FILTER (WHERE ${IS_USAGE}), 0) AS output_tokens,
      COALESCE(sum(cached_tokens) FILTER (WHERE ${IS_USAGE}), 0) AS cached_tokens,
      COALESCE(sum(milliseconds) FILTER (WHERE ${IS_USAGE}), 0) AS milliseconds,
      COALESCE(sum(cost_nano) FILTER (WHERE ${IS_USAGE} AND NOT is_byok), 0) AS paid,
      COALESCE(sum(cost_nano) FILTER (WHERE ${IS_USAGE} AND is_byok), 0) AS byok,
      COALESCE(sum(cost_nano - released_nano) FILTER (WHERE kind = 'forfeit'), 0) AS forfeited,
      count(*) FILTER (WHERE released_nano > cost_nano) AS wrongly_released
    FROM ${source} GROUP BY organization_id, workspace_id, key_hash, account_id, day, COALESCE(model, '')`
}

/**
 * The accounts for which `facts` count, with the columns account_id, day, spent, byok. This is the only
 * definition; the check, forgiving and dropping months use it. Usage counts for organization, workspace and
 * key. A forfeit counts for workspace and key; a forfeit that names an account counts only for that account:
 * it belongs to no known call, or to a call whose credentials count in only one of the two. An overrun counts
 * for no account. Design §6.
 */
export const CONTRIBUTIONS = `
  SELECT 'o' || organization_id AS account_id, day, paid AS spent, byok FROM facts WHERE account_id IS NULL
  UNION ALL
  SELECT 'w' || workspace_id, day, paid + forfeited, byok FROM facts WHERE account_id IS NULL AND workspace_id IS NOT NULL
  UNION ALL
  SELECT k.account_id, day, paid + forfeited, byok FROM facts JOIN api_keys k ON k.hash = facts.key_hash WHERE facts.account_id IS NULL
  UNION ALL
  SELECT account_id, day, forfeited, 0 FROM facts WHERE account_id IS NOT NULL`

/** The months of the ledger that have a partition; older months are in `ledger_pruned`. */
export const MONTHS = `
  SELECT c.relname::text AS partition, to_date(right(c.relname, 7), 'YYYY_MM') AS first,
    (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month')::date AS next
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'ledger'::regclass`
