import type { Registry } from 'prom-client'
import { Tally } from './durations.ts'

/** @returns counts records of calls by what became of them; the ledger has the money of lost ones too */
export function countGenerations(registry: Registry): (outcome: 'written' | 'lost', rows: number) => void {
  const rows = new Tally(
    registry,
    'sluice_generation_records_total',
    'Records of calls to text models, by outcome: written to Postgres or lost.',
    ['outcome'],
  )
  return (outcome, count) => rows.add(count, outcome)
}
