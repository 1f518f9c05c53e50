import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { once } from 'node:events'
import { syncFolder, writeDurable } from '../data-directory/own-folder.ts'
import { StartRefused } from '../start-refused.ts'
import { type Account, launch } from '../fleet/step-down.ts'
import { POSTGRES_ENVIRONMENT, EmbeddedPostgresError } from './postgres-binaries.ts'

export const POSTGRES_USER = 'sluice'
export const POSTGRES_DATABASE = 'sluice'
/** File in the data directory that names the place of the cluster. */
const RECORD = 'postgres.json'
/** File in the cluster's folder with the password. */
const PASSWORD = 'password'

/** A place for one cluster; `data` may not exist yet. */
export interface ClusterPlace {
  readonly folder: string
  /** Folder of `account`; root owns everything around it, so that the lesser account cannot redirect root. */
  readonly data: string
  /** Account that runs the server; null = the account of this process. */
  readonly account: Account | null
}

export interface Making {
  /** Folder of the programs. */
  readonly bin: string
  readonly setpriv: string | null
  /** False when the cluster may be lost if the machine stops. */
  readonly isSynced: boolean
}

export interface PlaceInput {
  readonly dataDir: string
  /** Parent of clusters whose account cannot enter `dataDir`. */
  readonly outsideDir: string
  readonly account: Account | null
}

/**
 * Finds or names the cluster of a data directory. The record `postgres.json` there has its place: next to the record by
 * name, or elsewhere under a random name. If the name were made from the path, a new data directory at the path of a
 * deleted one would get the old cluster, whose password is unknown. Failures (thrown): the record cannot be read; the
 * recorded cluster is gone, or belongs to another user.
 */
export async function placeCluster(request: PlaceInput): Promise<ClusterPlace> {
  const record = join(request.dataDir, RECORD)
  const recorded = await readRecord(record)
  if (recorded !== null) return recordedPlace(resolve(request.dataDir, recorded), request, record)
  const name =
    request.account === null
      ? 'postgres'
      : join(request.outsideDir, `cluster-${randomBytes(8).toString('hex')}`)
  const folder = resolve(request.dataDir, name)
  await mkdir(folder, { recursive: true })
  // The account only needs to traverse the folder: it knows the names below it.
  await chmod(folder, request.account === null ? 0o700 : 0o711)
  writeDurable(request.dataDir, RECORD, `${JSON.stringify({ cluster: name })}\n`)
  return { folder, data: join(folder, 'data'), account: request.account }
}

/** True when a data directory has a cluster, or when one was being created. */
export function hasCluster(dataDir: string): boolean {
  return existsSync(join(dataDir, RECORD))
}

/** Folder of the cluster of a data directory, for people; null without a cluster, or with an unreadable record. */
export function clusterFolderOf(dataDir: string): string | null {
  try {
    const { cluster } = JSON.parse(readFileSync(join(dataDir, RECORD), 'utf8')) as {
      readonly cluster?: unknown
    }
    return typeof cluster === 'string' ? resolve(dataDir, cluster) : null
  } catch {
    return null
  }
}

/**
 * Reads the record, and throws for an unreadable one: a start that ignored the record would create an empty cluster in
 * addition to the recorded one.
 */
async function readRecord(file: string): Promise<string | null> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (
      typeof value === 'object' &&
      value !== null &&
      'cluster' in value &&
      typeof value.cluster === 'string'
    )
      return value.cluster
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
  }
  throw new EmbeddedPostgresError(
    `${file} cannot be read: restore the file, or delete it to start without the data it refers to`,
  )
}

/**
 * Creates the cluster unless it exists, and returns its password. `initdb` works in a separate folder that is renamed
 * at the end: `PG_VERSION` does not prove that it finished, since it writes that file among the first.
 */
export async function ensureCluster(
  place: ClusterPlace,
  making: Making,
): Promise<{ readonly password: string }> {
  const passwordFile = join(place.folder, PASSWORD)
  const isMade = await stat(place.data).then(
    () => true,
    () => false,
  )
  if (isMade) return { password: (await readFile(passwordFile, 'utf8')).trim() }
  await removeUnfinished(place.folder)
  const password = randomBytes(32).toString('base64url')
  writeDurable(place.folder, PASSWORD, `${password}\n`)
  const fresh = join(place.folder, `data.new-${process.pid}`)
  // A copy that the account can read while initdb runs.
  const lentPassword = join(place.folder, `password.new-${process.pid}`)
  await mkdir(fresh, { mode: 0o700 })
  await writeFile(lentPassword, `${password}\n`, { mode: 0o600 })
  for (const path of place.account === null ? [] : [fresh, lentPassword]) {
    await chown(path, place.account?.uid ?? 0, place.account?.gid ?? 0)
  }
  await fillCluster(fresh, lentPassword, { ...making, account: place.account })
  await rm(lentPassword)
  await rename(fresh, place.data)
  if (making.isSynced) syncFolder(place.folder)
  return { password }
}

