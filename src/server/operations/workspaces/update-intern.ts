import { ok } from '../../../schemas/failures.ts'
import { InternAnswer, InternParams, type UpdateInternBody } from '../../../schemas/workspaces/interns.ts'
import type { InternChanges } from '../../ports/workspaces/interns.ts'
import { changedBy, defineOperation } from '../define.ts'
import { EXAMPLE_INTERN, INTERN_FAILURES, INTERN_STATUSES_LISTED, internAnswer } from './intern-access.ts'

/** Changes the record of an intern. Source: B2.4. */
export const updateIntern = defineOperation({
  id: 'interns.update',
  method: 'patch',
  path: '/interns/{intern_id}',
  tag: 'interns',
  summary: 'Update an intern',
  description: 'Absent members keep their values; null removes a value.',
  input: { params: InternParams, body: 'intern_update' },
  success: { status: 200, body: InternAnswer },
  tellsReason: true,
  statuses: [...INTERN_STATUSES_LISTED, 413, 415],
  failures: ['intern_unknown', 'vault_unknown', ...INTERN_FAILURES],
  example: { params: { intern_id: EXAMPLE_INTERN }, body: { name: 'Ada', instructions: null } },
  async run(call, ports) {
    const { params, key, body } = call
    const updated = await ports.interns.update(
      key.organizationId,
      params.intern_id,
      changesOf(body),
      changedBy(call),
    )
    return updated.ok ? ok({ kind: 'json', value: internAnswer(updated.value) }) : updated
  },
})

function changesOf({
  name,
  vault_id: attachedVaultId,
  description,
  instructions,
}: UpdateInternBody): InternChanges {
  return {
    ...(name !== undefined && { name }),
    ...(attachedVaultId !== undefined && { attachedVaultId }),
    ...(description !== undefined && { description }),
    ...(instructions !== undefined && { instructions }),
  }
}
