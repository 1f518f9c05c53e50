import { NoHost, placeOfPostgres } from '../../schemas/values/store-urls.ts'
import { SchemaRefused } from '../store/migrations/migrate.ts'
import type { DataDirectory } from './data-directory/data-directory.ts'
import { startEmbeddedPostgres } from './postgres/embedded-postgres.ts'
import type { ChildPart } from './fleet/ipc.ts'
import type { Away, ConnectionsGiven, NodeGeneration, NodeRedis, NodeSetup, NodeStore } from './node-setup.ts'
import { startRedis } from './redis/redis-child.ts'
import { connectionsNeeded, connectionsToServe } from './fleet/shares.ts'
import { StartRefused } from './start-refused.ts'

/** The stores of a running node, embedded or the operator's. */
export interface Services {
  readonly databaseUrl: string
  readonly postgres: 'embedded' | 'external'
  readonly redis: ChildPart['redis']
  readonly redisMode: 'external' | 'child' | 'in-memory'
}

export type Undo = (step: () => Promise<void>) => void

/** Milliseconds that a start waits for an external Postgres that cannot be reached yet. */
const POSTGRES_WAIT_MS = 30_000
/** Milliseconds that a start waits for an external Redis. */
export const REDIS_WAIT_MS = 1_000
/** Milliseconds between two tries to reach an external Postgres. */
const POSTGRES_RETRY_MS = 500
/** Milliseconds of waiting before the first line about it. */
const SAY_AFTER_MS = 1_000
/** Milliseconds between two lines about waiting. */
const SAY_EACH_MS = 5_000

export interface ServicesInput {
  readonly data: DataDirectory
  readonly log: NodeSetup['log']
  readonly undo: Undo
  readonly reach: NodeSetup['reachPostgres']
  readonly wait: StoreWait
}

/** Starts the stores that the operator did not configure, and reaches the Postgres that is configured. Throws `StartRefused`. */
export async function startServices(
  { config }: NodeGeneration,
  { data, log, undo, reach, wait }: ServicesInput,
): Promise<Services> {
  // Both are awaited: a failure of one store must not leave the other without its undo.
  const [postgres, redis] = await Promise.allSettled([
    config.databaseUrl === null
      ? startEmbeddedPostgres({
          dataDir: data.path,
          log,
          settings: { max_connections: String(connectionsToServe(config)) },
        })
      : null,
    config.redisUrl === null ? startRedis({ dataDir: data.path, log }) : null,
  ])
  for (const service of [postgres, redis]) {
    if (service.status === 'fulfilled' && service.value !== null) {
      const { value } = service
      undo(() => value.stop())
    }
  }
  if (postgres.status === 'rejected') throw refused('the embedded Postgres did not start', postgres.reason)
  if (redis.status === 'rejected') throw refused('the embedded Redis did not start', redis.reason)
  return {
    databaseUrl: postgres.value?.url ?? (await reachedUrl(config.databaseUrl?.reveal() ?? '', reach, wait)),
    postgres: postgres.value === null ? 'external' : 'embedded',
    redis:
      redis.value === null
        ? { url: config.redisUrl?.reveal() ?? '' }
        : { socketPath: redis.value.socketPath },
    redisMode: redis.value?.mode ?? 'external',
  }
}

/** The URL, completed by the facts found while connecting to its Postgres. */
async function reachedUrl(url: string, reach: ServicesInput['reach'], wait: StoreWait): Promise<string> {
  const found = await untilReached({ databaseUrl: url, postgres: 'external' }, wait, () => reach(url))
  return found?.url ?? url
}

export interface StoreWait {
  isEnding(): boolean
  /** Writes a line about what the start waits for. */
  say(line: string): void
}

/**
 * Migrates, and waits for an external Postgres that is still coming up. Throws `StartRefused`; returns early
 * when the node ends.
 */
export async function prepareStore(
  store: Pick<NodeStore, 'migrate'>,
  services: Pick<Services, 'databaseUrl' | 'postgres'>,
  wait: StoreWait,
): Promise<void> {
  await untilReached(services, wait, () => store.migrate())
}

