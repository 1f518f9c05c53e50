import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type { Ports } from '../ports/ports.ts'

interface Named {
  readonly organization_id?: string
}

/**
 * The organization that a call names in its query or in its body; undefined when it names none: then the key's
 * own organization is meant. C32. Failure: query_invalid (two different ones).
 */
export function namedOrganization(
  { organization_id: queried }: Named,
  { organization_id: written }: Named = {},
): Outcome<string | undefined> {
  if (queried === undefined || written === undefined || queried.toLowerCase() === written.toLowerCase())
    return ok(queried ?? written)
  const issue = {
    path: '/organization_id',
    message: 'differs from `organization_id` in the body',
    expected: 'one organization, in the query or the body',
  }
  return fail('query_invalid', { metadata: { issues: [issue] } })
}

/**
 * The organization of a read: each caller may read its own, an operator any. C32. Failures: operator_only,
 * organization_unknown, store_unavailable.
 */
export function readableOf(
  ownId: string,
  namedId: string | undefined,
  { operators }: Pick<Ports, 'operators'>,
): Promise<Outcome<string>> | Outcome<string> {
  return namedId === undefined || namedId.toLowerCase() === ownId
    ? ok(ownId)
    : operators.targetOf(ownId, namedId)
}
