import type { Transaction } from '../../base/open.ts'
import type { Day } from '../../../ports/money/money.ts'

/** Separator of request ids in one text. No id contains it: an id that did would shift the ids after it. */
const BETWEEN = '\x1f'

export type LedgerKind = 'usage' | 'estimated' | 'forfeit' | 'overrun'

/** Columns of `ledger`; the journal's id is the same for all. */
export interface LedgerRow {
  readonly day: Day
  readonly at_ms: number
  readonly request_id: string
  readonly kind: LedgerKind
  readonly organization_id: string
  readonly workspace_id: string | null
  readonly key_hash: string | null
  readonly account_id: string | null
  readonly operation: string | null
  readonly model: string | null
  readonly provider: string | null
  readonly tokens: number | null
  readonly output_tokens: number | null
  readonly cached_tokens: number | null
  readonly milliseconds: number | null
  readonly cost_nano: number | string
  readonly is_byok: boolean
}

/** The figures of a row whose call told none. */
export const NO_FIGURES = {
  tokens: null,
  output_tokens: null,
  cached_tokens: null,
  milliseconds: null,
} as const

/** Columns that calls of one key and model share: sent once for a batch. */
export type LedgerCalls = Omit<LedgerRow, 'at_ms' | 'request_id' | 'cost_nano' | keyof typeof NO_FIGURES>

/** Columns that differ in each row. */
export type LedgerFigures = Omit<LedgerRow, keyof LedgerCalls>

/**
 * Rows as columns, with shared columns apart: one object for each row would be copied by the garbage
 * collector while the batch is under way.
 */
export class LedgerColumns {
  readonly calls: (LedgerCalls & { readonly place: number })[] = []
  readonly places: number[] = []
  readonly instants: number[] = []
  readonly requestIds: string[] = []
  readonly tokens: (number | null)[] = []
  readonly outputTokens: (number | null)[] = []
  readonly cachedTokens: (number | null)[] = []
  readonly milliseconds: (number | null)[] = []
  readonly costs: (number | string)[] = []
  readonly #placesByName = new Map<string, number>()

  get length(): number {
    return this.places.length
  }

  push(row: LedgerRow): void {
    this.add(this.placeOf(row), row)
  }

  /** @param place of the shared columns */
  add(place: number, figures: LedgerFigures): void {
    const { at_ms, request_id, milliseconds, cost_nano } = figures
    this.places.push(place)
    this.instants.push(at_ms)
    this.requestIds.push(request_id.includes(BETWEEN) ? request_id.replaceAll(BETWEEN, '\uFFFD') : request_id)
    this.tokens.push(figures.tokens)
    this.outputTokens.push(figures.output_tokens)
    this.cachedTokens.push(figures.cached_tokens)
    this.milliseconds.push(milliseconds)
    this.costs.push(cost_nano)
  }

  placeOf({
    day,
    kind,
    organization_id,
    workspace_id,
    key_hash,
    account_id,
    operation,
    model,
    provider,
    is_byok,
  }: LedgerCalls): number {
    const calls = {
      day,
      kind,
      organization_id,
      workspace_id,
      key_hash,
      account_id,
      operation,
      model,
      provider,
      is_byok,
    }
    const name = JSON.stringify(Object.values(calls))
    const known = this.#placesByName.get(name)
    if (known !== undefined) return known
    const place = this.calls.length
    this.calls.push({ place, ...calls })
    this.#placesByName.set(name, place)
    return place
  }

  /** The request ids as `insertLedger` reads them. */
  get idsText(): string {
    return this.requestIds.join(BETWEEN)
  }
}

/** Sends columns: Postgres takes four times as long for one JSON object a row as for the row itself. */
export async function insertLedger(
  tx: Transaction,
  journalId: string | null,
  rows: LedgerColumns,
): Promise<void> {
  if (rows.length === 0) return
  // An empty text between two commas is NULL; so is a value that is missing at the end of a column.
  await tx`
    INSERT INTO ledger (day, at, request_id, kind, organization_id, workspace_id, key_hash, account_id, operation, model, provider,
      tokens, output_tokens, cached_tokens, milliseconds, cost_nano, is_byok, journal_id)
    SELECT day, to_timestamp(at_ms / 1000), coalesce(request_id, ''), kind, organization_id, workspace_id, key_hash, account_id, operation, model,
      provider, tokens, output_tokens, cached_tokens, milliseconds, cost_nano, is_byok, ${journalId}::uuid
    FROM unnest(string_to_array(${rows.places.join(',')}, ',')::int[],
      string_to_array(${rows.instants.join(',')}, ',')::double precision[],
      string_to_array(${rows.idsText}, ${BETWEEN}),
      string_to_array(${rows.tokens.join(',')}, ',', '')::bigint[],
      string_to_array(${rows.outputTokens.join(',')}, ',', '')::bigint[],
      string_to_array(${rows.cachedTokens.join(',')}, ',', '')::bigint[],
      string_to_array(${rows.milliseconds.join(',')}, ',', '')::bigint[],
      string_to_array(${rows.costs.join(',')}, ',')::bigint[]
    ) AS r(place, at_ms, request_id, tokens, output_tokens, cached_tokens, milliseconds, cost_nano)
    JOIN json_to_recordset(${JSON.stringify(rows.calls)}::text::json) AS x(place int, day date, kind text, organization_id uuid,
      workspace_id uuid, key_hash text, account_id text, operation text, model text, provider text, is_byok boolean) USING (place)`
}
