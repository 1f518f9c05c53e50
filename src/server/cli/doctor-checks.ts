import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadCatalogue } from '../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../catalogue/shipped.ts'
import type { Generation } from '../config.ts'
import { openState } from '../state/open.ts'
import { checkSchema, MIGRATIONS } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'
import { checkTlsFiles, listenerMigrationIsOn, platformProblem, probePort } from '../supervisor/checks.ts'
import { checkWritable, runningSupervisor, runtimeOf, type Runtime } from '../supervisor/data-directory.ts'
import { FIRST_KEYS_FILE } from '../supervisor/first-keys.ts'
import { REDIS_SERVERS } from '../supervisor/redis-child.ts'
import { findServer, findSetpriv } from '../supervisor/redis-find.ts'
import { sessionThreads } from '../supervisor/shares.ts'
import { PACKAGE_ROOT } from '../supervisor/version.ts'
import { stderrLog } from './stderr-log.ts'

/** One thing that was looked at. A `problem` keeps the node from working, a `warning` does not. */
export interface Finding {
  readonly check: string
  readonly level: 'ok' | 'warning' | 'problem'
  readonly detail: string
  /** What to do; with every warning and problem. */
  readonly fix?: string
}

/** Milliseconds that a store may take to answer. */
const STORE_MS_MAX = 3_000

/** Looks at everything that a node needs, in the order in which a start would meet it. */
export async function examine(generation: Generation): Promise<readonly Finding[]> {
  const { config } = generation
  const running = runningSupervisor(config.dataDir)
  const runtime = runtimeOf(config.dataDir)
  return [
    platform(),
    await frontEnd(),
    ...settings(generation),
    await dataDirectory(config.dataDir, running?.pid ?? null),
    ...(running === null ? await ports(generation) : []),
    await postgres(config.databaseUrl?.reveal() ?? runtime?.databaseUrl ?? null, config.databaseUrl !== null),
    await redis(generation, runtime),
    await deathSignal(),
    ...firstKeys(config.dataDir),
    workers(generation),
    listenerMigration(),
  ]
}

function platform(): Finding {
  const problem = platformProblem()
  const pair = `Node ${process.versions.node}, ABI ${process.versions.modules}`
  return problem === null
    ? { check: 'platform', level: 'ok', detail: pair }
    : {
        check: 'platform',
        level: 'problem',
        detail: problem,
        fix: 'use a supported pair of Node and glibc (README)',
      }
}

/** In a process of its own: the binary may end the one that loads it. */
function frontEnd(): Promise<Finding> {
  const args = ['--input-type=module', '--eval', "await import('uWebSockets.js')"]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: fileURLToPath(PACKAGE_ROOT) }, (error, _stdout, stderr) => {
      resolve(
        error === null
          ? { check: 'front_end', level: 'ok', detail: 'the binary of uWebSockets.js loads' }
          : {
              check: 'front_end',
              level: 'problem',
              detail: stderr.trim().split('\n').at(-1) ?? error.message,
              fix: 'run `npm ci` with this Node',
            },
      )
    })
  })
}

function settings({ config, unknown }: Generation): readonly Finding[] {
  const findings: Finding[] = unknown.map((name) => ({
    check: 'settings',
    level: 'warning',
    detail: `${name} is no setting of this version`,
    fix: 'see `sluice config print` for the names',
  }))
  if (config.tls !== null) {
    findings.push(
      attempt(
        'tls',
        'certificate and key fit',
        'correct SLUICE_TLS_CERT and SLUICE_TLS_KEY',
        () => config.tls !== null && checkTlsFiles(config.tls),
      ),
    )
  }
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: config.catalogFile })
  findings.push(
    loaded.ok
      ? { check: 'catalogue', level: 'ok', detail: `${loaded.catalogue.models.length} models` }
      : {
          check: 'catalogue',
          level: 'problem',
          detail: `${loaded.problems.length} mistakes`,
          fix: 'run `sluice catalog check` on the file of SLUICE_CATALOG',
        },
  )
  return findings
}

async function dataDirectory(path: string, pid: number | null): Promise<Finding> {
  if (pid !== null)
    return { check: 'data_directory', level: 'ok', detail: `${path}, in use by the node (pid ${pid})` }
  if (!existsSync(path)) return { check: 'data_directory', level: 'ok', detail: `${path}, not made yet` }
  return attempt('data_directory', path, 'set SLUICE_DATA to a directory that this user may write', () =>
    checkWritable(path),
  )
}

