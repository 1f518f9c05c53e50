import type { Transaction } from '../open.ts'
import type { LedgerRow } from './books.ts'

/** Stands between two request ids. None holds it: one that did would shift the ids behind it. */
const BETWEEN = '\x1f'

/** What calls of one key and model have in common: told once for a batch. */
type Calls = Omit<LedgerRow, 'at_ms' | 'request_id' | 'tokens' | 'milliseconds' | 'cost_nano'>

/**
 * Rows as columns, and what they have in common apart: Postgres takes four times as long for one object of JSON a row as
 * for the row itself.
 */
export async function insertLedger(tx: Transaction, journalId: string | null, rows: readonly LedgerRow[]): Promise<void> {
  if (rows.length === 0) return
  const { calls, places } = groupsOf(rows)
  // Nothing between two commas is NULL; so is what is missing at the end of a column.
  const column = (of: (row: LedgerRow) => number | string | null): string => rows.map(of).join(',')
  const ids = rows.map((row) => row.request_id.replaceAll(BETWEEN, '\uFFFD')).join(BETWEEN)
  await tx`
    INSERT INTO ledger (day, at, request_id, kind, organization_id, workspace_id, key_hash, account_id, operation, model, provider,
      tokens, milliseconds, cost_nano, is_byok, journal_id)
    SELECT day, to_timestamp(at_ms / 1000), coalesce(request_id, ''), kind, organization_id, workspace_id, key_hash, account_id, operation, model,
      provider, tokens, milliseconds, cost_nano, is_byok, ${journalId}::uuid
    FROM unnest(string_to_array(${places.join(',')}, ',')::int[],
      string_to_array(${column((row) => row.at_ms)}, ',')::double precision[],
      string_to_array(${ids}, ${BETWEEN}),
      string_to_array(${column((row) => row.tokens)}, ',', '')::bigint[],
      string_to_array(${column((row) => row.milliseconds)}, ',', '')::bigint[],
      string_to_array(${column((row) => row.cost_nano)}, ',')::bigint[]
    ) AS r(place, at_ms, request_id, tokens, milliseconds, cost_nano)
    JOIN json_to_recordset(${JSON.stringify(calls)}::text::json) AS x(place int, day date, kind text, organization_id uuid,
      workspace_id uuid, key_hash text, account_id text, operation text, model text, provider text, is_byok boolean) USING (place)`
}

/** @returns what rows have in common, numbered, and for each row the number of its own */
function groupsOf(rows: readonly LedgerRow[]): { readonly calls: readonly (Calls & { readonly place: number })[]; readonly places: readonly number[] } {
  const calls: (Calls & { readonly place: number })[] = []
  const known = new Map<string, number>()
  let last: Calls | null = null
  let place = 0
  const places = rows.map((row) => {
    if (last === null || !isSame(last, row)) {
      const name = nameOf(row)
      place = known.get(name) ?? calls.length
      if (place === calls.length) {
        known.set(name, place)
        calls.push({ place, ...callsOf(row) })
      }
      last = row
    }
    return place
  })
  return { calls, places }
}

function callsOf({ day, kind, organization_id, workspace_id, key_hash, account_id, operation, model, provider, is_byok }: LedgerRow): Calls {
  return { day, kind, organization_id, workspace_id, key_hash, account_id, operation, model, provider, is_byok }
}

function nameOf(row: LedgerRow): string {
  return JSON.stringify(Object.values(callsOf(row)))
}

/** Of one batch most rows are like the one before them; their texts are the same ones, which are compared at once. */
function isSame(one: Calls, other: Calls): boolean {
  return one.key_hash === other.key_hash && one.model === other.model && one.provider === other.provider && one.kind === other.kind
    && one.day === other.day && one.is_byok === other.is_byok && one.operation === other.operation && one.account_id === other.account_id
    && one.workspace_id === other.workspace_id && one.organization_id === other.organization_id
}
