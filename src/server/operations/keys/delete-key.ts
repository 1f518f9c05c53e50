import { ok } from '../../../schemas/failures.ts'
import { KeyDeletedAnswer, KeyParams } from '../../../schemas/keys/keys.ts'
import { actorOf, defineOperation } from '../define.ts'
import { EXAMPLE_HASH, KEY_FAILURES, KEY_STATUSES_LISTED, refOf } from './key-answers.ts'

/** Deletes a key. Source: B2.10. */
export const deleteKey = defineOperation({
  id: 'keys.delete',
  method: 'delete',
  path: '/keys/{hash}',
  tag: 'keys',
  summary: 'Delete an API key',
  description:
    'Calls with the key are refused at once, even if the key deletes itself. ' +
    'The usage of the key stays on record; another key of the same rotation is not affected.',
  input: { params: KeyParams },
  success: { status: 200, body: KeyDeletedAnswer },
  statuses: KEY_STATUSES_LISTED,
  failures: ['api_key_unknown', ...KEY_FAILURES],
  example: { params: { hash: EXAMPLE_HASH } },
  async run(call, ports) {
    const removed = await ports.apiKeys.remove(refOf(call), actorOf(call))
    return removed.ok ? ok({ kind: 'json', value: { deleted: true } }) : removed
  },
})
