import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  canonicalMembers,
  hasNul,
  isComplex,
  type Attributes,
} from '../../../schemas/scim/scim-attributes.ts'
import type { Filter } from '../../../schemas/scim/scim-filters.ts'
import type { ScimGroupStep, ScimGroupInput } from '../../ports/scim/scim.ts'
import { inOperation, wrongPath, type PatchStep } from './patch-steps.ts'
import { nameOf } from './user-input.ts'

/** The name of a group, which must not be blank. Failure: scim_value_invalid. */
export function groupNameOf(given: unknown): Outcome<string> {
  const name = nameOf('displayName', given)
  if (!name.ok) return name
  return name.value === null || name.value.trim() === ''
    ? fail('scim_value_invalid', { detail: 'A group has no `displayName`.' })
    : ok(name.value)
}

/** The input of a whole group; attribute names are case-insensitive. Failure: scim_value_invalid. */
export function groupInputOf(given: Attributes): Outcome<ScimGroupInput> {
  if (hasNul(given)) return fail('scim_value_invalid', { detail: 'A string contains the character U+0000.' })
  const { displayName, externalId, members } = canonicalMembers(given)
  const [name, external, userIds] = [
    groupNameOf(displayName),
    nameOf('externalId', externalId),
    memberIdsOf(members ?? []),
  ]
  if (!name.ok) return name
  if (!external.ok) return external
  return userIds.ok
    ? ok({ displayName: name.value, externalId: external.value, userIds: userIds.value })
    : userIds
}

/**
 * The steps of a PATCH of a group. The store applies them without reading the members: adding one does not
 * change the others. Consecutive steps of one kind are joined. Failures: as of `patchedUser`.
 */
export function groupStepsOf(
  groupId: string,
  steps: readonly PatchStep[],
): Outcome<readonly ScimGroupStep[]> {
  const wanted: ScimGroupStep[] = []
  for (const step of steps) {
    const made = groupStepOf(groupId, step)
    if (!made.ok) return inOperation(made, step.at)
    if (made.value === null) continue
    const last = wanted.at(-1)
    const isMore =
      last !== undefined &&
      'userIds' in last &&
      'userIds' in made.value &&
      last.kind === made.value.kind &&
      last.kind !== 'replace'
    if (isMore) (last.userIds as string[]).push(...made.value.userIds)
    else
      wanted.push('userIds' in made.value ? { ...made.value, userIds: [...made.value.userIds] } : made.value)
  }
  return ok(wanted)
}

/** Null for a step that groups ignore. */
function groupStepOf(groupId: string, step: PatchStep): Outcome<ScimGroupStep | null> {
  const {
    op,
    path: { extension, attribute, filter, sub },
    value,
    isNamed,
  } = step
  if (extension !== null) return isNamed ? wrongPath() : ok(null)
  if (attribute === 'members') return membersStepOf(step)
  if (attribute === 'schemas') return ok(null)
  if (attribute === 'id' && !isNamed && value === groupId) return ok(null)
  if (attribute === 'id' || attribute === 'meta')
    return fail('scim_immutable', { detail: `The attribute \`${attribute}\` is read-only.` })
  if (filter !== null || sub !== null) return wrongPath()
  if (attribute === 'displayName') {
    const name = groupNameOf(op === 'remove' ? null : value)
    return name.ok ? ok({ kind: 'set', displayName: name.value }) : name
  }
  if (attribute !== 'externalId') return isNamed ? wrongPath() : ok(null)
  const external = nameOf('externalId', op === 'remove' ? null : value)
  return external.ok ? ok({ kind: 'set', externalId: external.value }) : external
}

function membersStepOf({ op, path: { filter, sub }, value }: PatchStep): Outcome<ScimGroupStep> {
  if (sub !== null)
    return fail('scim_immutable', { detail: 'Members can only be added or removed, not changed.' })
  if (filter !== null) {
    const userIds = idsOf(filter)
    return userIds === null || op !== 'remove' ? wrongPath() : ok({ kind: 'remove', userIds })
  }
  // Entra lists the members to remove in the value; without a value all members are removed.
  if (op === 'remove' && (value === undefined || value === null)) return ok({ kind: 'replace', userIds: [] })
  const userIds = memberIdsOf(value)
  return userIds.ok ? ok({ kind: op, userIds: userIds.value }) : userIds
}

/** Ids of `value eq "…" or value eq "…"`; null for any other filter. */
function idsOf(filter: Filter): readonly string[] | null {
  if (filter.op === 'eq')
    return filter.attrPath.toLowerCase() === 'value' && typeof filter.compValue === 'string'
      ? [filter.compValue]
      : null
  if (filter.op !== 'or') return null
  const parts = filter.filters.map(idsOf)
  return parts.includes(null) ? null : parts.flatMap((part) => part ?? [])
}

function memberIdsOf(given: unknown): Outcome<readonly string[]> {
  const ids: string[] = []
  for (const member of (Array.isArray(given) ? given : given === null ? [] : [given]) as readonly unknown[]) {
    const id: unknown = isComplex(member) ? member['value'] : member
    if (typeof id !== 'string' || id === '')
      return fail('scim_value_invalid', { detail: 'A member has no `value`.' })
    ids.push(id)
  }
  return ok(ids)
}
