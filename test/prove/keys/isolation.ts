/** Every operation with every kind of key, on its own, on other workspaces' and on foreign things. */
import { randomUUID } from 'node:crypto'
import type { KeyKind } from '../../../src/schemas/keys/api-keys.ts'
import type { AnyOperation } from '../../../src/server/operations/define.ts'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import { until } from '../../support/wait.ts'
import { ask, deadKeys, keyOf, KINDS, makeOwner, type Owner, type Answer } from './isolation/owners.ts'
import {
  elsewhere,
  missing,
  requestOf,
  takesWorkspace,
  typeOf,
  withKey,
  wrongKindStatus,
  type Input,
} from './isolation/requests.ts'
import type { Program, Proof } from '../proof.ts'

/** Longer than the grace in which a change reaches a front by the poll of the store alone. */
const OBEYED_MS = 1_500
/** A runner sweeps for the first time some seconds after its start. */
const LOOKS_MAX = 600
const LOOK_MS = 200

export const program: Program = {
  text: 'Every operation with every kind of key: wrong kinds, dead keys, and foreign ids that look like missing ones',
  async run(proof) {
    const stand = await startStand()
    proof.after(() => stand.stop())
    const [own, foreign] = [await makeOwner(stand, 'own'), await makeOwner(stand, 'foreign')]
    const dead = await deadKeys(stand, own)
    await pause(OBEYED_MS)
    await untilDead(stand, dead)
    await kinds(proof, stand, own)
    await deadOnes(proof, stand, dead)
    await operators(proof, stand, own)
    const before = await everything(stand, foreign)
    await foreignIds(proof, stand, { own, foreign })
    const after = await everything(stand, foreign)
    proof.check(
      'what is foreign is as it was',
      before === after,
      before === after ? `${before.length} characters of answers` : 'it changed',
    )
  },
}

/** A front that stands still hears of it later. */
async function untilDead(stand: Stand, dead: Awaited<ReturnType<typeof deadKeys>>): Promise<void> {
  const isRefused = async (key: string): Promise<boolean> =>
    (await ask(stand, { method: 'GET', path: '/api/v1/models/count', key })).status !== 200
  await until(
    'dead keys are refused',
    async () => (await isRefused(dead.disabled)) && (await isRefused(dead.deleted)),
  ).catch(() => undefined)
}

async function kinds(proof: Proof, stand: Stand, own: Owner): Promise<void> {
  const wrong: string[] = []
  let asked = 0
  for (const operation of OPERATIONS) {
    for (const kind of KINDS) {
      if (operation.access.keys.includes(kind)) continue
      asked++
      const answer = await ask(
        stand,
        withKey(operation, requestOf(operation, missing(operation)), keyOf(own.places.default, own, kind)),
      )
      const isRight = answer.status === wrongKindStatus(operation) && typeOf(answer) === 'wrong_key_kind'
      if (!isRight) wrong.push(`${operation.id} with ${kind}: ${answer.status} ${String(typeOf(answer))}`)
    }
  }
  proof.check(
    'every wrong kind of key is refused as its operation lists',
    wrong.length === 0 && asked > 0,
    `${asked} requests, wrong: ${wrong.join('; ') || 'none'}`,
  )
}

async function deadOnes(
  proof: Proof,
  stand: Stand,
  dead: Awaited<ReturnType<typeof deadKeys>>,
): Promise<void> {
  const wrong: string[] = []
  for (const operation of OPERATIONS) {
    const expected = { disabled: wrongKindStatus(operation), deleted: 401, unknown: 401 } as const
    for (const [name, status] of Object.entries(expected)) {
      const answer = await ask(
        stand,
        withKey(operation, requestOf(operation, missing(operation)), dead[name as keyof typeof dead]),
      )
      if (answer.status !== status) wrong.push(`${operation.id} with a ${name} key: ${answer.status}`)
    }
    const reply = await ask(stand, requestOf(operation, missing(operation)))
    if (reply.status !== 401) wrong.push(`${operation.id} without a key: ${reply.status}`)
  }
  proof.check(
    'disabled, deleted, unknown and absent keys are refused everywhere',
    wrong.length === 0,
    wrong.join('; ') || `${4 * OPERATIONS.length} requests`,
  )
}

