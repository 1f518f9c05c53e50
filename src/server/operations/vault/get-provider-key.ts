import { ok } from '../../../schemas/failures.ts'
import { ProviderKeyAnswer, ProviderKeyParams } from '../../../schemas/workspaces/byok.ts'
import { defineOperation } from '../define.ts'
import {
  EXAMPLE_KEY_ID,
  keyAt,
  placeOf,
  PROVIDER_KEY_FAILURES,
  providerKeyAnswer,
} from './provider-key-view.ts'

/** Reads the metadata of one of a workspace's own keys for providers. Source: B2.11. */
export const getProviderKey = defineOperation({
  id: 'byok.get',
  method: 'get',
  path: '/byok/{id}',
  tag: 'byok',
  summary: 'Get a provider key',
  input: { params: ProviderKeyParams },
  success: { status: 200, body: ProviderKeyAnswer },
  statuses: [403, 404, 500],
  failures: PROVIDER_KEY_FAILURES,
  example: { params: { id: EXAMPLE_KEY_ID } },
  async run(call, ports) {
    const place = await placeOf(call, ports)
    if (!place.ok) return place
    const { workspace, taker } = place.value
    const secret = await keyAt(place.value, ports)
    return secret.ok
      ? ok({ kind: 'json', value: { data: providerKeyAnswer(workspace.id, taker, secret.value) } })
      : secret
  },
})
