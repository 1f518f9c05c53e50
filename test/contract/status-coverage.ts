/**
 * Which statuses of an operation a test shows. The convention: the title of a tap test begins with the
 * operation's id and the status, `'embeddings.create 413: a body of 40 MiB is refused'`; several are
 * separated by a comma, `'models.list 400, 403: …'`. So a forgotten status is found by name, and `grep
 * 'embeddings.create 413'` finds the test.
 */
import type { AnyOperation } from '../../src/server/operations/define.ts'
import type { SourceFile } from '../support/source.ts'
import type { ContractRow } from './contract-row.ts'

/** Answered by the stages around every operation; stages.test.ts shows them for each kind. */
const SHARED_STATUSES: readonly number[] = [401, 403, 429, 500, 504]
/** The same of those with a JSON body. */
const BODY_STATUSES: readonly number[] = [408, 413, 415]

/** Statuses that need no test of their own for the operation. */
export function sharedStatuses(operation: AnyOperation): readonly number[] {
  return operation.input.body === undefined ? SHARED_STATUSES : [...SHARED_STATUSES, ...BODY_STATUSES]
}

const TITLE = /^['"`](?<id>[a-z_-]+\.[a-z_-]+) (?<statuses>\d{3}(?:, \d{3})*): ./

/** The statuses that tests show, by the id of their operation. */
export function coveredStatuses(tests: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<number>> {
  const covered = new Map<string, Set<number>>()
  for (const { tokens } of tests) {
    for (const { kind, text } of tokens) {
      const groups = kind === 'string' ? TITLE.exec(text)?.groups : undefined
      if (groups === undefined) continue
      const { id = '', statuses = '' } = groups
      const found = covered.get(id) ?? new Set<number>()
      for (const status of statuses.split(', ')) found.add(Number(status))
      covered.set(id, found)
    }
  }
  return covered
}

/** Statuses that a row says nothing can cause, although it does not list them, or a test shows a cause. */
export function staleExemptions(
  row: Pick<ContractRow, 'success' | 'statuses' | 'uncaused'>,
  shown: { readonly covered: ReadonlySet<number>; readonly shared: readonly number[] },
): readonly number[] {
  return Object.keys(row.uncaused)
    .map(Number)
    .filter(
      (status) =>
        ![row.success, ...row.statuses].includes(status) ||
        shown.covered.has(status) ||
        shown.shared.includes(status),
    )
}
