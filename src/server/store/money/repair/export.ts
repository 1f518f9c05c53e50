import { pipeline } from 'node:stream/promises'
import { isId } from '../../base/ids.ts'
import type { Store } from '../../base/open.ts'

export interface ExportQuery {
  /** First day, `YYYY-MM-DD`, included. */
  readonly from?: string
  /** Last day, `YYYY-MM-DD`, included. */
  readonly to?: string
  readonly organizationId?: string
}

/** Columns of the export, in their order. */
export const EXPORT_COLUMNS = [
  'day',
  'at',
  'kind',
  'request_id',
  'organization_id',
  'workspace_id',
  'key_hash',
  'account_id',
  'operation',
  'model',
  'provider',
  'tokens',
  'output_tokens',
  'cached_tokens',
  'milliseconds',
  'cost_nano_usd',
  'released_nano_usd',
  'cost_usd',
  'released_usd',
  'is_byok',
  'journal_id',
] as const

const VALUES: Readonly<Partial<Record<(typeof EXPORT_COLUMNS)[number], string>>> = {
  at: `to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  cost_nano_usd: 'cost_nano',
  released_nano_usd: 'released_nano',
  cost_usd: 'round(cost_nano / 1000000000::numeric, 9)',
  released_usd: 'round(released_nano / 1000000000::numeric, 9)',
  request_id: quoted('request_id'),
  key_hash: quoted('key_hash'),
  account_id: quoted('account_id'),
  operation: quoted('operation'),
  model: quoted('model'),
  provider: quoted('provider'),
}

const DAY = /^\d{4}-\d{2}-\d{2}$/
const ROWS_AT_ONCE = 1_000
const LINE_END = '\r\n'

/**
 * Writes rows of the ledger as CSV (RFC 4180, with a header line) as fast as `out` accepts them: month after
 * month, in the order of booking. No rows are sorted or kept in memory. Throws the errors of Postgres, and
 * `EPIPE` when the reader has left.
 */
export async function exportLedger(
  { sql }: Store,
  query: ExportQuery,
  out: NodeJS.WritableStream,
): Promise<void> {
  const condition = conditionOf(query)
  await sql.begin('READ ONLY', async (tx) => {
    // The reader may be arbitrarily slow, and parallel workers would return rows without an order.
    await tx.unsafe(
      'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL max_parallel_workers_per_gather = 0',
    )
    const values = EXPORT_COLUMNS.map((name) => `COALESCE((${VALUES[name] ?? name})::text, '')`).join(
      ", ',', ",
    )
    const lines = tx.unsafe<{ line: string }[]>(
      `SELECT concat(${values}) AS line FROM ledger WHERE ${condition}`,
    )
    await pipeline(piecesOf(lines.cursor(ROWS_AT_ONCE)), out, { end: false })
  })
}

async function* piecesOf(
  batches: AsyncIterable<readonly { readonly line: string }[]>,
): AsyncGenerator<string> {
  yield EXPORT_COLUMNS.join(',') + LINE_END
  for await (const rows of batches) yield rows.map(({ line }) => line + LINE_END).join('')
}

/** Expression that quotes a value if needed; the database builds the text. */
function quoted(column: string): string {
  return `CASE WHEN ${column} ~ '[",\\r\\n]' THEN '"' || replace(${column}, '"', '""') || '"' ELSE ${column} END`
}

function conditionOf({ from, to, organizationId }: ExportQuery): string {
  if (
    [from, to].some((day) => day !== undefined && !DAY.test(day)) ||
    (organizationId !== undefined && !isId(organizationId))
  ) {
    throw new TypeError('a day or an id is malformed')
  }
  return [
    'true',
    ...(from === undefined ? [] : [`ledger.day >= '${from}'`]),
    ...(to === undefined ? [] : [`ledger.day <= '${to}'`]),
    ...(organizationId === undefined ? [] : [`organization_id = '${organizationId}'`]),
  ].join(' AND ')
}
