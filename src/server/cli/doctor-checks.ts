import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FILE_BYTES_MAX } from '../../schemas/file-limits.ts'
import { loadCatalogue } from '../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../catalogue/shipped.ts'
import type { Generation } from '../config.ts'
import type { ModelCatalogue } from '../ports/models.ts'
import { stateAddress } from '../main/child.ts'
import { openStorage, placeOfObjects } from '../main/storage.ts'
import { openState } from '../state/open.ts'
import { checkSchema, MIGRATIONS } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'
import { checkTlsFiles, listenerMigrationIsOn, platformProblem, probePort } from '../supervisor/checks.ts'
import { checkWritable, runningSupervisor, runtimeOf, type Runtime } from '../supervisor/data-directory.ts'
import { FIRST_KEYS_FILE } from '../supervisor/first-keys.ts'
import { clusterFolderOf } from '../supervisor/postgres-cluster.ts'
import { REDIS_SERVERS } from '../supervisor/redis-child.ts'
import { findServer } from '../supervisor/redis-find.ts'
import { countsOf } from '../supervisor/scaling.ts'
import { findSetpriv } from '../supervisor/step-down.ts'
import { PACKAGE_ROOT } from '../supervisor/version.ts'
import { openRootKeys, ROOT_KEY_FILE } from '../vault/root-keys.ts'
import { egress } from './doctor-egress.ts'
import { journals } from './doctor-journals.ts'
import { adviceOn, countsText, lookAtLoad, tooMany } from './doctor-load.ts'
import { webhooks } from './doctor-webhooks.ts'
import { unsetKeys } from './models.ts'
import { stderrLog } from './stderr-log.ts'

/** One thing that was looked at. A `problem` keeps the node from working, a `warning` does not. */
export interface Finding {
  readonly check: string
  readonly level: 'ok' | 'warning' | 'problem'
  readonly detail: string
  /** What to do; with every warning and problem. */
  readonly fix?: string
}

const EXTERNAL = 'external'
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
    ...egress(config),
    await dataDirectory(config.dataDir, running?.pid ?? null),
    ...(running === null ? await ports(generation) : []),
    ...await postgres(config, config.databaseUrl?.reveal() ?? runtime?.databaseUrl ?? null),
    await redis(generation, runtime),
    await storage(generation),
    rootKey(generation),
    deathSignal(),
    ...firstKeys(config.dataDir),
    ...await workers(generation, runtime),
    listenerMigration(),
  ]
}

function platform(): Finding {
  const problem = platformProblem()
  if (problem !== null) return bad('platform', problem, 'use a supported pair of Node and glibc (README)')
  return good('platform', `Node ${process.versions.node}, ABI ${process.versions.modules}`)
}

/** In a process of its own: the binary may end the one that loads it. */
function frontEnd(): Promise<Finding> {
  const args = ['--input-type=module', '--eval', "await import('uWebSockets.js')"]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: fileURLToPath(PACKAGE_ROOT) }, (error, _stdout, stderr) => {
      const reason = stderr.trim().split('\n').at(-1) ?? ''
      resolve(error === null
        ? good('front_end', 'the binary of uWebSockets.js loads')
        : bad('front_end', reason === '' ? error.message : reason, 'run `npm ci` with this Node'))
    })
  })
}

function settings({ config, unknown, providerKeys }: Generation): readonly Finding[] {
  const { tls, catalogFile } = config
  const slip = 'see `sluice config print` for the names'
  const mistakes = 'run `sluice catalog check` on the file of SLUICE_CATALOG'
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: catalogFile })
  return [
    ...unknown.map((name) => doubtful('settings', `${name} is no setting of this version`, slip)),
    ...(tls === null ? [] : [tlsFiles(tls)]),
    ...(loaded.ok
      ? [good('catalogue', `${loaded.catalogue.models.length} models`), keysOf(loaded.catalogue, providerKeys)]
      : [bad('catalogue', `${loaded.problems.length} mistakes`, mistakes)]),
  ]
}

/** A provider without its key is passed over: no mistake, since hardly anybody has all of them. */
function keysOf(catalogue: ModelCatalogue, providerKeys: Generation['providerKeys']): Finding {
  const unset = unsetKeys(catalogue, providerKeys)
  return good('provider_keys', unset.length === 0 ? 'all are set' : `not set: ${unset.join(', ')}`)
}

