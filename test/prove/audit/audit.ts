/** Every operation leaves one row of the audit log for a change, and none for a refusal or a read. */
import { randomUUID } from 'node:crypto'
import { API_PREFIX, SCIM_PREFIX } from '../../../src/schemas/api-prefix.ts'
import { hashOfKey } from '../../../src/schemas/keys/api-keys.ts'
import { prefixOf, type AnyOperation } from '../../../src/server/operations/define.ts'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import { startProvider } from '../../support/embeddings/provider.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { startStand } from '../../support/nodes/stand.ts'
import { UPSTREAM_SECRET } from './endpoint-scenarios.ts'
import type { Change, Request, World } from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'
import {
  ask,
  inStore,
  keyOf,
  KINDS,
  makeGroup,
  makeOrganization,
  makeOwner,
  type Answer,
} from '../keys/isolation/owners.ts'
import { elsewhere, missing, requestOf, takesWorkspace, wrongKindStatus } from '../keys/isolation/requests.ts'
import type { Program, Proof } from '../proof.ts'

/** Its organization operates the node: some changes are the operator's alone. */
const OWNER = 'audited'
const HOST = 'localhost'
/** Longer than rows of releases wait for each other. */
const NOTED_MS = 500

export const program: Program = {
  text: 'Every operation and the audit log: a change has one row, a refusal, a repetition and a read have none',
  async run(proof) {
    const world = await openWorld(proof)
    const unlisted = unlistedOnes()
    proof.check(
      'every operation but reads has a scenario, and every scenario an operation',
      unlisted.length === 0,
      unlisted.join(', ') || `${OPERATIONS.length} operations`,
    )
    const book = new Book(world)
    await book.open()
    const foreign = await book.newest(world.foreign)
    for (const [operation, change] of changes()) await changed(book, operation, change)
    for (const [operation, change] of changes()) await refused(book, operation, change)
    for (const operation of OPERATIONS) await untouched(book, operation)
    await pause(NOTED_MS)
    await book.silent('the end')
    proof.check(
      'a change leaves one row: of the operation, the call, the key and the organization',
      book.wrong.changes.length === 0 && book.changes > 0,
      stated(book.wrong.changes, `${book.changes} changes`),
    )
    proof.check(
      'a refusal, a repetition without effect and a read leave none',
      book.wrong.others.length === 0 && book.others > 0,
      stated(book.wrong.others, `${book.others} requests`),
    )
    proof.check(
      "what is another organization's has no rows of it",
      (await book.newest(world.foreign)) === foreign,
      `${foreign} rows before`,
    )
  },
}

function isRead({ method }: AnyOperation): boolean {
  return method === 'get'
}

function unlistedOnes(): readonly string[] {
  const known = new Set(OPERATIONS.map(({ id }) => id))
  return [
    ...OPERATIONS.filter((operation) => !isRead(operation) && !(operation.id in SCENARIOS)).map(
      ({ id }) => id,
    ),
    ...Object.keys(SCENARIOS).filter((id) => !known.has(id)),
  ]
}

function changes(): readonly (readonly [AnyOperation, Change])[] {
  return OPERATIONS.flatMap((operation) => {
    const scenario = SCENARIOS[operation.id]
    return scenario !== undefined && 'request' in scenario ? [[operation, scenario] as const] : []
  })
}

async function openWorld(proof: Proof): Promise<World> {
  const upstream = await startProvider(HOST)
  proof.after(() => upstream.close())
  const { port } = new URL(upstream.origin)
  const stand = await startStand({
    settings: {
      SLUICE_EGRESS_ALLOW: `http:127.0.0.0/8:${port},http:[::1]:${port}`,
      SLUICE_OPERATOR_ORGANIZATION: OWNER,
    },
  })
  proof.after(() => stand.stop())
  const owner = await makeOwner(stand, OWNER)
  const { key } = await inStore(stand, (store) => makeOrganization(store, 'elsewhere'))
  const place = owner.places.default
  const world: World = {
    stand,
    owner,
    place,
    foreign: key,
    group: async () => (await makeGroup(stand, owner.organizationId)).groupId,
    baseUrl: `https://${HOST}:${port}/v1`,
    async make(method, path, body, by = 'management') {
      const answer = await ask(stand, {
        method,
        path: (by === 'scim' ? SCIM_PREFIX : API_PREFIX) + path,
        body,
        key: keyOf(place, owner, by),
      })
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
      const { data } = answer.body
      return typeof data === 'object' && data !== null ? { ...answer.body, ...data } : answer.body
    },
  }
  await world.make(
    'PUT',
    `/vault/secrets/${UPSTREAM_SECRET}`,
    { hosts: [HOST], value: 'upstream' },
    'inference',
  )
  return world
}

interface Event {
  readonly n: number
  readonly operation: string
  readonly request_id: string | null
  readonly actor: { readonly kind: string; readonly id: string | null }
}

/** The log as it is read between two requests. */
class Book {
  readonly world: World
  readonly wrong: { readonly changes: string[]; readonly others: string[] } = { changes: [], others: [] }
  changes = 0
  others = 0
  #last = 0

  constructor(world: World) {
    this.world = world
  }

  async open(): Promise<void> {
    this.#last = await this.newest(this.world.owner.management)
  }

  async newest(key: string): Promise<number> {
    const { body } = await ask(this.world.stand, { method: 'GET', path: `${API_PREFIX}/audit?limit=1`, key })
    return (body['data'] as Event[])[0]?.n ?? 0
  }

