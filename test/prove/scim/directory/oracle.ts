import type { FailureName } from '../../../../src/schemas/failures.ts'
import type { MemberRole } from '../../../../src/schemas/workspaces/workspaces.ts'

/** One change of a directory, by ids that may be gone when it is made. */
export type Change =
  | {
      readonly kind: 'grant' | 'revoke'
      readonly workspaceId: string
      readonly userName: string
      readonly role: MemberRole
    }
  | {
      readonly kind: 'map'
      readonly groupId: string
      readonly workspaceId: string
      readonly role: MemberRole
    }
  | { readonly kind: 'set_role'; readonly mappingId: string; readonly role: MemberRole }
  | { readonly kind: 'unmap'; readonly mappingId: string; readonly keepMembers: boolean }
  | {
      readonly kind: 'add' | 'remove' | 'replace'
      readonly groupId: string
      readonly userIds: readonly string[]
    }
  | { readonly kind: 'rename'; readonly groupId: string; readonly name: string }
  | { readonly kind: 'new_group'; readonly name: string; readonly userIds: readonly string[] }
  | { readonly kind: 'delete_group'; readonly groupId: string }
  | { readonly kind: 'new_user'; readonly userName: string }
  | { readonly kind: 'set_active'; readonly userId: string; readonly isActive: boolean }
  | { readonly kind: 'delete_user'; readonly userId: string }

/** What a change alone comes to. */
export type Expected = 'changed' | 'same' | FailureName

/**
 * What the contract makes of a directory (B1.5, B1.6, B2.5), by sets in memory; written without a look at the
 * store.
 */
export class Oracle {
  readonly users = new Map<string, { readonly name: string; isActive: boolean }>()
  readonly groups = new Map<string, { name: string; members: Set<string> }>()
  readonly mappings = new Map<
    string,
    { readonly groupId: string; readonly workspaceId: string; role: MemberRole }
  >()
  /** By workspace and user. */
  readonly manual = new Map<string, MemberRole>()

  expect(change: Change): Expected {
    switch (change.kind) {
      case 'grant': {
        const user = this.userOf(change.userName)
        return user !== null && this.manual.get(pair(change.workspaceId, user)) === change.role
          ? 'same'
          : 'changed'
      }
      case 'revoke': {
        const user = this.userOf(change.userName)
        return user !== null && this.manual.has(pair(change.workspaceId, user)) ? 'changed' : 'user_unknown'
      }
      case 'map': {
        if (!this.groups.has(change.groupId)) return 'scim_group_unknown'
        const there = [...this.mappings.values()].find(
          ({ groupId, workspaceId }) => groupId === change.groupId && workspaceId === change.workspaceId,
        )
        if (there === undefined) return 'changed'
        return there.role === change.role ? 'same' : 'mapping_role_differs'
      }
      case 'set_role': {
        const mapping = this.mappings.get(change.mappingId)
        if (mapping === undefined) return 'mapping_unknown'
        return mapping.role === change.role ? 'same' : 'changed'
      }
      case 'unmap':
        return this.mappings.has(change.mappingId) ? 'changed' : 'mapping_unknown'
      case 'new_user':
        return this.userOf(change.userName) === null ? 'changed' : 'scim_user_taken'
      case 'set_active': {
        const user = this.users.get(change.userId)
        if (user === undefined) return 'user_unknown'
        return user.isActive === change.isActive ? 'same' : 'changed'
      }
      case 'delete_user':
        return this.users.has(change.userId) ? 'changed' : 'user_unknown'
      default:
        return this.#expectOfGroup(change)
    }
  }

