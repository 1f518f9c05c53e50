import type { CapsState } from '../../ports/operator/caps.ts'

export const CAPS_STATUSES = [400, 403, 404, 500] as const

export function capsAnswer({ organizationId, states }: CapsState): object {
  const members = [...states].map(
    ([what, { cap, used, isOwn }]) => [what, { cap, used, is_own: isOwn }] as const,
  )
  return { organization_id: organizationId, ...Object.fromEntries(members) }
}
