import { setTimeout as after } from 'node:timers/promises'
import { startBurner } from '../../../../bench/transfers/burner.ts'
import { startGateway, type Gateway } from '../../../../bench/transfers/gateway.ts'
import { tinyLatency, type Latency } from '../../../../bench/transfers/tiny.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { openStore, type Store } from '../../../../src/server/store/base/open.ts'
import { runtimeOf } from '../../../../src/server/supervisor/data-directory/data-directory.ts'
import { connected } from '../../../support/wire/connected.ts'
import { coresOf, nodeCpu } from '../../../support/load/node-cores.ts'
import type { Stand } from '../../../support/nodes/stand.ts'
import { median, type Proof } from '../../proof.ts'

const MEMBERS = 100_000
const MEMBERS_SHORT = 5_000
/** Besides the group's: users who are in no group. */
const STRANGERS_PER = 50
const SYNC_MS_MAX = 20_000
/** A machine that does ten other things. */
const GIVE_UP_MS = 240_000
const LOOK_MS = 100
/** The p99 of model reads may be this many times that next to a burner. */
const READS_RATIO_MAX = 2
const ROUNDS = 3
const ROUND_MS = 8_000
const WARM_MS = 3_000

interface Crowd {
  readonly proof: Proof
  readonly gateway: Gateway
  readonly store: Store
  readonly workspaceId: string
  readonly groupId: string
}

/**
 * One group with as many members as a company: its grants are damaged, and a sync by the node's runner mends
 * them.
 */
export async function crowd(proof: Proof): Promise<void> {
  const gateway = await startGateway({})
  proof.after(() => gateway.stop())
  const { stand } = gateway
  const store = await connected(
    openStore({
      url: runtimeOf(stand.dataDir)?.databaseUrl ?? '',
      poolMax: 2,
      applicationName: 'sluice-prove',
    }),
  )
  proof.after(() => store.close())
  const members = proof.isShort ? MEMBERS_SHORT : MEMBERS
  const groupId = await plant(store, stand.keys.organization_id, members)
  const world: Crowd = { proof, gateway, store, workspaceId: stand.keys.workspace_id, groupId }
  await map(world, members)
  await mend(world, members)
  // The short form asserts no times.
  if (!proof.isShort) await beside(world)
}

async function plant({ sql }: Store, organizationId: string, members: number): Promise<string> {
  const groupId = newId()
  await sql`
    INSERT INTO users (id, organization_id, user_name, is_active)
    SELECT gen_random_uuid(), ${organizationId}, 'user-' || k, k % 100 <> 0 FROM generate_series(1, ${members + members / STRANGERS_PER}::int) k`
  await sql`INSERT INTO scim_groups (id, organization_id, display_name) VALUES (${groupId}, ${organizationId}, 'Everybody')`
  await sql`
    INSERT INTO scim_members (group_id, user_id)
    SELECT ${groupId}, id FROM users WHERE organization_id = ${organizationId} AND user_name LIKE 'user-%' AND substr(user_name, 6)::int <= ${members}::int`
  await sql`ANALYZE users, scim_members`
  return groupId
}

async function map(world: Crowd, members: number): Promise<void> {
  const { proof } = world
  const startedAt = performance.now()
  const { status } = await call(world.gateway.stand, 'POST', '/scim/group-mappings', {
    scim_group_id: world.groupId,
    workspace_id: world.workspaceId,
    role: 'member',
  })
  const ms = performance.now() - startedAt
  // On a slow machine the caller got an error for the time, but the work runs on.
  let found = await compare(world)
  while (found.wrong > 0 && performance.now() - startedAt < GIVE_UP_MS) {
    await after(LOOK_MS)
    found = await compare(world)
  }
  proof.check(
    `a group of ${members.toLocaleString('en')} members is mapped: each that is active has the grant`,
    found.wrong === 0,
    `${found.right} grants, ${found.wrong} wrong`,
  )
  proof.checkTimed(
    'its mapping is answered before its deadline',
    status === 201,
    `${status} after ${(ms / 1_000).toFixed(1)} s`,
  )
}

/**
 * A third has lost its grant, a third has another role, some left the group without a notice, and strangers
 * have a grant.
 */
async function damage({ store: { sql }, groupId, workspaceId }: Crowd): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`DELETE FROM member_grants g USING users u WHERE u.id = g.user_id AND g.workspace_id = ${workspaceId} AND (hashtext(u.id::text) & 65535) % 3 = 0`
    await tx`UPDATE member_grants SET role = 'admin' WHERE workspace_id = ${workspaceId} AND (hashtext(user_id::text) & 65535) % 3 = 1`
    await tx`DELETE FROM scim_members WHERE group_id = ${groupId} AND (hashtext(user_id::text) & 65535) % 97 = 2`
    await tx`
      INSERT INTO member_grants (workspace_id, user_id, source, mapping_id, role)
      SELECT m.workspace_id, u.id, 'mapping', m.id, m.role FROM scim_mappings m JOIN users u ON u.organization_id = m.organization_id
      WHERE m.group_id = ${groupId} AND u.user_name LIKE 'user-%' AND NOT EXISTS (
        SELECT 1 FROM scim_members s WHERE s.group_id = ${groupId} AND s.user_id = u.id)
      ON CONFLICT DO NOTHING`
  })
}

