import { fail, ok } from '../../../schemas/failures.ts'
import { CurrentKeyAnswer } from '../../../schemas/keys/keys.ts'
import { defineOperation } from '../define.ts'
import { currentKeyAnswer, KEY_FAILURES } from './key-answers.ts'

/** Reads the caller's own key. Source: B2.10, decision C4. */
export const getCurrentKey = defineOperation({
  id: 'keys.get_current',
  method: 'get',
  path: '/key',
  tag: 'keys',
  summary: 'Get the current API key',
  access: { keys: ['inference', 'management', 'intern'], keyScopes: [] },
  input: {},
  success: { status: 200, body: CurrentKeyAnswer },
  statuses: [500],
  failures: ['key_unknown', ...KEY_FAILURES],
  example: {},
  async run(call, ports) {
    const { organizationId, hash } = call.key
    const found = await ports.apiKeys.get({ organizationId, hash })
    if (found.ok) return ok({ kind: 'json', value: currentKeyAnswer(found.value) })
    // The key was revoked after the call was admitted.
    return found.failure.name === 'api_key_unknown' ? fail('key_unknown') : found
  },
})
