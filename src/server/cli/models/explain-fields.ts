import { fieldRows, type EndpointKind, type FieldRow } from '../../../dialects/table/field-rows.ts'
import type { Dialect } from '../../../schemas/inference/text-request.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import { protocolFor } from '../../upstream/inference/spoken.ts'
import { table } from '../parts/verb.ts'

/** An endpoint that calls of a form reach, and what becomes of each of their fields. */
export interface Reached {
  readonly endpoint: Endpoint
  readonly kind: EndpointKind
  readonly isNative: boolean
  readonly rows: readonly FieldRow[]
}

/** Null: the form does not reach it. */
export function reachedAt(endpoint: Endpoint, from: Dialect): Reached | null {
  const { text } = endpoint
  const protocol = text === null ? null : protocolFor(text, from)
  if (text === null || protocol === null) return null
  const kind = { protocol, isStrict: text.isStrict }
  return { endpoint, kind, isNative: protocol === from, rows: fieldRows(from, kind) }
}

/** Members of an endpoint in JSON, besides its name. */
export function fieldsOf({ kind, isNative, rows }: Reached): object {
  return {
    protocol: kind.protocol,
    is_native: isNative,
    is_strict: kind.isStrict,
    fields: rows,
  }
}

/** A line for each endpoint, then the table with a column for each kind of endpoints. */
export function fieldText(reached: readonly Reached[]): string {
  const kinds = new Map(reached.map((one) => [kindName(one), one]))
  const endpoints = reached.map((one) => [one.endpoint.tag, kindName(one), howCalled(one)])
  const tables = Array.from(kinds.values(), ({ rows }) => rows.filter(isShown))
  const fields = tables[0]?.map(({ field }) => field) ?? []
  const cells = fields.map((field, nth) => [field, ...tables.map((rows) => cellOf(rows[nth]))])
  return [
    table([['endpoint', 'speaks', 'gets'], ...endpoints]),
    table([['field', ...kinds.keys()], ...cells]),
    'If the request is translated, all other fields are dropped, and other parts, items and tools are refused.\n' +
      'For mapped parts, items and tools, the list shows only fields that at least one provider does not receive.',
  ].join('\n\n')
}

function kindName({ kind: { protocol, isStrict } }: Pick<Reached, 'kind'>): string {
  return isStrict ? `${protocol}, strict` : protocol
}

function howCalled({ isNative }: Reached): string {
  return isNative ? 'unchanged' : 'translated'
}

/** What no endpoint gets is the same for all. */
function isShown({ class: of }: FieldRow): boolean {
  return of !== 'ours'
}

function cellOf(row: FieldRow | undefined): string {
  if (row === undefined) return '-'
  const { class: of, to = [], limit, defaults = [] } = row
  if (of === 'passed') return 'unchanged'
  const usual = of === 'refused' ? defaults.map((one) => JSON.stringify(one)).join(', ') : ''
  const said = to.length > 0 ? to.join(', ') : of
  const but = usual === '' ? said : `${said}, except ${usual}`
  return limit === undefined ? but : `${but} (${limit})`
}