  /** Rows of changes since the last look, but for what the node does by itself. */
  async events(): Promise<readonly Event[]> {
    const { stand, owner } = this.world
    const { body } = await ask(stand, {
      method: 'GET',
      path: `${API_PREFIX}/audit?outcome=changed&limit=100`,
      key: owner.management,
    })
    const all = (body['data'] as Event[]).filter(({ n }) => n > this.#last)
    this.#last = Math.max(this.#last, ...all.map(({ n }) => n))
    return all.filter(({ actor }) => actor.kind !== 'system')
  }

  async send(
    operation: AnyOperation,
    { path, body, headers, by = 'management' }: Request,
    key?: string | null,
  ): Promise<Answer> {
    const { stand, owner, place } = this.world
    const { header } = operation.access
    const credential = key === undefined ? keyOf(place, owner, by) : key
    const free = header === undefined || credential === null ? {} : { [header]: credential }
    const method = operation.method === 'any' ? 'GET' : operation.method.toUpperCase()
    return ask(stand, {
      method,
      path: prefixOf(operation) + path,
      body,
      key: header === undefined ? credential : null,
      headers: { ...headers, ...free },
    })
  }

  /** A request that must leave no row. @param isRight whether the answer was the expected one */
  async none(what: string, reported: Answer, isRight: boolean): Promise<void> {
    this.others++
    if (!isRight) this.wrong.others.push(`${what}: ${reported.status} ${reported.text.slice(0, 200)}`)
    await this.silent(what)
  }

  async silent(what: string): Promise<void> {
    const events = await this.events()
    if (events.length > 0)
      this.wrong.others.push(`${what}: ${events.map(({ operation }) => operation).join(', ')}`)
  }
}

/** What came of it must be one row, that of this very call. */
async function changed(book: Book, operation: AnyOperation, change: Change): Promise<void> {
  const request = await change.request(book.world)
  await book.events()
  const requestId = `audited-${randomUUID()}`
  const reply = await book.send(operation, {
    ...request,
    headers: { ...request.headers, 'x-request-id': requestId },
  })
  const events = await book.events()
  const { by = 'management' } = request
  const actorId = hashOfKey(keyOf(book.world.place, book.world.owner, by))
  const isOne =
    events.length === 1 + (change.others ?? 0) &&
    events.every(
      (event) =>
        event.operation === operation.id && event.request_id === requestId && event.actor.id === actorId,
    )
  book.changes++
  if (reply.status >= 300 || !isOne)
    book.wrong.changes.push(
      `${operation.id}: ${reply.status} ${reply.text.slice(0, 200)} ${JSON.stringify(events)}`,
    )
  if (change.again === 'nothing') {
    const again = await book.send(operation, request)
    await book.none(`${operation.id} again`, again, again.status < 300)
  }
  for (const [nth, conflict] of ((await change.refused?.(book.world, request)) ?? []).entries()) {
    await book.events()
    const answer = await book.send(operation, { by, ...conflict })
    await book.none(`${operation.id}, refusal ${nth + 1}`, answer, isRefusal(answer))
  }
}

/** Requests that every operation of its kind refuses: keys, bodies, unknown and foreign objects. */
async function refused(book: Book, operation: AnyOperation, change: Change): Promise<void> {
  const request = await change.request(book.world)
  await book.events()
  const { id, input, path } = operation
  const expect = async (what: string, reported: Answer, statuses?: readonly number[]) =>
    book.none(`${id}, ${what}`, reported, statuses?.includes(reported.status) ?? isRefusal(reported))
  await expect('no key', await book.send(operation, request, null), [401])
  for (const kind of KINDS) {
    if (operation.access.keys.includes(kind)) continue
    await expect(`a key of kind ${kind}`, await book.send(operation, { ...request, by: kind }), [
      wrongKindStatus(operation),
    ])
  }
  if (input.body !== undefined)
    for (const body of [5, [], '{"broken'])
      await expect('a wrong body', await book.send(operation, { ...request, body }), [400, 415])
  if (path.includes('{') && change.isNaming !== true) {
    const nobodys = requestOf(operation, missing(operation)).path.slice(prefixOf(operation).length)
    await expect('a thing of nobody', await book.send(operation, { ...request, path: nobodys }))
    if (operation.access.keys.includes('management'))
      await expect('a foreign key', await book.send(operation, request, book.world.foreign))
  }
  if (takesWorkspace(operation)) {
    const unknown = `${request.path}${request.path.includes('?') ? '&' : '?'}workspace_id=${randomUUID()}`
    await expect('a workspace of nobody', await book.send(operation, { ...request, path: unknown }))
  }
}

/** Reads, operations that are always refused, and those that are not audited. */
async function untouched(book: Book, operation: AnyOperation): Promise<void> {
  const scenario = SCENARIOS[operation.id]
  if (scenario !== undefined && 'request' in scenario) return
  const { place, owner } = book.world
  const { path, body, headers } = requestOf(operation, elsewhere(operation, place) ?? missing(operation))
  const [by] = operation.access.keys
  if (by === undefined || operation.isAtRoot === true) return
  const answer = await book.send(
    operation,
    { path: path.slice(prefixOf(operation).length), body, headers, by },
    keyOf(place, owner, by),
  )
  await book.none(
    operation.id,
    answer,
    scenario !== undefined && 'never' in scenario ? isRefusal(answer) : answer.status < 500,
  )
}

/** What is not served at all is refused too. */
const NOT_SERVED = 501

const isRefusal = ({ status }: Answer): boolean => (status >= 400 && status < 500) || status === NOT_SERVED

const stated = (wrong: readonly string[], count: string): string =>
  `${count}, wrong: ${wrong.join('\n  ') || 'none'}`
