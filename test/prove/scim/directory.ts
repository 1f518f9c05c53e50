/**
 * Whatever people and identity providers do, in whatever order and at once, members are those that an oracle
 * says.
 */
import { MEMBER_ROLES, type MemberRole } from '../../../src/schemas/workspaces/workspaces.ts'
import { openTestStore } from '../../support/stores/postgres.ts'
import { Oracle, type Change } from './directory/oracle.ts'
import { openDeps } from './directory/deps.ts'
import { World, type Made } from './directory/world.ts'
import type { Program, Proof } from '../proof.ts'

interface Size {
  readonly name: string
  readonly changes: number
  /** Changes between two comparisons at least. */
  readonly comparedEach: number
  readonly users: number
  readonly groups: number
  readonly workspaces: number
}

const FULL: readonly Size[] = [
  { name: 'compared at each', changes: 5_000, comparedEach: 1, users: 12, groups: 4, workspaces: 3 },
  {
    name: 'compared at each 100th',
    changes: 100_000,
    comparedEach: 100,
    users: 40,
    groups: 8,
    workspaces: 5,
  },
]
const SHORT: readonly Size[] = [
  { name: 'compared at each', changes: 400, comparedEach: 1, users: 12, groups: 4, workspaces: 3 },
  { name: 'compared at each 100th', changes: 1_500, comparedEach: 100, users: 40, groups: 8, workspaces: 5 },
]
const CONNECTIONS = 8
/** Of ten steps one is a burst of so many changes at once. */
const BURST_MAX = 8
/** Steps between two jobs that compute everything again. */
const SYNC_EACH = 500

export const program: Program = {
  text: '100,000 changes of grants, mappings, groups and users, one by one and at once, compared with an oracle',
  async run(proof) {
    const store = await openTestStore(proof, CONNECTIONS)
    const deps = openDeps(proof, store)
    for (const size of proof.isShort ? SHORT : FULL) {
      const world = await World.make(deps, size.name, size.workspaces)
      await new Run({ proof, size, world }).whole()
    }
  },
}

interface RunDeps {
  readonly proof: Proof
  readonly size: Size
  readonly world: World
}

class Run {
  readonly #deps: RunDeps
  readonly #oracle = new Oracle()
  readonly #wrong: string[] = []
  #made = 0
  #changed = 0
  #bursts = 0
  #compared = 0
  #logged = 0

  constructor(deps: RunDeps) {
    this.#deps = deps
  }

  async whole(): Promise<void> {
    const { proof, size } = this.#deps
    const startedAt = performance.now()
    let step = 0
    let due = size.comparedEach
    while (this.#made < size.changes && this.#wrong.length === 0) {
      await (proof.random(10) === 0 ? this.#burst(2 + proof.random(BURST_MAX - 1)) : this.#one())
      if (++step % SYNC_EACH === 0) await this.#sync()
      if (this.#made < due) continue
      due = this.#made + size.comparedEach
      await this.#compare()
    }
    await this.#compare()
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
    const found = `${this.#made} changes (${this.#changed} changed something, ${this.#bursts} bursts), ${this.#compared} comparisons, ${seconds} s`
    proof.check(
      `${size.name}: members, grants and answers are the oracle's`,
      this.#wrong.length === 0,
      [found, ...this.#wrong.slice(0, 5)].join('; '),
    )
  }

  async #one(): Promise<void> {
    const change = this.#choose()
    const expected = this.#oracle.expect(change)
    const made = await this.#make(change, `r${this.#made}`)
    const got = 'failure' in made ? made.failure.name : 'ok'
    const isRight = expected === 'changed' || expected === 'same' ? got === 'ok' : got === expected
    if (!isRight) this.#wrong.push(`${JSON.stringify(change)} is ${got}, not ${expected}`)
    const logged = await this.#newlyLogged()
    if (logged.length !== (expected === 'changed' ? 1 : 0))
      this.#wrong.push(`${JSON.stringify(change)} (${expected}) leaves ${logged.length} rows of the log`)
    if (expected === 'changed' && 'id' in made) this.#apply(change, made.id)
  }

  /** The log shows which of them came first. */
  async #burst(count: number): Promise<void> {
    this.#bursts++
    const changes = new Map(
      Array.from({ length: count }, (_, nth) => [`b${this.#bursts}.${nth}`, this.#choose()]),
    )
    const made = new Map(
      await Promise.all(
        [...changes].map(async ([id, change]) => [id, await this.#make(change, id)] as const),
      ),
    )
    const seen = new Set<string>()
    for (const id of await this.#newlyLogged()) {
      const [change, result] = [changes.get(id), made.get(id)]
      if (seen.has(id) || change === undefined || result === undefined || 'failure' in result) {
        this.#wrong.push(
          `the log tells of ${id} (${JSON.stringify(change)}), which ${seen.has(id) ? 'it told before' : 'changed nothing'}`,
        )
        continue
      }
      seen.add(id)
      const expected = this.#oracle.expect(change)
      if (expected !== 'changed')
        this.#wrong.push(`at its turn ${JSON.stringify(change)} should be ${expected}`)
      this.#apply(change, result.id)
    }
  }

  #make(change: Change, requestId: string): Promise<Made> {
    this.#made++
    return this.#deps.world.make(change, requestId)
  }

  #apply(change: Change, id: string): void {
    this.#changed++
    this.#oracle.apply(change, id)
  }

  async #newlyLogged(): Promise<readonly string[]> {
    const rows = await this.#deps.world.audited(this.#logged)
    this.#logged = rows.at(-1)?.n ?? this.#logged
    return rows.map(({ requestId }) => requestId)
  }

  async #sync(): Promise<void> {
    await this.#deps.world.sync('sync')
    await this.#newlyLogged()
    await this.#compare()
  }