async function ports({ config }: Generation): Promise<readonly Finding[]> {
  const of = async (host: string, port: number, setting: string): Promise<Finding> => {
    const problem = await probePort(host, port, setting).then(
      () => null,
      (cause: unknown) => messageOf(cause),
    )
    return problem === null
      ? { check: 'port', level: 'ok', detail: `${host}:${port} is free` }
      : { check: 'port', level: 'problem', detail: problem, fix: `set ${setting}, or end what listens there` }
  }
  return [
    await of(config.host, config.port, 'SLUICE_PORT'),
    await of(config.adminHost, config.adminPort, 'SLUICE_ADMIN_PORT'),
  ]
}

async function postgres(url: string | null, isExternal: boolean): Promise<Finding> {
  if (url === null) return { check: 'postgres', level: 'ok', detail: 'embedded; the node is not running' }
  const fix = isExternal ? 'look at DATABASE_URL and at the server itself' : 'look at the log of the node'
  const store = openStore({ url, poolMax: 1, applicationName: 'sluice-doctor' })
  try {
    const { at } = await store.within(STORE_MS_MAX, (sql) => checkSchema(sql))
    const behind = MIGRATIONS.length - at
    if (behind > 0)
      return {
        check: 'postgres',
        level: 'warning',
        detail: `${behind} migrations are missing`,
        fix: 'start the node, or run `sluice migrate`',
      }
    return {
      check: 'postgres',
      level: 'ok',
      detail: `${isExternal ? 'external' : 'embedded'}, migration ${at}`,
    }
  } catch (cause) {
    return { check: 'postgres', level: 'problem', detail: messageOf(cause), fix }
  } finally {
    await store.close()
  }
}

async function redis({ config }: Generation, runtime: Runtime | null): Promise<Finding> {
  const socketPath = runtime?.redisSocketPath ?? null
  if (config.redisUrl === null && socketPath === null) return embeddedRedis()
  const state = openState({
    log: { ...stderrLog, warn: () => undefined },
    ...(config.redisUrl === null
      ? { url: null, socketPath: socketPath ?? '' }
      : { url: config.redisUrl.reveal() }),
  })
  try {
    if (await state.whenReachable(STORE_MS_MAX))
      return { check: 'redis', level: 'ok', detail: config.redisUrl === null ? 'embedded' : 'external' }
    return {
      check: 'redis',
      level: 'warning',
      detail: 'it does not answer: rate limits are only shared out evenly',
      fix: 'look at REDIS_URL and at the server itself',
    }
  } finally {
    await state.close()
  }
}

async function embeddedRedis(): Promise<Finding> {
  const server = await findServer(REDIS_SERVERS)
  return server === null
    ? {
        check: 'redis',
        level: 'warning',
        detail: 'no redis-server on the PATH: rate windows are lost on restart',
        fix: 'install redis or valkey, or set REDIS_URL',
      }
    : { check: 'redis', level: 'ok', detail: `embedded: ${server}` }
}

async function deathSignal(): Promise<Finding> {
  if (process.platform !== 'linux' || (await findSetpriv()) !== null)
    return { check: 'hard_kill', level: 'ok', detail: 'embedded services end with the node' }
  return {
    check: 'hard_kill',
    level: 'warning',
    detail: 'a hard kill of the node may leave its services running until the next start',
    fix: 'install setpriv (util-linux)',
  }
}

function firstKeys(dataDir: string): readonly Finding[] {
  const file = `${dataDir}/${FIRST_KEYS_FILE}`
  return existsSync(file)
    ? [
        {
          check: 'first_keys',
          level: 'warning',
          detail: `${file} holds plain keys`,
          fix: 'keep them in a safe place and delete the file',
        },
      ]
    : []
}

function workers({ config }: Generation): Finding {
  const threads = sessionThreads(config.workers, config.fronts).reduce((sum, count) => sum + count, 0)
  return {
    check: 'workers',
    level: 'ok',
    detail: `${config.fronts} fronts, ${threads} worker threads, ${config.runners} runners`,
  }
}

function listenerMigration(): Finding {
  if (process.platform !== 'linux' || listenerMigrationIsOn())
    return { check: 'listener_migration', level: 'ok', detail: 'on' }
  return {
    check: 'listener_migration',
    level: 'warning',
    detail: 'about 1 new connection in 65,000 is reset while fronts are replaced at full speed',
    fix: 'sysctl -w net.ipv4.tcp_migrate_req=1',
  }
}

function attempt(check: string, detail: string, fix: string, run: () => unknown): Finding {
  try {
    run()
    return { check, level: 'ok', detail }
  } catch (cause) {
    return { check, level: 'problem', detail: messageOf(cause), fix }
  }
}

function messageOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message
}
