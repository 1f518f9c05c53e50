import { request, type Agent } from 'node:http'
import { setTimeout as after } from 'node:timers/promises'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { plantGroup, plantUsers } from '../../../support/scim/directory.ts'
import { startFileStand, type FileStand } from '../../../support/files/file-stand.ts'
import { served } from '../../../support/wire/served.ts'
import { connectToEach } from '../../both-fronts.ts'
import { tally, type Proof } from '../../proof.ts'

const RACES = 1_000
const RACES_SHORT = 60
/** Races at once, each in a workspace of its own. */
const LANES = 4
/** Milliseconds that one of the two may begin later. */
const LATER_MS = 4
const GIVE_UP_MS = 30_000
/** Of a connection: a front ends those that rest, and these are to end first. */
const REST_MS_MAX = 4_000

interface Answer {
  readonly status: number
  readonly body: { readonly data?: unknown }
}

interface Lane {
  readonly workspaceId: string
  readonly groupId: string
  /** The first of them is a member by hand too. */
  readonly userIds: readonly string[]
}

interface Seen {
  readonly statuses: Record<number, number>
  readonly orders: Record<string, number>
  readonly wrong: string[]
}

interface Life {
  readonly proof: Proof
  readonly store: Store
  readonly seen: Seen
  /** @param front a connection to one of them */
  ask(
    method: string,
    path: string,
    more?: { readonly body?: unknown; readonly front?: number },
  ): Promise<Answer>
}

/**
 * PATCH and DELETE of one mapping at two fronts: the result is that of the order that their answers show.
 */
export async function races(proof: Proof): Promise<void> {
  const node = await startFileStand(proof, { settings: { SLUICE_FRONTS: '2' } })
  const lanes = await Promise.all(Array.from({ length: LANES }, () => openLane(proof, node)))
  const count = proof.isShort ? RACES_SHORT : RACES
  const { seen } = lanes[0]?.life ?? { seen: { statuses: {}, orders: {}, wrong: [] } }
  let next = 0
  await Promise.all(
    lanes.map(async ({ life, lane }) => {
      while (next < count) await race({ ...life, seen }, lane, next++)
    }),
  )
  const { statuses, orders, wrong } = seen
  proof.check(
    'of PATCH and DELETE at once each is answered 200 or 404',
    Object.keys(statuses).every((status) => status === '200' || status === '404'),
    `${tally(statuses)} of ${count} races`,
  )
  const order = Object.entries(orders)
    .map(([name, times]) => `${name} × ${times}`)
    .join(', ')
  proof.check(
    'what is left is that of the order that the answers tell, in grants and in the audit log',
    wrong.length === 0 && next >= count,
    `${order}; wrong: ${wrong.slice(0, 5).join('; ') || 'none'}`,
  )
  // They are only shown to run at once where both orders came about.
  proof.checkTimed('both orders came about', Object.keys(orders).length >= 2, order)
}

async function openLane(
  proof: Proof,
  { stand, store }: FileStand,
): Promise<{ readonly life: Life; readonly lane: Lane }> {
  const fronts = await connectToEach(stand, { timeout: REST_MS_MAX })
  proof.after(() => Promise.resolve(fronts.forEach((agent) => agent.destroy())))
  const { organization_id: organizationId, management_key: key } = stand.keys
  const ask: Life['ask'] = (method, path, { body, front = 0 } = {}) =>
    served(() => send({ port: stand.port, key, method, path, body, agent: fronts[front] }))
  const slug = `lane-${proof.random(2 ** 31)}`
  const made = (await ask('POST', '/workspaces', { body: { name: slug, slug } })).body.data as { id: string }
  const userIds = await plantUsers(
    store,
    organizationId,
    [1, 2, 3].map((nth) => `${slug}-${nth}`),
  )
  const lane = {
    workspaceId: made.id,
    groupId: await plantGroup(store, organizationId, slug, userIds),
    userIds,
  }
  return { life: { proof, store, seen: { statuses: {}, orders: {}, wrong: [] }, ask }, lane }
}

