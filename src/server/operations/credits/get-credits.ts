import { CreditsAnswer } from '../../../schemas/credits.ts'
import { ok } from '../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../schemas/limits.ts'
import { defineOperation } from '../define.ts'
import { creditTotals } from './credit-answers.ts'

/** Reads what the organization may spend and has spent. Source: B2.10, C14. */
export const getCredits = defineOperation({
  id: 'credits.get',
  method: 'get',
  path: '/credits',
  tag: 'credits',
  summary: 'Get the credit of the organization',
  access: { keys: ['management'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: {},
  success: { status: 200, body: CreditsAnswer },
  statuses: [403, 500],
  failures: ['store_unavailable'],
  example: {},
  async run(call, ports) {
    const found = await ports.credits.get(call.key.organizationId)
    return found.ok ? ok({ kind: 'json', value: { data: creditTotals(found.value) } }) : found
  },
})
