import { reasonText } from '../../../schemas/requests/failure-reason.ts'
import type { RequestShape } from '../../../schemas/requests/requests.ts'

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present'
export const NDJSON_TYPE = 'application/x-ndjson'

type Cell = string | number | boolean | null

/** The columns of a table, one value each. */
const COLUMNS: Readonly<Record<string, (row: RequestShape) => Cell>> = {
  id: (row) => row.id,
  request_id: (row) => row.request_id,
  started_at: (row) => row.started_at,
  ended_at: (row) => row.ended_at,
  operation: (row) => row.operation,
  status: (row) => row.status,
  error_type: (row) => row.error_type,
  limit: (row) => row.limit,
  workspace_id: (row) => row.workspace_id,
  key: (row) => row.key,
  key_name: (row) => row.key_name,
  model: (row) => row.model,
  provider: (row) => row.provider,
  attempts: (row) => row.attempts,
  duration_ms: (row) => row.duration_ms,
  auth_ms: ({ parts }) => parts.auth_ms,
  limits_ms: ({ parts }) => parts.limits_ms,
  validation_ms: ({ parts }) => parts.validation_ms,
  hold_ms: ({ parts }) => parts.hold_ms,
  provider_ms: ({ parts }) => parts.provider_ms,
  first_byte_ms: ({ parts }) => parts.first_byte_ms,
  input_tokens: ({ tokens }) => tokens.input,
  output_tokens: ({ tokens }) => tokens.output,
  cached_tokens: ({ tokens }) => tokens.cached,
  cost_usd: (row) => row.cost_usd,
  charged_to: (row) => row.charged_to.join(' '),
  is_byok: (row) => row.is_byok,
  is_estimated: (row) => row.is_estimated,
  is_unpriced: (row) => row.is_unpriced,
  is_client_gone: (row) => row.is_client_gone,
  request_bytes: (row) => row.request_bytes,
  reply_bytes: (row) => row.reply_bytes,
  weight: (row) => row.weight,
  is_recovered: (row) => row.is_recovered,
  reason: ({ reason }) => (reason === null ? null : reasonText(reason)),
}

/** RFC 4180, with a header line. */
export function csvOf(rows: readonly RequestShape[]): string {
  return CSV_HEAD + csvLinesOf(rows)
}

export const CSV_HEAD = lineOf(Object.keys(COLUMNS))

export function csvLinesOf(rows: readonly RequestShape[]): string {
  return rows.map((row) => lineOf(Object.values(COLUMNS).map((of) => cellOf(of(row))))).join('')
}

export function ndjsonOf(rows: readonly RequestShape[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

function lineOf(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`
}

function cellOf(value: Cell): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  // A spreadsheet would interpret such a text as a formula.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
