import type { MemberRole, MemberShape } from '../../../../../schemas/workspaces/workspaces.ts'

/** What may be done with a mapping: another role for its members, or its end. */
export type MappingChange = 'admin' | 'member' | 'end' | 'keep'
/** What becomes of a member. */
export type Effect = 'leaves' | 'becomes admin' | 'becomes member' | 'stays'

type Grants = MemberShape['grants']

export interface Previewed {
  readonly member: MemberShape
  readonly effect: Effect
}

/** Those whom a mapping makes members, among those of a workspace. */
export function membersBy(mappingId: string, members: readonly MemberShape[]): readonly MemberShape[] {
  return members.filter(({ grants }) => grants.some((grant) => grant.mapping_id === mappingId))
}

/** The effects of a change of a mapping on its members: of several grants the strongest role counts. */
export function previewOf(
  mappingId: string,
  members: readonly MemberShape[],
  change: MappingChange | null,
): readonly Previewed[] {
  return membersBy(mappingId, members).map((member) => {
    const after = strongest(changed(member.grants, mappingId, change))
    if (after === null) return { member, effect: 'leaves' }
    return { member, effect: after === member.role ? 'stays' : `becomes ${after}` }
  })
}

function changed(grants: Grants, mappingId: string, change: MappingChange | null): Grants {
  // Kept members have their role by hand from then on: the grant is another one, and the role the same.
  if (change === null || change === 'keep') return grants
  if (change === 'end') return grants.filter((grant) => grant.mapping_id !== mappingId)
  return grants.map((grant) => (grant.mapping_id === mappingId ? { ...grant, role: change } : grant))
}

function strongest(grants: Grants): MemberRole | null {
  if (grants.length === 0) return null
  return grants.some(({ role }) => role === 'admin') ? 'admin' : 'member'
}

const ORDER: readonly Effect[] = ['leaves', 'becomes admin', 'becomes member', 'stays']
const MANY: Readonly<Record<Effect, string>> = {
  leaves: 'leave the workspace',
  'becomes admin': 'become admin',
  'becomes member': 'become member',
  stays: 'stay unchanged',
}

/** `2 leave the workspace, 1 stays as it is.` in numbers. */
export function sumOf(previewed: readonly Previewed[]): string {
  const parts = ORDER.flatMap((effect) => {
    const found = previewed.filter((one) => one.effect === effect).length
    return found === 0 ? [] : [`${found} ${MANY[effect]}`]
  })
  return parts.length === 0
    ? 'This mapping adds no members.'
    : `Of ${previewed.length} members: ${parts.join(', ')}.`
}
