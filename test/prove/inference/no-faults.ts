import type { FailureName } from '../../../src/schemas/failures.ts'
import type { Proof } from '../proof.ts'

/** The refusal of a call for which a store of Sluice was late or away. */
const LATE: FailureName = 'store_unavailable'
/** Calls so refused that the short form lets pass: on a busy machine a store is late for moments. */
const LATE_CALLS_MAX = 3

/**
 * No call, however it ended, was a fault of the node's own. The short form lets a few calls pass for which a
 * store was late: their clients were told, and the proof judges how each of these goes on.
 * @param output log of the node, a JSON object a line
 */
export function checkNoFaults(proof: Proof, output: string): void {
  const faults = output.split('\n').filter((line) => line.includes('"level":"error"'))
  const late = proof.isShort ? faults.filter(isLate) : []
  const others = faults.filter((line) => !late.includes(line))
  const found = late.length === 0 ? 'none' : `${late.length} calls for which a store was late`
  proof.check(
    'the node logs no error',
    others.length === 0 && late.length <= LATE_CALLS_MAX,
    others[0] ?? found,
  )
}

function isLate(line: string): boolean {
  return line.includes('"event":"call_failed"') && line.includes(`"failure":"${LATE}"`)
}
