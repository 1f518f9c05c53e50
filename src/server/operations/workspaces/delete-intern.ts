import { ok } from '../../../schemas/failures.ts'
import { DeletedInternAnswer, InternParams } from '../../../schemas/workspaces/interns.ts'
import { changedBy, defineOperation } from '../define.ts'
import { EXAMPLE_INTERN, INTERN_FAILURES, INTERN_STATUSES_LISTED, internAnswer } from './intern-access.ts'

/** Removes an intern with its own vault, and revokes its keys. Source: B2.4, decision C6. */
export const deleteIntern = defineOperation({
  id: 'interns.delete',
  method: 'delete',
  path: '/interns/{intern_id}',
  tag: 'interns',
  summary: 'Delete an intern',
  description:
    "Deletes the intern's own vault with all its secrets, and its keys stop working at once. Refused while vault writes are disabled.",
  input: { params: InternParams },
  success: { status: 202, body: DeletedInternAnswer },
  tellsReason: true,
  statuses: INTERN_STATUSES_LISTED,
  failures: ['intern_unknown', 'vault_writes_disabled', ...INTERN_FAILURES],
  example: { params: { intern_id: EXAMPLE_INTERN } },
  async run(call, ports) {
    const removed = await ports.interns.remove(
      call.key.organizationId,
      call.params.intern_id,
      changedBy(call),
    )
    // No later reply shows this intern.
    return removed.ok
      ? ok({
          kind: 'json',
          value: { ...internAnswer({ ...removed.value, status: 'destroying' }), deleting: true },
        })
      : removed
  },
})