/** Waits until an attempt reaches Postgres; null when the node ends first. Throws `StartRefused`. */
async function untilReached<T extends { readonly isAway: false }>(
  { databaseUrl, postgres }: Pick<Services, 'databaseUrl' | 'postgres'>,
  { isEnding, say }: StoreWait,
  attempt: () => Promise<T | Away>,
): Promise<T | null> {
  const giveUpAt = performance.now() + POSTGRES_WAIT_MS
  let cause: unknown = null
  const stopSaying =
    postgres === 'embedded'
      ? () => undefined
      : sayWhileWaiting(() => {
          const secondsLeft = Math.max(0, Math.round((giveUpAt - performance.now()) / 1_000))
          say(`waiting for Postgres${whereOf(databaseUrl, cause)}; giving up in ${secondsLeft} s\n`)
        })
  try {
    while (!isEnding()) {
      const found = await attempt().catch((problem: unknown) => {
        if (problem instanceof SchemaRefused) throw new StartRefused(problem.message, { cause: problem })
        throw unusable(problem)
      })
      if (!found.isAway) return found
      if (performance.now() > giveUpAt) throw unusable(found.cause)
      cause = found.cause
      await new Promise((resolve) => setTimeout(resolve, POSTGRES_RETRY_MS))
    }
    return null
  } finally {
    stopSaying()
  }
}

/** The address of Postgres, and why it cannot be reached yet. */
function whereOf(databaseUrl: string, cause: unknown): string {
  if (cause instanceof NoHost) return `: ${cause.message}`
  const code = codeOf(cause)
  return ` at ${placeOfPostgres(databaseUrl)}${code === '' ? '' : ` (${code})`}`
}

function sayWhileWaiting(say: () => void): () => void {
  let timer = setTimeout(() => {
    say()
    timer = setInterval(say, SAY_EACH_MS)
  }, SAY_AFTER_MS)
  return () => clearTimeout(timer)
}

/** Throws `StartRefused` when this node's processes could ask for more connections than Postgres gives. */
export async function checkConnections(
  store: Pick<NodeStore, 'connections'>,
  { config }: Pick<NodeGeneration, 'config'>,
  postgres: Services['postgres'],
): Promise<void> {
  const wanted = connectionsNeeded(config)
  const { fits, available, by, elsewhere } = await store.connections(wanted).catch((problem: unknown) => {
    throw unusable(problem)
  })
  if (fits) return
  const processes = `${config.fronts} fronts and ${config.runners} runners`
  const { limit, cure } = postgres === 'embedded' ? EMBEDDED : CONNECTION_LIMITS[by]
  throw new StartRefused(
    `${processes} may need ${wanted} connections; Postgres allows ${available} by ${limit}, ` +
      `and other nodes use ${elsewhere}: ${cure} or lower SLUICE_FRONTS`,
  )
}

/**
 * Throws `StartRefused` for a node of a Redis Cluster: the keys of a script may be on several nodes of the cluster. The
 * wait for a Redis that cannot be reached is short, since the node starts without it.
 */
export async function checkRedis(
  redis: Pick<NodeRedis, 'isUp' | 'isCluster'>,
  mode: Services['redisMode'],
): Promise<void> {
  if (mode !== 'external') return
  await redis.isUp(REDIS_WAIT_MS)
  if (!(await redis.isCluster())) return
  throw new StartRefused(
    'REDIS_URL points to a Redis Cluster, which is not supported: ' +
      'use a single server, or the Sentinels of a primary (redis+sentinel://host:port,host:port/name)',
  )
}

interface ConnectionLimit {
  readonly limit: string
  readonly cure: string
}

const CONNECTION_LIMITS: Readonly<Record<ConnectionsGiven['by'], ConnectionLimit>> = {
  max_connections: { limit: 'its max_connections', cure: 'raise its max_connections' },
  role: { limit: 'the CONNECTION LIMIT of the role', cure: 'raise the limit with ALTER ROLE' },
  database: { limit: 'the CONNECTION LIMIT of the database', cure: 'raise the limit with ALTER DATABASE' },
}
/** The embedded Postgres is started with enough connections, and some in reserve; a reload cannot change their number. */
const EMBEDDED: ConnectionLimit = {
  limit: 'its max_connections',
  cure: 'restart the node to get more connections,',
}

function unusable(problem: unknown): StartRefused {
  return refused('Postgres cannot be used; check DATABASE_URL', problem)
}

function refused(what: string, problem: unknown): StartRefused {
  if (problem instanceof StartRefused) return problem
  const reason = problem instanceof Error ? problem.message || codeOf(problem) : String(problem)
  return new StartRefused(`${what}: ${reason}`, { cause: problem })
}

function codeOf(problem: unknown): string {
  return problem instanceof Error && 'code' in problem ? String(problem.code) : ''
}
