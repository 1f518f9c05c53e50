import { OPERATIONS } from '../../src/server/operations/index.ts'
import type { AnyOperation } from '../../src/server/operations/define.ts'

const byDeadline = new Map<number, readonly AnyOperation[]>()

/** All operations with a deadline of a test's own: the same ones each time, so that they are compiled once. */
export function operationsWithin(deadlineMs: number): readonly AnyOperation[] {
  const known = byDeadline.get(deadlineMs)
  if (known !== undefined) return known
  const operations = OPERATIONS.map((operation) => ({ ...operation, deadlineMs }))
  byDeadline.set(deadlineMs, operations)
  return operations
}