function tlsFiles(tls: NonNullable<Generation['config']['tls']>): Finding {
  const fix = 'correct SLUICE_TLS_CERT and SLUICE_TLS_KEY'
  return attempt(() => checkTlsFiles(tls), good('tls', 'certificate and key fit'), fix)
}

async function dataDirectory(path: string, pid: number | null): Promise<Finding> {
  if (pid !== null) return good('data_directory', `${path}, in use by the node (pid ${pid})`)
  if (!existsSync(path)) return good('data_directory', `${path}, not made yet`)
  const fix = 'set SLUICE_DATA to a directory that this user may write'
  return attempt(() => checkWritable(path), good('data_directory', path), fix)
}

async function ports({ config }: Generation): Promise<readonly Finding[]> {
  const look = async (host: string, port: number, setting: string): Promise<Finding> => {
    try {
      await probePort(host, port, setting)
      return good('port', `${host}:${port} is free`)
    } catch (cause) {
      return bad('port', messageOf(cause), `set ${setting}, or end what listens there`)
    }
  }
  const { host, port, adminHost, adminPort } = config
  return [await look(host, port, 'SLUICE_PORT'), await look(adminHost, adminPort, 'SLUICE_ADMIN_PORT')]
}

/** Where the embedded one lies is for backups: run by root it is not in the data directory. */
function placeOfPostgres({ databaseUrl, dataDir }: Generation['config']): string {
  if (databaseUrl !== null) return EXTERNAL
  const folder = clusterFolderOf(dataDir)
  return folder === null ? 'embedded' : `embedded in ${folder}`
}

async function postgres(config: Generation['config'], url: string | null): Promise<readonly Finding[]> {
  const where = placeOfPostgres(config)
  if (url === null) return [good('postgres', `${where}; the node is not running`)]
  const store = openStore({ url, poolMax: 1, applicationName: 'sluice-doctor' })
  try {
    const { at } = await store.within(STORE_MS_MAX, (sql) => checkSchema(sql))
    const missing = MIGRATIONS.length - at
    if (missing === 0) {
      return [good('postgres', `${where}, migration ${at}`), ...await journals(store, STORE_MS_MAX, config), await webhooks(store, STORE_MS_MAX)]
    }
    const fix = 'start the node, or run `sluice migrate`'
    return [doubtful('postgres', `${missing} migrations are missing`, fix)]
  } catch (cause) {
    const place = where === EXTERNAL ? 'DATABASE_URL and at the server itself' : 'the log of the node'
    return [bad('postgres', messageOf(cause), `look at ${place}`)]
  } finally {
    await store.close()
  }
}

async function redis({ config }: Generation, runtime: Runtime | null): Promise<Finding> {
  const address = config.redisUrl === null ? runtime?.redis : { url: config.redisUrl.reveal() }
  if (address === undefined) return embeddedRedis()
  const quiet = { ...stderrLog, warn: () => undefined }
  const state = openState({ ...stateAddress(address), log: quiet })
  try {
    if (await state.whenReachable(STORE_MS_MAX)) return good('redis', 'url' in address ? 'external' : 'embedded')
    const detail = 'it does not answer: rate limits are only shared out evenly'
    return doubtful('redis', detail, 'look at REDIS_URL and at the server itself')
  } finally {
    await state.close()
  }
}

/** Free bytes on the disk of objects or staging below which uploads are soon refused. */
const FREE_BYTES_MIN = 10 * FILE_BYTES_MAX

