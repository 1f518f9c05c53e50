import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { Secret } from '../../../schemas/vault/secret.ts'
import {
  ProviderKeyAnswer,
  ProviderKeyParams,
  type UpdateProviderKeyBody,
} from '../../../schemas/workspaces/byok.ts'
import type { Ports } from '../../ports/ports.ts'
import type { SecretMetadata } from '../../ports/vault/vault.ts'
import { actorOf, defineOperation, type Call } from '../define.ts'
import {
  EXAMPLE_KEY_ID,
  keyAt,
  mayWrite,
  placeOf,
  PROVIDER_KEY_FAILURES,
  PROVIDER_KEY_WRITE_FAILURES,
  providerKeyAnswer,
  replaceableAt,
  rulesOf,
  vaultOf,
  type KeyPlace,
} from './provider-key-view.ts'
import { SEALING_FAILURES } from './vault-scope.ts'

/** Replaces a workspace's own key for a provider. Source: B2.11. */
export const updateProviderKey = defineOperation({
  id: 'byok.update',
  method: 'patch',
  path: '/byok/{id}',
  tag: 'byok',
  summary: 'Update a provider key',
  description:
    'With `key`, replaces the key from the next call on and binds it only to the host of the provider. A secret with ' +
    'the same name that is not a provider key is replaced too.',
  input: { params: ProviderKeyParams, body: 'byok_update' },
  success: { status: 200, body: ProviderKeyAnswer },
  statuses: [400, 403, 404, 500, 503],
  failures: ['body_invalid', ...PROVIDER_KEY_FAILURES, ...PROVIDER_KEY_WRITE_FAILURES, ...SEALING_FAILURES],
  example: { params: { id: EXAMPLE_KEY_ID }, body: { key: 'sk-9876543210' } },
  async run(call, ports) {
    const place = await placeOf(call, ports)
    if (!place.ok) return place
    const { workspace, taker } = place.value
    const rules = rulesOf(call.body, taker)
    if (!rules.ok) return rules
    const findAt = call.body.key === undefined ? keyAt : replaceableAt
    const secret = await findAt(place.value, ports)
    if (!secret.ok) return secret
    const now = await replaced(call, ports, { ...place.value, secret: secret.value })
    return now.ok
      ? ok({ kind: 'json', value: { data: providerKeyAnswer(workspace.id, taker, now.value) } })
      : now
  },
})

/** The secret after the update; unchanged without `key`. */
async function replaced(
  call: Call<unknown, unknown, UpdateProviderKeyBody>,
  { vaults }: Pick<Ports, 'vaults'>,
  { workspace, taker, secret }: KeyPlace & { readonly secret: SecretMetadata },
): Promise<Outcome<SecretMetadata>> {
  const { key } = call.body
  if (key === undefined) return ok(secret)
  const allowed = mayWrite(workspace)
  if (!allowed.ok) return allowed
  const stored = await vaults.put(
    vaultOf(workspace),
    // A holder of `vault:write` may have chosen the hosts of the earlier value: the new value must not be sent to them.
    { name: secret.name, hosts: [taker.host], value: new Secret(key), expects: 'present' },
    actorOf(call),
  )
  // The secret was deleted between the read and the write.
  return !stored.ok && stored.failure.name === 'secret_unknown' ? fail('provider_key_unknown') : stored
}
