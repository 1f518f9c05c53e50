import { ok, type Outcome } from '../../../schemas/failures.ts'
import { KeyParams, RotatedKeyAnswer, type RotateKeyBody } from '../../../schemas/keys/keys.ts'
import { KEY_OVERLAP_S_DEFAULT } from '../../../schemas/keys/key-limits.ts'
import type { Rotation } from '../../ports/keys/api-keys.ts'
import { actorOf, defineOperation } from '../define.ts'
import {
  EXAMPLE_HASH,
  expiryFrom,
  KEY_FAILURES,
  KEY_STATUSES_LISTED,
  keyAnswer,
  refOf,
} from './key-answers.ts'

/** Replaces a key by a new one; the old key stays valid for a while. An extension of Sluice; decisions C6, C16. */
export const rotateKey = defineOperation({
  id: 'keys.rotate',
  method: 'post',
  path: '/keys/{hash}/rotate',
  tag: 'keys',
  summary: 'Rotate an API key',
  description:
    'The new key takes over all settings, the usage and the limit of the old key. The old key works until the ' +
    'overlap ends, or until it expires. The new key is returned only in this response, so the `Idempotency-Key` header ' +
    'is not accepted.',
  idempotent: 'refused',
  input: { params: KeyParams, body: 'rotate_key' },
  success: { status: 200, body: RotatedKeyAnswer },
  statuses: [...KEY_STATUSES_LISTED, 400],
  failures: ['api_key_unknown', 'body_invalid', 'quota_exceeded', ...KEY_FAILURES],
  example: { params: { hash: EXAMPLE_HASH }, body: { overlap_seconds: 3_600 } },
  async run(call, ports) {
    const request = rotationOf(call.body)
    if (!request.ok) return request
    const rotated = await ports.apiKeys.rotate(refOf(call), request.value, actorOf(call))
    if (!rotated.ok) return rotated
    const { apiKey, key, previous } = rotated.value
    return ok({
      kind: 'json',
      value: {
        data: keyAnswer(apiKey),
        key,
        previous: { hash: previous.hash, expires_at: previous.expiresAt.toISOString() },
      },
    })
  },
})

/** Failure: body_invalid. */
export function rotationOf({
  overlap_seconds: overlapS = KEY_OVERLAP_S_DEFAULT,
  expires_at: text,
}: RotateKeyBody): Outcome<Rotation> {
  if (text === undefined) return ok({ overlapS })
  const expiresAt = expiryFrom(text)
  return expiresAt.ok ? ok({ overlapS, expiresAt: expiresAt.value }) : expiresAt
}
