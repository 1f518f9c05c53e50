import { ok } from '../../../schemas/failures.ts'
import { InternAnswer, InternParams } from '../../../schemas/workspaces/interns.ts'
import { defineOperation } from '../define.ts'
import { EXAMPLE_INTERN, INTERN_FAILURES, INTERN_STATUSES_LISTED, internAnswer } from './intern-access.ts'

/** Reads the record of an intern. Source: B2.4. */
export const getIntern = defineOperation({
  id: 'interns.get',
  method: 'get',
  path: '/interns/{intern_id}',
  tag: 'interns',
  summary: 'Get an intern',
  input: { params: InternParams },
  success: { status: 200, body: InternAnswer },
  tellsReason: true,
  statuses: INTERN_STATUSES_LISTED,
  failures: ['intern_unknown', ...INTERN_FAILURES],
  example: { params: { intern_id: EXAMPLE_INTERN } },
  async run(call, ports) {
    const intern = await ports.interns.get(call.key.organizationId, call.params.intern_id)
    return intern.ok ? ok({ kind: 'json', value: internAnswer(intern.value) }) : intern
  },
})
