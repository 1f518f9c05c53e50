import { existsSync } from 'node:fs'
import { NoHost, placeOfPostgres } from '../../../schemas/values/store-urls.ts'
import { Secret } from '../../../schemas/vault/secret.ts'
import type { Config } from '../../config.ts'
import { migrate, SchemaRefused, type SchemaState } from '../../store/migrations/migrate.ts'
import { PoolerRefused, throughPooler } from '../../store/base/pooler.ts'
import { isAway } from '../../store/base/translate.ts'
import {
  openDataDirectory,
  runningSupervisor,
  runtimeOf,
  type Runtime,
} from '../../supervisor/data-directory/data-directory.ts'
import { startEmbeddedPostgres } from '../../supervisor/postgres/embedded-postgres.ts'
import { hasCluster } from '../../supervisor/postgres/postgres-cluster.ts'
import { codeOf, reasonOf } from './reasons.ts'
import { stderrLog } from './stderr-log.ts'
import { CliFailure, loadGeneration } from './verb.ts'
import { EmbeddedPostgresError } from '../../supervisor/postgres/postgres-binaries.ts'

/** Seconds that a verb may take to connect: longer than a node, since a verb does not retry. Decision. */
export const VERB_CONNECT_S_MAX = 10

export interface StoreAddresses {
  readonly databaseUrl: Secret
  /** Null when no node with Redis runs here: no front listens for hints then. */
  readonly redis: { readonly url: Secret } | { readonly socketPath: string } | null
}

/**
 * Runs a verb that needs the store: `DATABASE_URL` when it is set, else the running node's embedded Postgres,
 * else the embedded Postgres, which runs as long as the verb; only `mayCreate` creates one. Throws
 * `CliFailure`, `ConfigInvalid`.
 */
export async function withStores<T>(use: Use<T>, { mayCreate = false } = {}): Promise<T> {
  try {
    return await found(use, mayCreate)
  } catch (problem) {
    const sentence = sentenceOf(problem)
    throw sentence === null ? problem : new CliFailure(sentence, { cause: problem })
  }
}

/** Migrates the schema to this version. Throws `CliFailure`. */
export function migrateNow(): Promise<SchemaState> {
  return withStores(
    ({ databaseUrl }) => migrate(databaseUrl.reveal(), stderrLog, { connectSMax: VERB_CONNECT_S_MAX }),
    { mayCreate: true },
  )
}

/** Errors of TLS, by their codes. */
const TLS_CODES = /CERT|^UNABLE_TO|^ERR_(SSL|TLS)|^EPROTO$/
/** SQLSTATE of a role that lacks a right. */
const NO_RIGHT = '42501'

/** The cause and the remedy of a failure of the database; null for a bug, whose stack is printed. */
function sentenceOf(problem: unknown): string | null {
  const isRefusal = [SchemaRefused, EmbeddedPostgresError, PoolerRefused].some(
    (kind) => problem instanceof kind,
  )
  if (isRefusal) return reasonOf(problem)
  if (problem instanceof NoHost) return `the database in DATABASE_URL cannot be reached: ${problem.message}`
  const code = codeOf(problem) ?? ''
  if (TLS_CODES.test(code))
    return `${placed()} cannot be reached: ${reasonOf(problem)} (${code}); set SLUICE_STORES_CA to a file with its certificate authority`
  if (code === NO_RIGHT)
    return `the database denied access: ${reasonOf(problem)} (${code}); the role must own the schema and its tables`
  if (!isAway(problem)) return null
  if (problem instanceof Error && problem.name === 'PostgresError')
    return `the database returned an error: ${reasonOf(problem)} (${code})`
  return `${placed()} cannot be reached${code === '' ? '' : ` (${code})`}`
}

/** The database as named in a sentence, with its place, which shows whether `DATABASE_URL` is wrong. */
function placed(): string {
  const { databaseUrl } = loadGeneration().config
  return databaseUrl === null
    ? 'the database'
    : `the database in DATABASE_URL, at ${placeOfPostgres(databaseUrl.reveal())},`
}

type Use<T> = (stores: StoreAddresses, config: Config) => Promise<T>

async function found<T>(use: Use<T>, mayCreate: boolean): Promise<T> {
  const { config } = loadGeneration()
  const runtime = runtimeOf(config.dataDir)
  const redis = redisOf(config, runtime)
  if (config.databaseUrl !== null) {
    const url = await throughPooler(config.databaseUrl.reveal(), { connectSMax: VERB_CONNECT_S_MAX })
    return use({ databaseUrl: new Secret(url), redis }, config)
  }
  if (runtime !== null) return use({ databaseUrl: new Secret(runtime.databaseUrl), redis }, config)
  const running = runningSupervisor(config.dataDir)
  if (running?.isVerb === true)
    throw new CliFailure(
      `another command uses ${config.dataDir} (pid ${running.pid}): try again when it has ended`,
    )
  if (running !== null) throw new CliFailure('the node is still starting: try again when it is ready')
  // With a typing error in SLUICE_DATA the verb would otherwise show a new, empty installation.
  if (!mayCreate && !hasCluster(config.dataDir)) {
    const what = existsSync(config.dataDir) ? 'database in the data directory' : 'data directory'
    throw new CliFailure(
      `there is no ${what} ${config.dataDir}: set SLUICE_DATA, or start the node once to create it`,
    )
  }
  const data = await openDataDirectory(config.dataDir, stderrLog, { isVerb: true })
  try {
    const postgres = await startEmbeddedPostgres({ dataDir: data.path, log: stderrLog })
    try {
      return await use({ databaseUrl: new Secret(postgres.url), redis: null }, config)
    } finally {
      await postgres.stop()
    }
  } finally {
    data.release()
  }
}

function redisOf(config: Config, runtime: Runtime | null): StoreAddresses['redis'] {
  if (config.redisUrl !== null) return { url: config.redisUrl }
  if (runtime === null) return null
  return 'url' in runtime.redis ? { url: new Secret(runtime.redis.url) } : runtime.redis
}
