import { CapsAnswer, OrganizationQuery } from '../../../schemas/operator/caps.ts'
import { ok } from '../../../schemas/failures.ts'
import { defineOperation } from '../define.ts'
import { readableOf } from '../named-organization.ts'
import type { CapsState } from '../../ports/operator/admin.ts'

export const CAPS_STATUSES = [400, 403, 404, 500] as const

export function capsAnswer({ organizationId, states }: CapsState): object {
  const members = [...states].map(
    ([what, { cap, used, isOwn }]) => [what, { cap, used, is_own: isOwn }] as const,
  )
  return { organization_id: organizationId, ...Object.fromEntries(members) }
}

/** Reads the caps of an organization and their use. Source: an extension of Sluice; C32, C33. */
export const getCaps = defineOperation({
  id: 'caps.get',
  method: 'get',
  path: '/caps',
  tag: 'workspaces',
  summary: 'Get the caps of an organization',
  input: { query: OrganizationQuery },
  success: { status: 200, body: CapsAnswer },
  statuses: CAPS_STATUSES,
  failures: ['query_invalid', 'operator_only', 'organization_unknown', 'store_unavailable'],
  example: { query: {} },
  async run({ key: { organizationId }, query: { organization_id: namedId } }, ports) {
    const target = await readableOf(organizationId, namedId, ports)
    if (!target.ok) return target
    const found = await ports.caps.read(target.value)
    return found.ok ? ok({ kind: 'json', value: { data: capsAnswer(found.value) } }) : found
  },
})