/** Syncs once, at the end: syncing takes nearly all of the time. */
async function fillCluster(
  fresh: string,
  passwordFile: string,
  making: Making & Pick<ClusterPlace, 'account'>,
): Promise<void> {
  const initdb = [
    '-U',
    POSTGRES_USER,
    '--locale=C',
    '-E',
    'UTF8',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
  ]
  await runPostgresProgram({ ...making, name: 'initdb', args: ['-D', fresh, '--no-sync', ...initdb] })
  const input = `CREATE DATABASE ${POSTGRES_DATABASE};\n`
  await runPostgresProgram({
    ...making,
    name: 'postgres',
    args: ['--single', '-D', fresh, '-c', 'fsync=off', 'postgres'],
    input,
  })
  if (making.isSynced)
    await runPostgresProgram({ ...making, name: 'initdb', args: ['-D', fresh, '--sync-only'] })
}

/**
 * Checks the version of a cluster: Postgres reads no cluster of another major version, and its message has no
 * remedy. Throws StartRefused with a remedy.
 */
export async function checkClusterVersion(
  { folder, data }: Pick<ClusterPlace, 'folder' | 'data'>,
  ours: number,
): Promise<void> {
  const text = await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => '')
  const theirs = Number.parseInt(text, 10)
  if (Number.isNaN(theirs) || theirs === ours) return
  const way =
    theirs > ours
      ? 'start the node with the Sluice version that created the cluster, or with a newer version'
      : 'run `sluice backup` with the Sluice version that created it, then `sluice restore` with this version into a new data directory'
  throw new StartRefused(
    `the cluster ${folder} belongs to Postgres ${theirs}, but this Sluice includes Postgres ${ours}: ${way}`,
  )
}

async function recordedPlace(folder: string, request: PlaceInput, record: string): Promise<ClusterPlace> {
  const data = join(folder, 'data')
  const owner = await stat(data).catch(() => null)
  if (owner === null) {
    const isEmptyPlace = await stat(folder).then(
      () => true,
      () => false,
    )
    if (isEmptyPlace) return { folder, data, account: request.account }
    throw new EmbeddedPostgresError(`${record} refers to the data in ${folder}, which no longer exists`)
  }
  const ourUid = process.getuid?.() ?? owner.uid
  if (owner.uid === ourUid) return { folder, data, account: null }
  if (ourUid !== 0) throw new EmbeddedPostgresError(`the cluster ${folder} belongs to user ${owner.uid}`)
  // Root uses the account that created the cluster, even if it would choose another account today.
  return { folder, data, account: { uid: owner.uid, gid: owner.gid } }
}

async function removeUnfinished(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /^(data|password)\.new-/.test(name))
  // When initdb is killed, a server that it started runs and writes for a moment longer.
  for (const name of names)
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 100, retryDelay: 50 })
}

interface ProgramRun {
  readonly account: Account | null
  readonly setpriv: string | null
  readonly bin: string
  readonly name: 'initdb' | 'postgres'
  readonly args: readonly string[]
  readonly input?: string
}

/** Runs a Postgres program to its end; the program ends with this process. Throws with its last output when it fails. */
async function runPostgresProgram(run: ProgramRun): Promise<void> {
  const child = launch(join(run.bin, run.name), run.args, {
    account: run.account,
    setpriv: run.setpriv,
    // A partial initdb is useless, and would still write while the next start checks its folder.
    deathSignal: 'KILL',
    options: { cwd: '/', env: POSTGRES_ENVIRONMENT, stdio: ['pipe', 'ignore', 'pipe'] },
  })
  let output = ''
  child.stderr?.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-500)))
  child.stdin?.on('error', () => {})
  child.stdin?.end(run.input ?? '')
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0)
    throw new EmbeddedPostgresError(`${run.name} failed (${output.trim() || `exit code ${code}`})`)
}
