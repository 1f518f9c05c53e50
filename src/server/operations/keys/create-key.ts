import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { ApiKeyKind } from '../../../schemas/keys/api-keys.ts'
import { NewKeyAnswer, type CreateKeyBody } from '../../../schemas/keys/keys.ts'
import { callLimitsIn } from '../../../schemas/limits/model-calls.ts'
import type { NewApiKey } from '../../ports/keys/api-keys.ts'
import { actorOf, defineOperation, ownWorkspaceOf } from '../define.ts'
import {
  expiryFrom,
  KEY_FAILURES,
  keyAnswer,
  limitOf,
  remarkOn,
  REMARK_HEADERS,
  wrongMember,
} from './key-answers.ts'

/** Creates a key; only this reply shows it. Source: B2.10, decisions C6, C9, C16. */
export const createKey = defineOperation({
  id: 'keys.create',
  method: 'post',
  path: '/keys',
  tag: 'keys',
  summary: 'Create an API key',
  description: 'The key is returned only in this response, so the `Idempotency-Key` header is not accepted.',
  idempotent: 'refused',
  input: { body: 'create_key' },
  success: { status: 201, body: NewKeyAnswer, headers: REMARK_HEADERS },
  statuses: [400, 403, 404, 429, 500],
  failures: [
    'body_invalid',
    'workspace_unknown',
    'intern_unknown',
    'key_unscoped',
    'quota_exceeded',
    ...KEY_FAILURES,
  ],
  example: { body: { name: 'Team search', limit: 25, limit_reset: 'monthly', allowed_models: ['openai/*'] } },
  async run(call, ports) {
    const { body, key } = call
    const described = descriptionOf(body)
    if (!described.ok) return described
    const workspace = described.value.kind === 'inference' ? (body.workspace_id ?? ownWorkspaceOf(key)) : null
    const input = { ...described.value, organizationId: key.organizationId, workspace }
    const made = await ports.apiKeys.create(input, actorOf(call))
    return made.ok
      ? ok({
          kind: 'json',
          value: { data: keyAnswer(made.value.apiKey), key: made.value.key },
          ...remarkOn(body.allowed_models, ports),
        })
      : made
  },
})

/** A new key without its organization and workspace. */
export type KeyDescription = Omit<NewApiKey, 'organizationId' | 'workspace'>

/** The key that a body describes. Failures: body_invalid, key_unscoped. */
export function descriptionOf(body: CreateKeyBody): Outcome<KeyDescription> {
  const kind = body.kind ?? (body.intern_id === undefined ? 'inference' : 'intern')
  const mismatch = mismatchIn(body, kind)
  if (mismatch !== null) return mismatch
  const expiresAt = expiryFrom(body.expires_at ?? null)
  if (!expiresAt.ok) return expiresAt
  return ok({
    kind,
    name: body.name,
    internId: body.intern_id ?? null,
    ...(body.disabled !== undefined && { isDisabled: body.disabled }),
    limitNano: limitOf(body.limit ?? null),
    limitReset: body.limit_reset ?? null,
    countsByok: body.include_byok_in_limit ?? false,
    ...(body.rate_limit_rpm !== undefined && { rateLimitRpm: body.rate_limit_rpm }),
    rateLimitBurst: body.rate_limit_burst ?? null,
    callLimits: callLimitsIn(body),
    allowedModels: body.allowed_models ?? null,
    scopes: body.scopes ?? null,
    creatorUserId: body.creator_user_id ?? null,
    externalUser: body.external?.user ?? null,
    expiresAt: expiresAt.value,
  })
}

/** Refuses members that the kind does not support: an unsupported member is never ignored. C34. */
function mismatchIn(
  { workspace_id: workspaceId, intern_id: internId, scopes }: CreateKeyBody,
  kind: ApiKeyKind,
): Outcome<never> | null {
  if (kind === 'intern' && internId === undefined)
    return wrongMember('/intern_id', 'is missing', 'the id of the intern that owns the key')
  if (kind !== 'intern' && internId !== undefined)
    return wrongMember('/intern_id', `is not allowed for a key of the kind ${kind}`, 'the kind `intern`')
  if (kind === 'management' && Array.isArray(scopes)) return fail('key_unscoped')
  if (kind === 'inference' || workspaceId === undefined) return null
  const expected =
    kind === 'intern'
      ? "no value: the key acts in its intern's workspace"
      : 'no value: the key belongs to the organization'
  return wrongMember(
    '/workspace_id',
    `is not allowed for ${kind === 'intern' ? 'an intern' : 'a management'} key`,
    expected,
  )
}
