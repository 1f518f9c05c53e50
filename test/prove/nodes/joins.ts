/** Nodes that join an installation with wrong settings, and those that may look so. */
import { randomBytes, randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../../src/server/store/base/open.ts'
import { FakeS3, s3Settings } from '../../support/files/s3.ts'
import { nodeSettings, runToEnd, startNode, type Settings, type TestNode } from '../../support/nodes/node.ts'
import { startRedisServer, whyNoRedis, type RedisServer } from '../../support/nodes/redis-servers.ts'
import { openTestDatabase } from '../../support/stores/postgres.ts'
import type { Program, Proof } from '../proof.ts'

export const program: Program = {
  text: 'nodes with a wrong Redis or the bucket of others are refused; moved, older and lone ones are accepted',
  async run(proof) {
    proof.skipped = await whyNoRedis()
    if (proof.skipped !== null) return
    const place = await openPlace(proof)
    const first = await startNode(proof, await place.settings())
    await refused(proof, place)
    await accepted(proof, place)
    proof.check('the first node ran on through all of it', await first.answers(), first.ready.url)
    await first.stop()
    await alone(proof, place)
    await foreign(proof, place)
    if (!proof.isShort) await atOnce(proof)
  },
}

/** Nodes of the long form that start together. */
const NODES_AT_ONCE = 3

interface Place {
  readonly redis: RedisServer
  readonly databaseUrl: string
  /** Settings of one more node; those of `others` are left out where they are undefined. */
  settings(others?: Readonly<Record<string, string | undefined>>): Promise<Settings>
}

async function openPlace(proof: Proof): Promise<Place> {
  const [redis, s3] = [await startRedisServer(proof), await FakeS3.start(proof)]
  const databaseUrl = (await openTestDatabase(proof)).url
  const shared = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redis.url,
    SLUICE_ROOT_KEY: randomBytes(32).toString('hex'),
    ...s3Settings(s3),
  }
  return {
    redis,
    databaseUrl,
    async settings(others = {}) {
      const own = await nodeSettings(proof, { isEmbedded: true })
      const all = Object.entries({ ...own, ...shared, ...others })
      return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
    },
  }
}

/** Each starts next to the first node, and ends with the name of its setting. */
async function refused(proof: Proof, place: Place): Promise<void> {
  const other = await startRedisServer(proof)
  await other.command(`SET sluice:installation ${randomUUID()}`)
  const wrongs = [
    ['REDIS_URL', 'no REDIS_URL', { REDIS_URL: undefined }],
    ['SLUICE_OBJECTS', 'no SLUICE_OBJECTS', { SLUICE_OBJECTS: undefined }],
    ['SLUICE_OBJECTS', 'another prefix of the bucket', { SLUICE_OBJECTS: 's3://test-bucket/other' }],
    ['REDIS_URL', 'the Redis of another installation', { REDIS_URL: other.url }],
  ] as const
  for (const [setting, text, settings] of wrongs) {
    const { code, stderr } = await runToEnd(await place.settings(settings))
    const line = stderr.split('\n').find((one) => one.includes(setting)) ?? stderr.slice(0, 200)
    const isStack = /^ {4}at /m.test(stderr)
    const isMet = code === 1 && line.includes(setting) && !isStack
    proof.check(`a node with ${text} is refused by its setting`, isMet, `${code}: ${line.slice(0, 120)}`)
  }
}

async function accepted(proof: Proof, place: Place): Promise<void> {
  const moved = await startRedisServer(proof)
  await joins(proof, 'a moved Redis, which has no mark', await place.settings({ REDIS_URL: moved.url }))
  proof.check(
    'the moved Redis has the mark now',
    (await moved.command('GET sluice:installation')) ===
      (await place.redis.command('GET sluice:installation')),
    (await moved.command('GET sluice:installation')).replace(/\s+/g, ' '),
  )
  await forgotten(place)
  await joins(proof, 'a node beside older ones, which report no places', await place.settings())
}

/** What an installation is whose nodes are all of the version before. */
async function forgotten({ databaseUrl, redis }: Place): Promise<void> {
  const store = openStore({ url: databaseUrl, poolMax: 1, applicationName: 'sluice-prove' })
  await store.sql`UPDATE installation SET redis = NULL, objects = NULL, node = NULL, joined_at = NULL`
  await store.close()
  await redis.command('DEL sluice:installation')
}

/**
 * A node that is alone takes no place with the files of another installation: it would remove them as orphans.
 */
async function foreign(proof: Proof, place: Place): Promise<void> {
  // A copy of a migrated database would have the mark of its original.
  const databaseUrl = (await openTestDatabase(proof, 'empty')).url
  await refusedFor(proof, 'a lone node with a new database and the bucket of another', [
    await place.settings({ DATABASE_URL: databaseUrl, REDIS_URL: undefined }),
    's3://test-bucket/',
  ])
  const settings = await nodeSettings(proof, { isEmbedded: true })
  const node = await joins(proof, 'a lone node with embedded stores', settings)
  const dataDir = settings['SLUICE_DATA'] ?? ''
  // Of a node that root runs, the cluster is elsewhere, and only this record leads to it.
  rmSync(join(dataDir, 'postgres.json'))
  rmSync(join(dataDir, 'postgres'), { recursive: true, force: true })
  const mark = join(dataDir, 'files', 'installation')
  await refusedFor(proof, 'that node after its database was deleted', [settings, mark])
  rmSync(mark)
  if (node !== null) await joins(proof, 'that node after the mark was removed', settings)
}

async function refusedFor(
  proof: Proof,
  text: string,
  [settings, cure]: readonly [Settings, string],
): Promise<void> {
  const { code, stderr } = await runToEnd(settings)
  const line = stderr.split('\n').find((one) => one.includes('SLUICE_OBJECTS')) ?? stderr.slice(0, 200)
  const isMet = code === 1 && line.includes(`delete its id file ${cure}`) && !/^ {4}at /m.test(stderr)
  proof.check(`${text} is refused by SLUICE_OBJECTS, with the cure`, isMet, `${code}: ${line}`)
}

/** A node that is alone takes other places, and logs them. */
async function alone(proof: Proof, place: Place): Promise<void> {
  const lone = { REDIS_URL: undefined, SLUICE_OBJECTS: undefined }
  const node = await joins(
    proof,
    'a lone node with a Redis and a folder of its own',
    await place.settings(lone),
  )
  const line = node?.lines().find(({ event }) => event === 'places_taken')
  proof.check('it logs its new places', line !== undefined, JSON.stringify(line ?? null))
}

/** On new stores, where each of them finds no mark. */
async function atOnce(proof: Proof): Promise<void> {
  const place = await openPlace(proof)
  const settings = await Promise.all(Array.from({ length: NODES_AT_ONCE }, () => place.settings()))
  const nodes = await Promise.allSettled(settings.map((one) => startNode(proof, one)))
  const started = nodes.filter(({ status }) => status === 'fulfilled').length
  proof.check(
    `${NODES_AT_ONCE} nodes that start at once on new stores are accepted`,
    started === NODES_AT_ONCE,
    `${started} are ready`,
  )
}

async function joins(proof: Proof, text: string, settings: Settings): Promise<TestNode | null> {
  const node = await startNode(proof, settings).catch((problem: unknown) => String(problem))
  const found = typeof node === 'string' ? node.slice(0, 200) : `ready, Redis ${node.ready.redis}`
  proof.check(`${text} is accepted`, typeof node !== 'string', found)
  if (typeof node === 'string') return null
  await node.stop()
  return node
}
