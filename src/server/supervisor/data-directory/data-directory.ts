import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../../ports/observe.ts'
import type { ChildPart } from '../fleet/ipc.ts'
import {
  draftOf,
  openOwnFolder,
  readOwn,
  whyNotOwn,
  writeDurable,
  writePrivate,
  type OwnFolderInput,
} from './own-folder.ts'
import {
  identityOf,
  isIdentity,
  isRunning,
  signal,
  waitUntilGone,
  type ProcessIdentity,
} from '../fleet/process-state.ts'
import { StartRefused } from '../start-refused.ts'

/** The addresses of a running node's stores, for the command line. Contains secrets; mode 0600. */
export interface Runtime {
  readonly databaseUrl: string
  /** The whole URL, since the shell that runs a verb may have no `REDIS_URL`. */
  readonly redis: ChildPart['redis']
  readonly url: string
  readonly adminUrl: string
  /** The signal that makes the node read scale requests; it would end a node of an older version. */
  readonly scalesBy?: 'SIGUSR2'
}

/** The one directory that holds the state of a node, claimed by this process. Mode 0700. */
export interface DataDirectory {
  readonly path: string
  /** Name of the node in the store: created once and kept as long as the directory. */
  readonly node: string
  /**
   * Records a forked process, so that the next start ends it if this supervisor cannot. A failed write is a
   * warning: the processes end with their supervisor by themselves, and a full disk must not end the node.
   */
  remember(role: string, pid: number): void
  forget(pid: number): void
  /** Writes the addresses of the stores for the command line. */
  publish(runtime: Runtime): void
  /** Writes a file that only its owner may read, completely or not at all; the file survives a sudden stop of the machine. */
  writePrivate(name: string, text: string): void
  /** Null when there is no such file. */
  read(name: string): string | null
  names(prefix: string): readonly string[]
  remove(name: string): void
  /** Removes the files with the prefix, except `names`. */
  keepOnly(prefix: string, names: ReadonlySet<string>): void
  /** Gives up the claim; call after every process has ended. */
  release(): void
}

const PID_FILE = 'supervisor.pid'
const PROCESSES_FILE = 'processes.json'
const RUNTIME_FILE = 'runtime.json'
/** File of the latest reload; see `reload-record.ts`. */
export const RELOAD_FILE = 'reload.json'
/** File of the history that a node leaves to its next start. */
export const HISTORY_FILE = 'history'
/** Prefix of the files of scale requests; see `scale-requests.ts`. */
export const SCALE_FILES = 'scale-'
/** File with the name of the node in the store. */
export const NODE_FILE = 'node-id'
/** Prefix of the files that test whether the directory is writable. */
export const PROBE_FILE = '.writable'
/**
 * Files that an interrupted start leaves in a new directory before it has a name, and the note of `vault confirm-root`,
 * which may precede the first start; drafts have a further ending.
 */
const EARLY_FILES = /^(supervisor\.pid|node-id|\.writable|root-key-copies\.json)(\.|$)/
/** Milliseconds that a killed process may take to end. */
const GONE_MS_MAX = 5_000

/**
 * Creates the directory where needed, claims it for this process, then kills and awaits processes of earlier
 * starts. Throws `StartRefused` when another node runs on it or the directory cannot be written. Design §2.
 * @param options.isVerb true for a verb, which holds the directory while it runs and does not handle the
 * signals of a node
 */
export async function openDataDirectory(
  path: string,
  log: Log,
  { isVerb = false } = {},
): Promise<DataDirectory> {
  checkWritable(path)
  claim(path, isVerb)
  await end(recorded(path))
  rmSync(join(path, PROCESSES_FILE), { force: true })
  rmSync(join(path, RUNTIME_FILE), { force: true })
  rmSync(join(path, RELOAD_FILE), { force: true })
  removeScaleRequests(path)
  const children = new Map<number, ProcessIdentity & { readonly role: string }>()
  const record = (change: () => boolean): void => {
    try {
      if (change()) writePrivate(path, PROCESSES_FILE, JSON.stringify([...children.values()]))
    } catch (cause) {
      log.warn('processes_not_recorded', { cause })
    }
  }
  return {
    path,
    node: nodeOf(path),
    remember: (role, pid) =>
      record(() => {
        const id = identityOf(pid)
        if (id !== null) children.set(pid, { ...id, role })
        return id !== null
      }),
    forget: (pid) => record(() => children.delete(pid)),
    publish: (runtime) => writePrivate(path, RUNTIME_FILE, JSON.stringify(runtime)),
    writePrivate: (name, text) => writeDurable(path, name, text),
    read: (name) => readOwn(path, name),
    names: (prefix) => namesIn(path, prefix),
    remove: (name) => rmSync(join(path, name), { force: true }),
    keepOnly(prefix, names) {
      for (const name of namesIn(path, prefix))
        if (!names.has(name)) rmSync(join(path, name), { force: true })
    },
    release() {
      removeScaleRequests(path)
      for (const name of [RUNTIME_FILE, RELOAD_FILE, PROCESSES_FILE, PID_FILE])
        rmSync(join(path, name), { force: true })
    },
  }
}

function namesIn(path: string, prefix: string): readonly string[] {
  return readdirSync(path).filter((name) => name.startsWith(prefix))
}

