import type { Config } from '../../../config.ts'
import { operatorOrganization } from '../../../store/operator/operator.ts'
import type { Queryable } from '../../../store/base/open.ts'
import { doubtful, good, type Finding } from './finding.ts'

/**
 * Checks the operator's organization: a typing error in the setting excludes every user from the dashboard;
 * without the setting the oldest organization counts.
 */
export async function operator(
  sql: Queryable,
  { operatorOrganization: reference }: Pick<Config, 'operatorOrganization'>,
): Promise<readonly Finding[]> {
  if (reference === null) return []
  const found = await operatorOrganization(sql, reference)
  if (found.ok)
    return [
      good('operator', `management keys of the organization ${found.value.name} can open the dashboard`),
    ]
  const which = found.failure.name === 'reference_ambiguous' ? 'several organizations' : 'no organization'
  const fix = 'set SLUICE_OPERATOR_ORGANIZATION to the id from `sluice organizations list`'
  return [
    doubtful('operator', `SLUICE_OPERATOR_ORGANIZATION matches ${which}: no key can open the dashboard`, fix),
  ]
}