  async #compare(): Promise<void> {
    this.#compared++
    const { world } = this.#deps
    const [grants, members] = await Promise.all([world.grants(), world.members()])
    this.#differ('grants', this.#oracle.grants(), grants)
    this.#differ('members', this.#oracle.members(), members)
  }

  #differ(what: string, expected: readonly string[], found: readonly string[]): void {
    if (expected.join('\n') === found.join('\n')) return
    const [missing, extra] = [without(expected, found), without(found, expected)]
    this.#wrong.push(
      `after ${this.#made} changes ${what} lack ${missing.length} (${missing[0] ?? ''}) and have ${extra.length} too many (${extra[0] ?? ''})`,
    )
  }

  #choose(): Change {
    const { proof } = this.#deps
    const kinds = [
      'grant',
      'grant',
      'revoke',
      'map',
      'map',
      'set_role',
      'unmap',
      'add',
      'add',
      'add',
      'remove',
      'remove',
      'replace',
      'rename',
      'new_group',
      'new_user',
      'new_user',
      'set_active',
      'set_active',
    ] as const
    // What takes much with it is rare, or nothing would ever grow.
    const rare = proof.random(60)
    if (rare === 0) return { kind: 'delete_group', groupId: this.#groupId() }
    if (rare === 1) return { kind: 'delete_user', userId: this.#userId() }
    return this.#changeOf(kinds[proof.random(kinds.length)] ?? 'grant')
  }

  #changeOf(kind: Change['kind']): Change {
    const { proof, size, world } = this.#deps
    const workspaceId = world.workspaceIds[proof.random(world.workspaceIds.length)] ?? ''
    const role: MemberRole = MEMBER_ROLES[proof.random(MEMBER_ROLES.length)] ?? 'member'
    const userName = `u${proof.random(size.users)}`
    const name = `g${proof.random(size.groups)}`
    const userIds = [...new Set(Array.from({ length: 1 + proof.random(5) }, () => this.#userId()))]
    switch (kind) {
      case 'grant':
      case 'revoke':
        return { kind, workspaceId, userName, role }
      case 'map':
        return { kind, groupId: this.#groupId(), workspaceId, role }
      case 'set_role':
        return { kind, mappingId: this.#mappingId(), role }
      case 'unmap':
        return { kind, mappingId: this.#mappingId(), keepMembers: proof.random(2) === 0 }
      case 'add':
      case 'remove':
      case 'replace':
        return { kind, groupId: this.#groupId(), userIds }
      case 'rename':
        return { kind, groupId: this.#groupId(), name }
      case 'new_group':
        return { kind, name, userIds }
      case 'new_user':
        return { kind, userName }
      case 'set_active':
        return { kind, userId: this.#userId(), isActive: proof.random(3) > 0 }
      case 'delete_group':
        return { kind, groupId: this.#groupId() }
      case 'delete_user':
        return { kind, userId: this.#userId() }
    }
  }

  #userId(): string {
    return this.#oneOf(this.#oracle.users)
  }

  #groupId(): string {
    return this.#oneOf(this.#oracle.groups)
  }

  #mappingId(): string {
    return this.#oneOf(this.#oracle.mappings)
  }

  /** Now and then of nothing that is there. */
  #oneOf(of: ReadonlyMap<string, unknown>): string {
    const ids = [...of.keys()]
    return ids[this.#deps.proof.random(ids.length + (ids.length < 3 ? 1 : 0))] ?? NOBODY
  }
}

const NOBODY = '01900000-0000-7000-8000-000000000000'

function without(some: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others)
  return some.filter((line) => !known.has(line))
}
