/** Whether each stream has one row of the ledger and one record, with what it cost. */
import type { GenerationFacts } from '../../../src/server/ports/inference/generations.ts'
import { until } from '../../support/wait.ts'
import type { Proof } from '../proof.ts'
import type { PacedCall } from './paced-callers.ts'
import { PROMPT_TOKENS } from './paced-provider.ts'
import { COMPLETION_NANO, PROMPT_NANO, type PacedStand } from './paced-stand.ts'

interface Row {
  readonly id: string
  readonly kind: string
  readonly nano: number
}

interface Kept {
  readonly id: string
  readonly facts: GenerationFacts
}

interface Found {
  readonly rows: readonly Row[]
  readonly records: readonly Kept[]
}

const NANO_PER_USD = 1e9

/** @param calls all were answered, and are over */
export async function checkCharged(
  proof: Proof,
  stand: PacedStand,
  { name, calls }: { readonly name: string; readonly calls: readonly PacedCall[] },
): Promise<void> {
  let wrong: readonly string[] = []
  // Rows and records are written in batches.
  await until('all is charged', async () => {
    wrong = await unchargedOf(stand, calls)
    return wrong.length === 0
  }).catch(() => undefined)
  proof.check(
    `${name}: each stream has one row and one record, with what it cost`,
    wrong.length === 0 && calls.length > 0 && calls.every(({ status }) => status === 200),
    `${calls.length} streams, ${wrong.length} wrong ${wrong.slice(0, 3).join('; ')}`,
  )
}

/** @returns what the books and the records say of these streams that is not so */
async function unchargedOf(stand: PacedStand, calls: readonly PacedCall[]): Promise<readonly string[]> {
  const { sql } = stand.store
  const ids = calls.map(({ id }) => id).join(',')
  const rows = await sql<Row[]>`SELECT request_id AS id, kind, cost_nano::float8 AS nano FROM ledger
    WHERE request_id = ANY(string_to_array(${ids}, ','))`
  const generations = calls.map(({ generationId }) => generationId).join(',')
  const kept = await sql<Kept[]>`SELECT id, facts FROM generations
    WHERE id = ANY(string_to_array(${generations}, ','))`
  const [rowsById, keptById] = [byId(rows), byId(kept)]
  return calls.flatMap((call) => {
    const found = { rows: rowsById.get(call.id) ?? [], records: keptById.get(call.generationId) ?? [] }
    const wrong = wrongOf(stand, call, found)
    return wrong === null ? [] : [`${call.id} (${call.end}): ${wrong}`]
  })
}

function byId<T extends { readonly id: string }>(all: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>()
  for (const one of all) found.set(one.id, [...(found.get(one.id) ?? []), one])
  return found
}

function wrongOf({ provider }: PacedStand, call: PacedCall, { rows, records }: Found): string | null {
  const [row, record] = [rows[0], records[0]?.facts]
  if (rows.length !== 1 || row === undefined) return `rows ${JSON.stringify(rows)}`
  if (records.length !== 1 || record === undefined) return `${records.length} records`
  const { usage, chargedNano, finishReason } = record
  const cost = usage.input * PROMPT_NANO + usage.output * COMPLETION_NANO
  if (cost !== row.nano || cost !== chargedNano)
    return `${cost} is booked as ${row.nano}, kept as ${chargedNano}`
  const generated = provider.answers.get(call.id)?.generated ?? 0
  if (call.end === 'whole') {
    const told = Math.round(call.cost * NANO_PER_USD)
    const isTrue = usage.input === PROMPT_TOKENS && usage.output === generated && call.read === generated
    return row.kind === 'usage' && finishReason === 'stop' && told === cost && isTrue
      ? null
      : `${row.kind}, ${finishReason}, told ${told}: ${JSON.stringify(usage)} of ${generated}`
  }
  // A part of a token is one.
  const isBetween = usage.output >= call.read && usage.output <= generated + 1
  return row.kind === 'estimated' && finishReason === 'error' && record.isEstimated && isBetween
    ? null
    : `${row.kind}, ${finishReason}: ${usage.output} tokens, ${call.read} read, ${generated} generated`
}
