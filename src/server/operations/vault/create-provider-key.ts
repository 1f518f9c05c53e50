import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { hintOf, nearest, shown } from '../../../schemas/nearest.ts'
import { Secret } from '../../../schemas/vault/secret.ts'
import { ProviderKeyAnswer, providerKeyId } from '../../../schemas/workspaces/byok.ts'
import { actorOf, defineOperation, ownWorkspaceOf } from '../define.ts'
import {
  holderOf,
  keyTakers,
  mayWrite,
  PROVIDER_KEY_WRITE_FAILURES,
  providerKeyAnswer,
  rulesOf,
  vaultOf,
  type KeyTaker,
} from './provider-key-view.ts'
import { SEALING_FAILURES } from './vault-scope.ts'

/** Stores a workspace's own key for a provider in its vault. Source: B2.11. */
export const createProviderKey = defineOperation({
  id: 'byok.create',
  method: 'post',
  path: '/byok',
  tag: 'byok',
  summary: 'Create a provider key',
  description:
    "Encrypts the key in the workspace's vault, bound to the provider's host; the key is write-only. A " +
    'workspace has one key per provider: a second key is refused.',
  input: { body: 'byok_create' },
  success: { status: 201, body: ProviderKeyAnswer },
  statuses: [400, 403, 500, 503],
  failures: [
    'body_invalid',
    'workspace_unknown',
    'provider_key_exists',
    'store_unavailable',
    ...PROVIDER_KEY_WRITE_FAILURES,
    ...SEALING_FAILURES,
  ],
  example: { body: { provider: 'openai', key: 'sk-0123456789' } },
  async run(call, { models, vaults, workspaces }) {
    const { body, key } = call
    const takers = keyTakers(models)
    const taker = takerOf(body.provider, takers)
    if (!taker.ok) return taker
    const { host, secretName: name } = taker.value
    const rules = rulesOf(body, taker.value)
    if (!rules.ok) return rules
    const reference = body.workspace_id ?? ownWorkspaceOf(key)
    const workspace = await workspaces.get({ organizationId: key.organizationId, reference })
    if (!workspace.ok) return workspace
    const allowed = mayWrite(workspace.value)
    if (!allowed.ok) return allowed
    const stored = await vaults.put(
      vaultOf(workspace.value),
      { name, hosts: [host], value: new Secret(body.key), expects: 'absent' },
      actorOf(call),
    )
    const workspaceId = workspace.value.id
    if (stored.ok)
      return ok({ kind: 'json', value: { data: providerKeyAnswer(workspaceId, taker.value, stored.value) } })
    if (stored.failure.name !== 'secret_exists') return stored
    const there = await vaults.among(vaultOf(workspace.value), [name])
    if (!there.ok) return there
    const provider = holderOf(there.value[0] ?? { hosts: null }, taker.value, takers)
    const id = providerKeyId({ workspaceId, provider })
    return fail('provider_key_exists', { fields: { secret: name, id, provider } })
  },
})

function takerOf(slug: string, takers: readonly KeyTaker[]): Outcome<KeyTaker> {
  const taker = takers.find((one) => one.slug === slug)
  if (taker !== undefined) return ok(taker)
  const near = hintOf(
    nearest(
      slug,
      takers.map((one) => one.slug),
    ),
  )
  return fail('body_invalid', {
    detail: `The provider ${shown(slug)} is unknown, or does not accept workspace keys.${near}`,
    metadata: {
      issues: [
        {
          path: '/provider',
          message: 'does not accept workspace keys',
          expected: 'a slug of `GET /api/v1/providers`',
        },
      ],
    },
  })
}