async function race({ proof, store, seen, ask }: Life, lane: Lane, nth: number): Promise<void> {
  const { workspaceId, groupId, userIds } = lane
  const [byHand = ''] = userIds
  await store.sql`DELETE FROM member_grants WHERE workspace_id = ${workspaceId}`
  await store.sql`INSERT INTO member_grants (workspace_id, user_id, source, role) VALUES (${workspaceId}, ${byHand}, 'manual', 'member')`
  const created = await ask('POST', '/scim/group-mappings', {
    body: { scim_group_id: groupId, workspace_id: workspaceId, role: 'member' },
  })
  if (created.status !== 201) throw new Error(`no mapping: ${created.status} ${JSON.stringify(created.body)}`)
  const { id } = created.body.data as { id: string }
  const isKept = proof.random(2) === 0
  const [first, second] = [proof.random(LATER_MS), proof.random(LATER_MS)]
  const [patched, removed] = await Promise.all([
    after(first).then(() =>
      ask('PATCH', `/scim/group-mappings/${id}`, { body: { role: 'admin' }, front: nth % 2 }),
    ),
    after(second).then(() =>
      ask('DELETE', `/scim/group-mappings/${id}?keep_members=${isKept}`, { front: 1 - (nth % 2) }),
    ),
  ])
  for (const { status } of [patched, removed]) seen.statuses[status] = (seen.statuses[status] ?? 0) + 1
  const isPatched = patched.status === 200
  seen.orders[isPatched ? 'PATCH first' : 'DELETE first'] =
    (seen.orders[isPatched ? 'PATCH first' : 'DELETE first'] ?? 0) + 1
  const role = isPatched ? 'admin' : 'member'
  const expected = JSON.stringify({
    removed: 200,
    mapping: 404,
    members: isKept
      ? userIds.map((user) => `${user} ${role} manual ${role}`).sort()
      : [`${byHand} member manual member`],
    rows: ['scim.create_mapping', ...(isPatched ? ['scim.update_mapping'] : []), 'scim.delete_mapping'],
  })
  const found = JSON.stringify({
    removed: removed.status,
    mapping: (await ask('GET', `/scim/group-mappings/${id}`, { front: 1 })).status,
    members: await membersOf(ask, workspaceId),
    rows: await rowsOf(ask, id),
  })
  if (found !== expected)
    seen.wrong.push(
      `${patched.status}/${removed.status} keep_members=${isKept}: ${found} instead of ${expected}`,
    )
}

/** `<user> <role> <source of each grant> <its role>`, sorted. */
async function membersOf(ask: Life['ask'], workspaceId: string): Promise<readonly string[]> {
  const { body } = await ask('GET', `/workspaces/${workspaceId}/members`)
  const members = body.data as readonly {
    user_id: string
    role: string
    grants: readonly { source: string; role: string }[]
  }[]
  return members
    .map(({ user_id, role, grants }) =>
      [user_id, role, ...grants.map((grant) => `${grant.source} ${grant.role}`)].join(' '),
    )
    .sort()
}

/** Operations of the audit log on an object, oldest first. */
async function rowsOf(ask: Life['ask'], objectId: string): Promise<readonly string[]> {
  const { body } = await ask('GET', `/audit?object_id=${objectId}`)
  return (body.data as readonly { operation: string }[]).map(({ operation }) => operation).reverse()
}

interface Sending {
  readonly port: number
  readonly key: string
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly agent: Agent | undefined
}

function send({ port, key, method, path, body, agent }: Sending): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const options = {
      host: '127.0.0.1',
      port,
      method,
      path: `/api/v1${path}`,
      headers,
      timeout: GIVE_UP_MS,
      ...(agent !== undefined && { agent }),
    }
    const sent = request(options, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => pieces.push(piece))
      answer.once('error', reject)
      answer.once('end', () => {
        const text = Buffer.concat(pieces).toString()
        resolve({
          status: answer.statusCode ?? 0,
          body: (text === '' ? {} : JSON.parse(text)) as Answer['body'],
        })
      })
    })
    sent.once('error', reject)
    sent.once('timeout', () => sent.destroy(new Error('no answer')))
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
