import type { FailureName } from '../../../src/schemas/failures.ts'
import type { Proof } from '../proof.ts'

/** The refusal of a call for which a store of Sluice was late; the client asks again. */
const LATE: FailureName = 'store_unavailable'

/**
 * No call, however it ended, was a fault of the node's own. The short form lets pass that a store of a busy
 * machine answered late: its callers were told, and judge the answer to their next try.
 * @param output log of the node, a JSON object a line
 */
export function checkNoFaults(proof: Proof, output: string): void {
  const fault = output.split('\n').find((line) => isFault(line) && !(proof.isShort && isLate(line)))
  proof.check('the node logs no error', fault === undefined, fault ?? 'none')
}

function isFault(line: string): boolean {
  return line.includes('"level":"error"')
}

function isLate(line: string): boolean {
  const { event, failure } = JSON.parse(line) as { readonly event?: string; readonly failure?: string }
  return event === 'call_failed' && failure === LATE
}
