import type { Proof } from '../proof.ts'

/**
 * No call, however it ended, was a fault of the node's own.
 * @param output log of the node, a JSON object a line
 */
export function checkNoFaults(proof: Proof, output: string): void {
  const fault = output.split('\n').find((line) => line.includes('"level":"error"'))
  proof.check('the node logs no error', fault === undefined, fault ?? 'none')
}