  #expectOfGroup(
    change: Extract<Change, { kind: 'add' | 'remove' | 'replace' | 'rename' | 'new_group' | 'delete_group' }>,
  ): Expected {
    const isTaken = (name: string): boolean => [...this.groups.values()].some((group) => group.name === name)
    const isUnknown = (userIds: readonly string[]): boolean => userIds.some((id) => !this.users.has(id))
    if (change.kind === 'new_group') {
      if (isTaken(change.name)) return 'scim_group_taken'
      return isUnknown(change.userIds) ? 'scim_member_unknown' : 'changed'
    }
    const group = this.groups.get(change.groupId)
    if (group === undefined) return 'scim_group_unknown'
    switch (change.kind) {
      case 'delete_group':
        return 'changed'
      case 'rename':
        if (group.name === change.name) return 'same'
        return isTaken(change.name) ? 'scim_group_taken' : 'changed'
      case 'add':
        if (isUnknown(change.userIds)) return 'scim_member_unknown'
        return change.userIds.every((id) => group.members.has(id)) ? 'same' : 'changed'
      case 'remove':
        return change.userIds.some((id) => group.members.has(id)) ? 'changed' : 'same'
      case 'replace':
        if (isUnknown(change.userIds)) return 'scim_member_unknown'
        return new Set(change.userIds).size === group.members.size &&
          change.userIds.every((id) => group.members.has(id))
          ? 'same'
          : 'changed'
    }
  }

  /** @param made id of what it made, or of the user that it names */
  apply(change: Change, made: string): void {
    switch (change.kind) {
      case 'grant':
        if (!this.users.has(made)) this.users.set(made, { name: change.userName, isActive: true })
        this.manual.set(pair(change.workspaceId, made), change.role)
        return
      case 'revoke':
        this.manual.delete(pair(change.workspaceId, made))
        return
      case 'map':
        this.mappings.set(made, {
          groupId: change.groupId,
          workspaceId: change.workspaceId,
          role: change.role,
        })
        return
      case 'set_role': {
        const mapping = this.mappings.get(change.mappingId)
        if (mapping !== undefined) mapping.role = change.role
        return
      }
      case 'unmap':
        if (change.keepMembers) this.#keep(change.mappingId)
        this.mappings.delete(change.mappingId)
        return
      case 'new_user':
        this.users.set(made, { name: change.userName, isActive: true })
        return
      case 'set_active': {
        const user = this.users.get(change.userId)
        if (user !== undefined) user.isActive = change.isActive
        return
      }
      case 'delete_user':
        this.users.delete(change.userId)
        for (const group of this.groups.values()) group.members.delete(change.userId)
        for (const key of [...this.manual.keys()]) if (key.endsWith(change.userId)) this.manual.delete(key)
        return
      default:
        this.#applyToGroup(change, made)
    }
  }

  #applyToGroup(
    change: Extract<Change, { kind: 'add' | 'remove' | 'replace' | 'rename' | 'new_group' | 'delete_group' }>,
    made: string,
  ): void {
    if (change.kind === 'new_group') {
      this.groups.set(made, { name: change.name, members: new Set(change.userIds) })
      return
    }
    const group = this.groups.get(change.groupId)
    if (group === undefined) return
    switch (change.kind) {
      case 'rename':
        group.name = change.name
        return
      case 'add':
        for (const id of change.userIds) group.members.add(id)
        return
      case 'remove':
        for (const id of change.userIds) group.members.delete(id)
        return
      case 'replace':
        group.members = new Set(change.userIds)
        return
      case 'delete_group':
        this.groups.delete(change.groupId)
        for (const [id, mapping] of this.mappings)
          if (mapping.groupId === change.groupId) this.mappings.delete(id)
    }
  }

  /** Who is a member by the mapping stays one by hand, with the stronger role. */
  #keep(mappingId: string): void {
    const mapping = this.mappings.get(mappingId)
    if (mapping === undefined) return
    for (const userId of this.#granted(mapping.groupId)) {
      const key = pair(mapping.workspaceId, userId)
      this.manual.set(key, this.manual.get(key) === 'admin' ? 'admin' : mapping.role)
    }
  }

  /** Every grant, as a line; sorted. */
  grants(): readonly string[] {
    const lines = [...this.manual].map(([key, role]) => `${key} manual - ${role}`)
    for (const [id, { groupId, workspaceId, role }] of this.mappings) {
      for (const userId of this.#granted(groupId))
        lines.push(`${pair(workspaceId, userId)} mapping ${id} ${role}`)
    }
    return lines.sort()
  }

  /** Every member of every workspace with the role that counts, as a line; sorted. */
  members(): readonly string[] {
    const roles = new Map<string, MemberRole>()
    for (const line of this.grants()) {
      const [workspaceId = '', userId = '', , , role] = line.split(' ')
      if (this.users.get(userId)?.isActive !== true) continue
      const key = pair(workspaceId, userId)
      if (roles.get(key) !== 'admin') roles.set(key, role === 'admin' ? 'admin' : 'member')
    }
    return [...roles].map(([key, role]) => `${key} ${role}`).sort()
  }

  userOf(name: string): string | null {
    for (const [id, user] of this.users) if (user.name === name) return id
    return null
  }

  /** Members of a group that are active. */
  #granted(groupId: string): readonly string[] {
    return [...(this.groups.get(groupId)?.members ?? [])].filter(
      (id) => this.users.get(id)?.isActive === true,
    )
  }
}

function pair(workspaceId: string, userId: string): string {
  return `${workspaceId} ${userId}`
}
