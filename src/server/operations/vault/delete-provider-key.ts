import { fail, ok } from '../../../schemas/failures.ts'
import { DeletedProviderKeyAnswer, ProviderKeyParams } from '../../../schemas/workspaces/byok.ts'
import { actorOf, defineOperation } from '../define.ts'
import {
  EXAMPLE_KEY_ID,
  keyAt,
  mayWrite,
  placeOf,
  PROVIDER_KEY_FAILURES,
  PROVIDER_KEY_WRITE_FAILURES,
  vaultOf,
} from './provider-key-view.ts'

/** Deletes a workspace's own key for a provider. Source: B2.11. */
export const deleteProviderKey = defineOperation({
  id: 'byok.delete',
  method: 'delete',
  path: '/byok/{id}',
  tag: 'byok',
  summary: 'Delete a provider key',
  description: "Deletes the secret from the vault; later calls use the operator's key again.",
  input: { params: ProviderKeyParams },
  success: { status: 200, body: DeletedProviderKeyAnswer },
  statuses: [403, 404, 500, 503],
  failures: [...PROVIDER_KEY_FAILURES, ...PROVIDER_KEY_WRITE_FAILURES],
  example: { params: { id: EXAMPLE_KEY_ID } },
  async run(call, ports) {
    const place = await placeOf(call, ports)
    if (!place.ok) return place
    const { workspace } = place.value
    const secret = await keyAt(place.value, ports)
    if (!secret.ok) return secret
    const allowed = mayWrite(workspace)
    if (!allowed.ok) return allowed
    const by = actorOf(call)
    const removed = await ports.vaults.remove(vaultOf(workspace), secret.value.name, by)
    if (removed.ok) return ok({ kind: 'json', value: { deleted: true } })
    return removed.failure.name === 'secret_unknown' ? fail('provider_key_unknown') : removed
  },
})