async function mend(world: Crowd, members: number): Promise<void> {
  const { proof } = world
  await damage(world)
  const { wrong: damaged } = await compare(world)
  const { status, ms, synced } = await sync(world)
  const { wrong, right } = await compare(world)
  proof.check(
    'a sync by the runner mends every grant',
    status === 'succeeded' && wrong === 0 && damaged > members / 3,
    `${status}, ${synced} groups; of ${damaged} damaged grants ${wrong} are left, ${right} right`,
  )
  proof.checkTimed(
    `a sync of ${members.toLocaleString('en')} members takes ${SYNC_MS_MAX / 1_000} s at most`,
    ms <= SYNC_MS_MAX,
    `${(ms / 1_000).toFixed(1)} s`,
  )
}

interface Synced {
  readonly status: string
  readonly synced: number
  /** From the request to the look that saw its end. */
  readonly ms: number
}

async function sync({ gateway: { stand } }: Crowd): Promise<Synced> {
  const startedAt = performance.now()
  const { id } = (await call(stand, 'POST', '/scim/sync-jobs')).data as { id: string }
  for (;;) {
    const { status, synced_groups: synced } = (await call(stand, 'GET', `/scim/sync-jobs/${id}`)).data as {
      status: string
      synced_groups: number
    }
    const ms = performance.now() - startedAt
    if (status === 'succeeded' || status === 'failed' || ms > GIVE_UP_MS) return { status, synced, ms }
    await after(LOOK_MS)
  }
}

/** Compares with the group, computed apart from the code that is proven. */
async function compare({
  store,
  groupId,
  workspaceId,
}: Crowd): Promise<{ readonly wrong: number; readonly right: number }> {
  const [row] = await store.sql<{ wrong: number; right: number }[]>`
    WITH due AS (
      SELECT s.user_id FROM scim_members s JOIN users u ON u.id = s.user_id WHERE s.group_id = ${groupId} AND u.is_active
    ), given AS (
      SELECT user_id, role, source, mapping_id = (SELECT id FROM scim_mappings WHERE group_id = ${groupId}) AS is_of_it
      FROM member_grants WHERE workspace_id = ${workspaceId}
    )
    SELECT count(*) FILTER (WHERE due.user_id IS NULL OR given.user_id IS NULL OR role <> 'member' OR source <> 'mapping' OR NOT is_of_it)::int AS wrong,
      count(*) FILTER (WHERE due.user_id IS NOT NULL AND role = 'member' AND is_of_it)::int AS right
    FROM due FULL JOIN given ON given.user_id = due.user_id`
  if (row === undefined) throw new Error('a count has a row')
  return row
}

interface Round {
  readonly syncs: Latency
  readonly burner: Latency
  readonly cores: number
  readonly count: number
}

async function beside(world: Crowd): Promise<void> {
  const { proof, gateway } = world
  await tinyLatency(gateway, WARM_MS)
  const rounds: Round[] = []
  for (let nth = 0; nth < ROUNDS; nth++) rounds.push(await round(world))
  const failed = rounds.reduce((sum, { syncs, burner }) => sum + syncs.failed + burner.failed, 0)
  proof.check('every model read beside syncs is answered', failed === 0, `${failed} failed`)
  const ratio = median(rounds.map(({ syncs, burner }) => syncs.p99 / burner.p99))
  const p99 = (of: (one: Round) => Latency): string => median(rounds.map((one) => of(one).p99)).toFixed(1)
  proof.checkTimed(
    `p99 of model reads beside syncs is at most ${READS_RATIO_MAX} × that beside an equal burner`,
    ratio <= READS_RATIO_MAX,
    `${ratio.toFixed(2)} × (beside syncs ${p99(({ syncs }) => syncs)} ms, beside a burner ${p99(({ burner }) => burner)} ms; ` +
      `${rounds.map(({ count, cores }) => `${count} syncs took ${cores.toFixed(2)} cores`).join(', ')})`,
  )
}

/** Syncs, one after the other, of grants that are damaged each time; then as much CPU that does nothing. */
async function round(world: Crowd): Promise<Round> {
  const { gateway } = world
  const used = await nodeCpu(world.gateway.stand.pid, world.store)
  const idle = await coresOf(used, () => tinyLatency(gateway, ROUND_MS / 2))
  let isOver = false
  let count = 0
  const syncing = (async () => {
    for (; !isOver; count++) {
      await damage(world)
      await sync(world)
    }
  })()
  const beside = await coresOf(used, () => tinyLatency(gateway, ROUND_MS))
  isOver = true
  await syncing
  const cores = Math.max(0.1, beside.cores - idle.cores)
  const stop = await startBurner({ cores, isDetached: true })
  const burner = await tinyLatency(gateway, ROUND_MS)
  await stop()
  return { syncs: beside.value, burner, cores, count }
}

async function call(
  { port, keys }: Stand,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly data: unknown }> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${keys.management_key}`,
      connection: 'close',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, data: ((await answer.json()) as { data?: unknown }).data }
}
