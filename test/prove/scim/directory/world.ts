import type { Failure, Outcome } from '../../../../src/schemas/failures.ts'
import type { DirectoryActor, GroupMappings } from '../../../../src/server/ports/scim/directory.ts'
import type { ScimGroups, ScimGroupStep, ScimUsers } from '../../../../src/server/ports/scim/scim.ts'
import { addMember, listMembers, removeMember } from '../../../../src/server/store/workspaces/members.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { insertOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { insertWorkspace } from '../../../../src/server/store/workspaces/workspaces.ts'
import { must } from '../../../support/must.ts'
import { until } from '../../../support/nodes/node.ts'
import type { Change } from './oracle.ts'

export interface Deps {
  readonly store: Store
  readonly mappings: GroupMappings
  readonly users: ScimUsers
  readonly groups: ScimGroups
}

/** What a change came to: the id of what it made or names, or why it was refused. */
export type Made = { readonly id: string } | { readonly failure: Failure }

/** An organization with workspaces whose directory is changed through the ports that operations use. */
export class World {
  readonly #deps: Deps
  readonly organizationId: string
  readonly workspaceIds: readonly string[]

  private constructor(deps: Deps, organizationId: string, workspaceIds: readonly string[]) {
    this.#deps = deps
    this.organizationId = organizationId
    this.workspaceIds = workspaceIds
  }

  static async make(deps: Deps, name: string, workspaces: number): Promise<World> {
    return deps.store.sql.begin(async (tx) => {
      const { organization, workspace } = await insertOrganization(tx, name)
      const ids = [workspace.id]
      while (ids.length < workspaces) {
        ids.push(
          (await insertWorkspace(tx, { organizationId: organization.id, name, slug: `w${ids.length}` })).id,
        )
      }
      return new World(deps, organization.id, ids)
    })
  }

  async make(change: Change, requestId: string): Promise<Made> {
    const { organizationId } = this
    const by = {
      actor: { kind: 'key', id: 'f'.repeat(64) },
      requestId,
      operation: `proof.${change.kind}`,
      organizationId,
    } as const
    const made = await this.#run(change, by)
    return made.ok ? { id: made.value } : { failure: made.failure }
  }

  async #run(change: Change, by: DirectoryActor): Promise<Outcome<string>> {
    const { store, mappings, users } = this.#deps
    switch (change.kind) {
      case 'grant':
        return idOf(
          await addMember(
            store,
            { workspace: this.#workspace(change.workspaceId), userName: change.userName, role: change.role },
            by,
          ),
        )
      case 'revoke':
        return idOf(
          await removeMember(
            store,
            { workspace: this.#workspace(change.workspaceId), userName: change.userName },
            by,
          ),
        )
      case 'map':
        return idOf(await mappings.create(change, by))
      case 'set_role':
        return idOf(await mappings.setRole(change.mappingId, change.role, by))
      case 'unmap':
        return none(await mappings.remove(change.mappingId, change.keepMembers, by))
      case 'new_user':
        return idOf(
          await users.create(
            {
              userName: change.userName,
              externalId: null,
              displayName: null,
              isActive: true,
              attributes: {},
            },
            by,
          ),
        )
      case 'set_active': {
        const { isActive } = change
        return idOf(
          await users.update(
            change.userId,
            (before) => ({ ok: true, value: { ...before, isActive } }),
            null,
            by,
          ),
        )
      }
      case 'delete_user':
        return none(await users.remove(change.userId, null, by))
      default:
        return this.#runOnGroup(change, by)
    }
  }

  async #runOnGroup(
    change: Extract<Change, { kind: 'add' | 'remove' | 'replace' | 'rename' | 'new_group' | 'delete_group' }>,
    by: DirectoryActor,
  ): Promise<Outcome<string>> {
    const { groups } = this.#deps
    if (change.kind === 'new_group')
      return idOf(
        await groups.create({ displayName: change.name, externalId: null, userIds: change.userIds }, by),
      )
    if (change.kind === 'delete_group') return none(await groups.remove(change.groupId, null, by))
    const step: ScimGroupStep =
      change.kind === 'rename'
        ? { kind: 'set', displayName: change.name }
        : { kind: change.kind, userIds: change.userIds }
    return idOf(await groups.update(change.groupId, [step], null, by))
  }

  /** Every grant as the oracle writes it. */
  async grants(): Promise<readonly string[]> {
    const rows = await this.#deps.store.sql<{ line: string }[]>`
      SELECT g.workspace_id || ' ' || g.user_id || ' ' || g.source || ' ' || coalesce(g.mapping_id::text, '-') || ' ' || g.role AS line
      FROM member_grants g JOIN users u ON u.id = g.user_id WHERE u.organization_id = ${this.organizationId}`
    return rows.map(({ line }) => line).sort()
  }

  /** Every member as workspaces list them. */
  async members(): Promise<readonly string[]> {
    const lists = await Promise.all(
      this.workspaceIds.map(async (id) => {
        const { rows, totalCount } = await listMembers(this.#deps.store.sql, id, {
          limit: 100_000,
          offset: 0,
        })
        if (rows.length !== totalCount)
          throw new Error(`${totalCount} members are counted, ${rows.length} listed`)
        return rows.map(({ userId, role }) => `${id} ${userId} ${role}`)
      }),
    )
    return lists.flat().sort()
  }

  /** Ids of the requests in the log after row `n`, in the order of their commits. */
  async audited(n: number): Promise<readonly { readonly n: number; readonly requestId: string }[]> {
    const rows = await this.#deps.store.sql<{ n: string; request_id: string }[]>`
      SELECT n, text::jsonb->>'request_id' AS request_id FROM audit WHERE organization_id = ${this.organizationId} AND n > ${n} ORDER BY n`
    return rows.map((row) => ({ n: Number(row.n), requestId: row.request_id }))
  }

  /** Computes everything again, as a runner does. */
  async sync(requestId: string): Promise<void> {
    const { organizationId } = this
    const by = {
      actor: { kind: 'key', id: 'f'.repeat(64) },
      requestId,
      operation: 'proof.sync',
      organizationId,
    } as const
    const { mappings } = this.#deps
    const { id } = must(await mappings.startSync(by))
    await until(
      'the sync job has succeeded',
      async () => must(await mappings.syncJob(organizationId, id)).status === 'succeeded',
    )
  }

  #workspace(id: string): { readonly id: string; readonly organizationId: string } {
    return { id, organizationId: this.organizationId }
  }
}

function idOf(outcome: Outcome<{ readonly id: string }>): Outcome<string> {
  return outcome.ok ? { ok: true, value: outcome.value.id } : outcome
}

function none(outcome: Outcome<null>): Outcome<string> {
  return outcome.ok ? { ok: true, value: '' } : outcome
}
