import { fail } from '../../../schemas/failures.ts'
import { InternAnswer, InternParams } from '../../../schemas/workspaces/interns.ts'
import { defineOperation } from '../define.ts'
import { EXAMPLE_INTERN, INTERN_FAILURES, INTERN_STATUSES_LISTED, NOT_RUN } from './intern-access.ts'

/** Refused: Sluice keeps records of interns and does not run them. Source: B2.4. */
export const provisionIntern = defineOperation({
  id: 'interns.provision',
  method: 'post',
  path: '/interns/{intern_id}/provision',
  tag: 'interns',
  summary: 'Provision an intern: not supported',
  outlivesClient: false,
  input: { params: InternParams },
  success: { status: 202, body: InternAnswer },
  tellsReason: true,
  statuses: INTERN_STATUSES_LISTED,
  failures: ['intern_unknown', 'not_supported', ...INTERN_FAILURES],
  example: { params: { intern_id: EXAMPLE_INTERN } },
  async run(call, ports) {
    const intern = await ports.interns.get(call.key.organizationId, call.params.intern_id)
    return intern.ok ? fail('not_supported', { detail: NOT_RUN }) : intern
  },
})
