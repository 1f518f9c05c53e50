/** What the ledger and the records have of calls. */
import type { GenerationFacts } from '../../../../src/server/ports/inference/generations.ts'
import { FACTS_DOCUMENT } from '../../../../src/server/store/inference/generations.ts'
import type { PacedCall } from './callers.ts'
import { COMPLETION_NANO, PROMPT_NANO, type PacedStand } from './stand.ts'

export interface BookedRow {
  /** Of the call. */
  readonly id: string
  readonly kind: string
  readonly nano: number
  /** Of the prompt. */
  readonly tokens: number
  readonly output: number
}

export interface KeptRecord {
  /** Of the call. */
  readonly id: string
  readonly generationId: string
  readonly facts: GenerationFacts
}

type Calls = readonly Pick<PacedCall, 'id'>[]
type ById<T> = ReadonlyMap<string, readonly T[]>

/** The rows of the ledger, by the ids of their calls. */
export async function rowsOf(
  { store: { sql } }: Pick<PacedStand, 'store'>,
  calls: Calls,
): Promise<ById<BookedRow>> {
  return byId(
    await sql<BookedRow[]>`SELECT request_id AS id, kind, cost_nano::float8 AS nano, tokens::float8 AS tokens,
      output_tokens::float8 AS output FROM ledger WHERE request_id = ANY(string_to_array(${idsOf(calls)}, ','))`,
  )
}

/** The records, by the ids of their calls, also those that nodes before migration 33 have written. */
export async function recordsOf(
  { store: { sql } }: Pick<PacedStand, 'store'>,
  calls: Calls,
): Promise<ById<KeptRecord>> {
  return byId(
    await sql<KeptRecord[]>`
      SELECT request_id AS id, id AS "generationId", ${sql.unsafe(FACTS_DOCUMENT)} AS facts FROM generation_records
      WHERE request_id = ANY(string_to_array(${idsOf(calls)}, ','))
      UNION ALL SELECT facts->>'requestId', id, facts::json FROM generations
      WHERE facts->>'requestId' = ANY(string_to_array(${idsOf(calls)}, ','))`,
  )
}

export interface Booked {
  readonly rows: readonly BookedRow[]
  readonly records: readonly KeptRecord[]
}

/** Rows and records of each of these calls. */
export async function bookedOf(
  stand: Pick<PacedStand, 'store'>,
  calls: Calls,
): Promise<(call: PacedCall) => Booked> {
  const [rows, records] = await Promise.all([rowsOf(stand, calls), recordsOf(stand, calls)])
  return ({ id }) => ({ rows: rows.get(id) ?? [], records: records.get(id) ?? [] })
}

type Paid =
  | { readonly ok: false; readonly wrong: string }
  | { readonly ok: true; readonly row: BookedRow; readonly facts: GenerationFacts; readonly cost: number }

/** The one row and the one record of a call that was answered, with the cost that both have. */
export function paidOf({ generationId }: PacedCall, { rows, records }: Booked): Paid {
  const [row, record] = [rows[0], records[0]]
  if (rows.length !== 1 || row === undefined) return { ok: false, wrong: `rows ${JSON.stringify(rows)}` }
  if (records.length !== 1 || record?.generationId !== generationId)
    return { ok: false, wrong: `${records.length} records ${record?.generationId}` }
  const { facts } = record
  const cost = facts.usage.input * PROMPT_NANO + facts.usage.output * COMPLETION_NANO
  return cost === row.nano && cost === facts.chargedNano
    ? { ok: true, row, facts, cost }
    : { ok: false, wrong: `${cost} is booked as ${row.nano}, kept as ${facts.chargedNano}` }
}

function idsOf(calls: Calls): string {
  return calls.map(({ id }) => id).join(',')
}

function byId<T extends { readonly id: string }>(all: readonly T[]): ById<T> {
  const found = new Map<string, T[]>()
  for (const one of all) found.set(one.id, [...(found.get(one.id) ?? []), one])
  return found
}
