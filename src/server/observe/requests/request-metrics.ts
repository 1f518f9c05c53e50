import type { Registry } from 'prom-client'
import type { CountRequests } from '../../ports/requests/request-log.ts'
import { Tally } from '../durations.ts'

/** @returns counts calls of the request log by what became of them */
export function countRequests(registry: Registry): CountRequests {
  const calls = new Tally(
    registry,
    'sluice_request_log_calls_total',
    'Finished calls for the request log, by outcome; the ledger keeps paid calls that the request log loses.',
    ['outcome'],
  )
  return (outcome, count) => calls.add(count, outcome)
}
