import { CapsAnswer, OrganizationQuery } from '../../../schemas/operator/caps.ts'
import { ok } from '../../../schemas/failures.ts'
import { actorOf, defineOperation } from '../define.ts'
import { namedOrganization } from '../named-organization.ts'
import { CAPS_STATUSES, capsAnswer } from './get-caps.ts'

/** Sets the caps of an organization. Source: an extension of Sluice; C32, C33. */
export const updateCaps = defineOperation({
  id: 'caps.update',
  method: 'patch',
  path: '/caps',
  tag: 'workspaces',
  summary: 'Update the caps of an organization',
  description:
    "Only keys of the operator's organization may change caps. Absent members keep their values; null restores the " +
    'default of the installation. Existing objects above a cap are kept.',
  input: { query: OrganizationQuery, body: 'caps' },
  success: { status: 200, body: CapsAnswer },
  statuses: CAPS_STATUSES,
  failures: ['body_invalid', 'query_invalid', 'operator_only', 'organization_unknown', 'store_unavailable'],
  example: { query: {}, body: { workspaces: 200, api_keys: null } },
  async run(call, ports) {
    const { workspaces, api_keys: keys, interns, vaults, secrets } = call.body
    const named = namedOrganization(call.query, call.body)
    if (!named.ok) return named
    const target = await ports.operators.targetOf(call.key.organizationId, named.value)
    if (!target.ok) return target
    const changes = {
      ...(workspaces !== undefined && { workspaces }),
      ...(keys !== undefined && { api_keys: keys }),
      ...(interns !== undefined && { interns }),
      ...(vaults !== undefined && { vaults }),
      ...(secrets !== undefined && { secrets }),
    }
    const changed = await ports.caps.update(target.value, changes, actorOf(call))
    return changed.ok ? ok({ kind: 'json', value: { data: capsAnswer(changed.value) } }) : changed
  },
})
