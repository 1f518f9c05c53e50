import { ok } from '../../../schemas/failures.ts'
import { KeyAnswer, KeyParams } from '../../../schemas/keys/keys.ts'
import { defineOperation } from '../define.ts'
import { EXAMPLE_HASH, KEY_FAILURES, KEY_STATUSES_LISTED, keyAnswer, refOf } from './key-answers.ts'

/** Reads a key of the organization by its hash. Source: B2.10. */
export const getKey = defineOperation({
  id: 'keys.get',
  method: 'get',
  path: '/keys/{hash}',
  tag: 'keys',
  summary: 'Get an API key',
  input: { params: KeyParams },
  success: { status: 200, body: KeyAnswer },
  statuses: KEY_STATUSES_LISTED,
  failures: ['api_key_unknown', ...KEY_FAILURES],
  example: { params: { hash: EXAMPLE_HASH } },
  async run(call, ports) {
    const found = await ports.apiKeys.get(refOf(call))
    return found.ok ? ok({ kind: 'json', value: { data: keyAnswer(found.value) } }) : found
  },
})
