import type { Static } from 'typebox'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { callLimitsIn } from '../../../schemas/limits/model-calls.ts'
import { KeyAnswer, KeyParams, type UpdateKeyBody } from '../../../schemas/keys/keys.ts'
import type { KeyChanges } from '../../ports/keys/api-keys.ts'
import type { Ports } from '../../ports/ports.ts'
import { actorOf, defineOperation, type Call } from '../define.ts'
import {
  EXAMPLE_HASH,
  KEY_FAILURES,
  KEY_STATUSES_LISTED,
  keyAnswer,
  limitOf,
  remarkOn,
  refOf,
  REMARK_HEADERS,
} from './key-answers.ts'

/** Changes a key; every front applies the change. Source: B2.10, decision C3. */
export const updateKey = defineOperation({
  id: 'keys.update',
  method: 'patch',
  path: '/keys/{hash}',
  tag: 'keys',
  summary: 'Update an API key',
  description:
    'Absent members keep their values; null removes a value. During a rotation, both keys share one limit, and a change applies to both.',
  input: { params: KeyParams, body: 'update_key' },
  success: { status: 200, body: KeyAnswer, headers: REMARK_HEADERS },
  statuses: [...KEY_STATUSES_LISTED, 400],
  failures: ['api_key_unknown', 'body_invalid', 'key_unscoped', ...KEY_FAILURES],
  example: { params: { hash: EXAMPLE_HASH }, body: { limit: 50, disabled: false } },
  async run(call, ports) {
    const refused = await internRefusal(call, ports)
    if (refused !== null) return refused
    const updated = await ports.apiKeys.update(refOf(call), changesOf(call.body), actorOf(call))
    if (!updated.ok) return updated
    const remark = remarkOn(call.body.allowed_models, ports)
    return ok({ kind: 'json', value: { data: keyAnswer(updated.value) }, ...remark })
  },
})

/** Refuses a change of the key's intern instead of ignoring it: the intern of a key never changes. C34. */
async function internRefusal(
  call: Call<Static<typeof KeyParams>, unknown, UpdateKeyBody>,
  { apiKeys }: Pick<Ports, 'apiKeys'>,
): Promise<Outcome<never> | null> {
  const { intern_id: internId } = call.body
  if (internId === undefined) return null
  const found = await apiKeys.get(refOf(call))
  if (!found.ok) return found
  if (found.value.internId === internId) return null
  const expected =
    found.value.internId === null
      ? 'no intern_id; create intern keys with POST /keys'
      : 'the intern_id of the key, or none'
  return fail('body_invalid', {
    metadata: { issues: [{ path: '/intern_id', message: 'cannot be changed', expected }] },
  })
}

export function changesOf(body: UpdateKeyBody): KeyChanges {
  const { name, disabled, limit, limit_reset: limitReset, include_byok_in_limit: countsByok } = body
  const { rate_limit_rpm: rateLimitRpm, rate_limit_burst: rateLimitBurst } = body
  const { allowed_models: allowedModels, scopes } = body
  const callLimits = callLimitsIn(body)
  return {
    ...(name !== undefined && { name }),
    ...(disabled !== undefined && { isDisabled: disabled }),
    ...(limit !== undefined && { limitNano: limitOf(limit) }),
    ...(limitReset !== undefined && { limitReset }),
    ...(countsByok !== undefined && { countsByok }),
    ...(rateLimitRpm !== undefined && { rateLimitRpm }),
    ...(rateLimitBurst !== undefined && { rateLimitBurst }),
    ...(Object.keys(callLimits).length > 0 && { callLimits }),
    ...(allowedModels !== undefined && { allowedModels }),
    ...(scopes !== undefined && { scopes }),
  }
}
