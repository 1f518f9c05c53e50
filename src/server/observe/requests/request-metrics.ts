import type { Registry } from 'prom-client'
import type { CountRequests } from '../../ports/requests/request-log.ts'
import { Tally } from '../durations.ts'

/** @returns counts calls of the request log by what became of them */
export function countRequests(registry: Registry): CountRequests {
  const calls = new Tally(
    registry,
    'sluice_request_log_calls_total',
    'Finished calls for the request log, by outcome; paid calls that are lost here are still in the ledger.',
    ['outcome'],
  )
  return (outcome, count) => calls.add(count, outcome)
}