/** The first organization of a node operates it: only its keys see the figures of the whole node. */
async function operators(proof: Proof, stand: Stand, own: Owner): Promise<void> {
  const operator = stand.keys.management_key
  const answer = async (path: string, key: string): Promise<Answer> =>
    ask(stand, { method: 'GET', path: `/api/v1/admin/${path}`, key })
  const sweepOf = ({ body }: Answer): unknown => (body['data'] as { sweep?: unknown } | undefined)?.sweep
  for (let looks = 0; looks < LOOKS_MAX && sweepOf(await answer('storage', operator)) === null; looks++)
    await pause(LOOK_MS)
  const [sessions, sweeps] = [
    [operator, own.management].map((key) => answer('session', key)),
    [operator, own.management].map((key) => answer('storage', key)),
  ]
  const [mine, theirs] = await Promise.all(sessions)
  const [swept, unswept] = (await Promise.all(sweeps)).map(sweepOf)
  const isRight = mine?.status === 200 && theirs?.status === 403 && typeOf(theirs) === 'operator_only'
  proof.check(
    "the operator's organization alone has a session",
    isRight,
    `${String(mine?.status)}, others ${String(theirs?.status)}`,
  )
  const isKept = typeof swept === 'object' && swept !== null && unswept === null
  proof.check(
    "the operator's organization alone is told of the last sweep",
    isKept,
    `${JSON.stringify(swept)}, others ${JSON.stringify(unswept)}`,
  )
}

interface Both {
  readonly own: Owner
  readonly foreign: Owner
}

async function foreignIds(proof: Proof, stand: Stand, { own, foreign }: Both): Promise<void> {
  const differing: string[] = []
  let compared = 0
  const compare = async (
    what: string,
    key: string,
    operation: AnyOperation,
    [one, other]: readonly [Input, Input],
  ) => {
    compared++
    const answers = [
      await ask(stand, withKey(operation, one, key)),
      await ask(stand, withKey(operation, other, key)),
    ] as const
    const [answer, unreported] = answers.map((reported) => `${reported.status} ${plain(reported.text)}`)
    if (answer !== unreported)
      differing.push(`${operation.id}, ${what}: ${answer?.slice(0, 160)} beside ${unreported?.slice(0, 160)}`)
  }
  for (const operation of OPERATIONS) {
    for (const kind of operation.access.keys) {
      const key = keyOf(own.places.default, own, kind)
      for (const place of [
        foreign.places.default,
        foreign.places.other,
        ...(isOfWhole(kind) ? [] : [own.places.other]),
      ]) {
        const params = elsewhere(operation, place)
        const absent = missing(operation)
        if (params !== null)
          await compare(`${kind} key, a thing elsewhere`, key, operation, [
            requestOf(operation, params),
            requestOf(operation, absent),
          ])
        if (takesWorkspace(operation)) {
          const query = (id: string): string => `?workspace_id=${id}`
          await compare(`${kind} key, another workspace`, key, operation, [
            requestOf(operation, absent, query(place.workspaceId)),
            requestOf(operation, absent, query(randomUUID())),
          ])
        }
      }
    }
  }
  proof.check(
    'what is elsewhere answers as what is nowhere',
    differing.length === 0 && compared > 0,
    `${compared} pairs, differing: ${differing.join('\n  ') || 'none'}`,
  )
}

/** Of the organization: of its workspaces none is elsewhere. */
const isOfWhole = (kind: KeyKind): boolean => kind === 'management' || kind === 'scim'

/**
 * Without what differs between any two answers: also the caller's own word, and names near it of what the
 * caller has. C39.
 */
function plain(text: string): string {
  const own = text
    .replace(/`[^`]*` was not found/g, 'was not found')
    .replace(/ Nearest: `[^`]*-of-own-[^`]*`(?:, `[^`]*-of-own-[^`]*`)*\./g, '')
  return own
    .replace(/"request_id":"[^"]*"/g, '')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
}

/** All that an owner can read of what it has. */
async function everything(stand: Stand, { management, places }: Owner): Promise<string> {
  const seen: string[] = []
  const read = async (path: string, key: string): Promise<void> => {
    const { status, text } = await ask(stand, { method: 'GET', path: `/api/v1${path}`, key })
    seen.push(`${path} ${status} ${plain(text)}`)
  }
  for (const place of Object.values(places)) {
    const { key } = place.inference
    for (const path of [
      `/files/${place.fileId}`,
      `/containers/${place.containerId}/files`,
      '/vault/secrets',
      `/videos/${place.videoId}`,
      '/videos',
    ])
      await read(path, key)
    for (const path of [
      `/workspaces/${place.workspaceId}`,
      `/workspaces/${place.workspaceId}/budgets`,
      `/keys?workspace_id=${place.workspaceId}`,
      `/interns/${place.internId}`,
      `/private-endpoints/${place.endpointId}`,
      `/scim/group-mappings/${place.mappingId}`,
      '/scim/groups',
      `/workspaces/${place.workspaceId}/members`,
      `/admin/jobs?workspace_id=${place.workspaceId}`,
      `/admin/webhooks?workspace_id=${place.workspaceId}`,
    ])
      await read(path, management)
  }
  return seen.join('\n')
}