/** Removes scale requests: an ended node answers none. */
function removeScaleRequests(path: string): void {
  // The directory may have been deleted while the node ran; its end must not fail then.
  if (!existsSync(path)) return
  for (const name of namesIn(path, SCALE_FILES)) rmSync(join(path, name), { force: true })
}

export interface Holder extends ProcessIdentity {
  /** True for a verb: a signal meant for a node would terminate it. */
  readonly isVerb: boolean
}

/** Words for a message, before the name of the directory. */
export function whatHas({ isVerb }: Holder): string {
  return isVerb ? 'another command is using' : 'a node is running on'
}

/** The supervisor that runs on this directory now, or null. */
export function runningSupervisor(path: string): Holder | null {
  const id = parseId(readOwn(path, PID_FILE))
  return id !== null && isRunning(id) ? id : null
}

/** The published addresses of the node that runs on this directory; null when none runs or the node is not ready yet. */
export function runtimeOf(path: string): Runtime | null {
  const text = runningSupervisor(path) === null ? null : readOwn(path, RUNTIME_FILE)
  const value: unknown = text === null ? null : JSON.parse(text)
  return isRuntime(value) ? value : null
}

function nodeOf(path: string): string {
  const known = nodeIn(path)
  if (known !== null) return known
  const node = randomUUID()
  writeDurable(path, NODE_FILE, `${node}\n`)
  return node
}

/** The name of the node that uses the directory; null when its file is missing or cannot be read. */
export function nodeIn(path: string): string | null {
  try {
    return readOwn(path, NODE_FILE)?.trim() || null
  } catch {
    return null
  }
}

/** Why an existing directory cannot belong to a node, or null. */
export function whyForeign(path: string): string | null {
  return whyNotOwn(inputFor(path))
}

function inputFor(path: string): OwnFolderInput {
  return { path, token: NODE_FILE, early: EARLY_FILES }
}

/** Creates the directory where needed. Throws `StartRefused` when other users have access to it or it cannot be written. */
export function checkWritable(path: string): void {
  const foreign = tried(path, () => {
    const why = openOwnFolder(inputFor(path))
    if (why !== null) return why
    writePrivate(path, PROBE_FILE, '')
    rmSync(join(path, PROBE_FILE), { force: true })
    return null
  })
  if (foreign === null) return
  throw new StartRefused(
    `the data directory ${path} ${foreign}: set SLUICE_DATA to a directory that only Sluice uses`,
  )
}

function tried<T>(path: string, run: () => T): T {
  try {
    return run()
  } catch (cause) {
    const why = `cannot be written (${codeOf(cause)}): set SLUICE_DATA to a writable directory`
    throw new StartRefused(`the data directory ${path} ${why}`, { cause })
  }
}

/**
 * Claims the directory. A hard link appears with its content and fails when the name is taken: of two
 * concurrent starts only one succeeds.
 */
function claim(path: string, isVerb: boolean): void {
  const own = identityOf(process.pid)
  const file = join(path, PID_FILE)
  const draft = draftOf(file)
  writeFileSync(draft, `${process.pid}\n${own?.startedAt ?? ''}\n${isVerb ? `${VERB}\n` : ''}`, {
    mode: 0o600,
    flag: 'wx',
  })
  try {
    for (let attempt = 0; attempt < 3; attempt++) {
      if (linked(draft, file)) return
      const running = runningSupervisor(path)
      if (running !== null) throw new StartRefused(`${whatHas(running)} ${path} already (pid ${running.pid})`)
      removeStale(file)
    }
    throw new StartRefused(`another node is starting on ${path}`)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Removes a dead owner's file, and puts it back when the file turns out to be a new owner's. */
function removeStale(file: string): void {
  const aside = draftOf(file)
  try {
    renameSync(file, aside)
  } catch {
    return
  }
  const id = parseId(readFileSync(aside, 'utf8'))
  if (id !== null && isRunning(id)) linked(aside, file)
  rmSync(aside, { force: true })
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    throw cause
  }
}

async function end(older: readonly ProcessIdentity[]): Promise<void> {
  for (const id of older) if (isRunning(id)) signal(id.pid, 'SIGKILL')
  for (const id of older) {
    if (await waitUntilGone(id, GONE_MS_MAX)) continue
    throw new StartRefused(`process ${id.pid} of an earlier start does not stop`)
  }
}

function recorded(path: string): readonly ProcessIdentity[] {
  try {
    const value: unknown = JSON.parse(readOwn(path, PROCESSES_FILE) ?? '[]')
    return Array.isArray(value) ? value.filter(isIdentity) : []
  } catch {
    return []
  }
}

/** Third line of a verb's claim. */
const VERB = 'verb'

function parseId(text: string | null): Holder | null {
  const [pid, startedAt, kind] = (text ?? '').split('\n')
  if (pid === undefined || startedAt === undefined || !/^[0-9]+$/.test(pid)) return null
  return { pid: Number(pid), startedAt, isVerb: kind === VERB }
}

function isRuntime(value: unknown): value is Runtime {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['databaseUrl', 'url', 'adminUrl'].every((name) => typeof Reflect.get(value, name) === 'string') &&
    'redis' in value &&
    isRedis(value.redis)
  )
}

function isRedis(value: unknown): value is Runtime['redis'] {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof Reflect.get(value, 'url' in value ? 'url' : 'socketPath') === 'string'
  )
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'error'
}
