import { AdminSessionAnswer } from '../../../schemas/operator/admin.ts'
import { fail, ok } from '../../../schemas/failures.ts'
import { defineOperation } from '../define.ts'

/** Returns the identity of the caller, a management key of the operator's organization. Source: an extension of Sluice; C4. */
export const getAdminSession = defineOperation({
  id: 'admin.get_session',
  method: 'get',
  path: '/admin/session',
  tag: 'admin',
  summary: 'Get the operator session',
  description:
    "For management keys of the operator's organization only. The dashboard uses this operation to decide who may see the node.",
  input: {},
  success: { status: 200, body: AdminSessionAnswer },
  statuses: [403, 500],
  failures: ['operator_only', 'key_unknown', 'store_unavailable'],
  example: {},
  async run({ key }, { admin, apiKeys }) {
    const session = await admin.session(key.organizationId)
    if (!session.ok) return session
    const found = await apiKeys.get({ organizationId: key.organizationId, hash: key.hash })
    // The key was revoked after the call was admitted.
    if (!found.ok) return found.failure.name === 'api_key_unknown' ? fail('key_unknown') : found
    const { hash, name, label } = found.value
    return ok({ kind: 'json', value: { data: { ...session.value, key: { hash, name, label } } } })
  },
})