async function storage({ config }: Generation): Promise<Finding> {
  const place = placeOfObjects(config)
  const fix = config.objects.kind === 'disk'
    ? 'set SLUICE_OBJECTS to a directory that this user may write'
    : 'look at SLUICE_OBJECTS, SLUICE_S3_ENDPOINT and the access key'
  if (config.objects.kind === 'disk' && !existsSync(config.objects.folder)) return good('storage', `${place}, not made yet`)
  // With a bucket, staging is in the data directory: a look does not make one.
  const dataDir = existsSync(config.dataDir) ? config.dataDir : await mkdtemp(join(tmpdir(), 'sluice-doctor-'))
  try {
    const opened = await openStorage({ ...config, dataDir })
    try {
      // In a bucket that is not there no object is there either: only a listing tells.
      const seen = config.objects.kind === 'disk' ? await opened.stat('doctor') : await opened.list(null)
      if (!seen.ok) return bad('storage', `${place}: ${messageOf(seen.failure.cause)}`, fix)
    } finally {
      await opened.close()
    }
    const { bavail, bsize } = await statfs(config.objects.kind === 'disk' ? config.objects.folder : dataDir)
    const free = bavail * bsize
    const detail = `${place}, ${Math.floor(free / 2 ** 20)} MiB free${config.objects.kind === 'disk' ? '' : ' for staging'}`
    return free < FREE_BYTES_MIN ? doubtful('storage', detail, 'make room: uploads are refused when none is left') : good('storage', detail)
  } catch (cause) {
    return bad('storage', `${place}: ${messageOf(cause)}`, fix)
  } finally {
    if (dataDir !== config.dataDir) await rm(dataDir, { recursive: true, force: true })
  }
}

/** Looks without making one. */
function rootKey({ config }: Generation): Finding {
  const { rootKey: setting, rootKeyFile, dataDir } = config
  const made = join(dataDir, ROOT_KEY_FILE)
  if (setting === null && rootKeyFile === null && !existsSync(made)) return good('root_key', 'made by the first start')
  const fix = 'correct SLUICE_ROOT_KEY or SLUICE_ROOT_KEY_FILE'
  const where = setting !== null ? 'given by SLUICE_ROOT_KEY' : rootKeyFile ?? `${made}; back it up`
  try {
    const older = openRootKeys({ setting, file: rootKeyFile, dataDir }).ids.length - 1
    return good('root_key', older === 0 ? where : `${where}; ${older} more, which \`sluice vault status\` tells the use of`)
  } catch (cause) {
    return bad('root_key', messageOf(cause), fix)
  }
}

async function embeddedRedis(): Promise<Finding> {
  const server = await findServer(REDIS_SERVERS)
  if (server !== null) return good('redis', `embedded: ${server}`)
  const detail = 'no redis-server on the PATH: rate windows are lost on restart'
  return doubtful('redis', detail, 'install redis or valkey, or set REDIS_URL')
}

function deathSignal(): Finding {
  const isSafe = process.platform !== 'linux' || findSetpriv() !== null
  if (isSafe) return good('hard_kill', 'embedded services end with the node')
  const detail = 'a hard kill of the node may leave its services running until the next start'
  return doubtful('hard_kill', detail, 'install setpriv (util-linux)')
}

function firstKeys(dataDir: string): readonly Finding[] {
  const file = `${dataDir}/${FIRST_KEYS_FILE}`
  if (!existsSync(file)) return []
  return [doubtful('first_keys', `${file} holds plain keys`, 'keep them in a safe place and delete the file')]
}

/** Of a running node what it does now, which `sluice scale` may have changed; else what the settings say. */
async function workers(generation: Generation, runtime: Runtime | null): Promise<readonly Finding[]> {
  const seen = runtime === null ? null : await lookAtLoad(runtime.adminUrl)
  if (seen !== null) return adviceOn(seen.load, seen.cores)
  const counts = countsOf(generation)
  const said = good('workers', countsText(counts, generation.config.runners, generation.config))
  const advice = tooMany(counts.fronts, { all: availableParallelism() })
  return advice === null ? [said] : [said, doubtful('load', advice.detail, advice.fix)]
}

function listenerMigration(): Finding {
  if (process.platform !== 'linux' || listenerMigrationIsOn()) return good('listener_migration', 'on')
  const detail = 'about 1 new connection in 65,000 is reset while fronts are replaced at full speed'
  return doubtful('listener_migration', detail, 'sysctl -w net.ipv4.tcp_migrate_req=1')
}

function good(check: string, detail: string): Finding {
  return { check, level: 'ok', detail }
}

function doubtful(check: string, detail: string, fix: string): Finding {
  return { check, level: 'warning', detail, fix }
}

function bad(check: string, detail: string, fix: string): Finding {
  return { check, level: 'problem', detail, fix }
}

function attempt(run: () => void, finding: Finding, fix: string): Finding {
  try {
    run()
    return finding
  } catch (cause) {
    return bad(finding.check, messageOf(cause), fix)
  }
}

function messageOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message
}
