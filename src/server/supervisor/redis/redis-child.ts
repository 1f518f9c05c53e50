import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fork, type ChildProcess } from 'node:child_process'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Log } from '../../ports/observe.ts'
import { bareEnvironment } from '../../config.ts'
import { writePrivate } from '../data-directory/own-folder.ts'
import { makeSocketFolder } from '../data-directory/socket-folder.ts'
import { findSetpriv, launch as launchProgram } from '../fleet/step-down.ts'
import { endOrphan, findServer, REDIS_SOCKET } from './redis-find.ts'
import { REDIS_HZ } from './redis-rest.ts'

export interface RedisOptions {
  /** The node's data directory; the append-only file lies in `redis/` below it. */
  readonly dataDir: string
  readonly log: Log
  /** Names or paths of real servers, tried in order; an empty list selects the in-memory server. */
  readonly servers?: readonly string[]
}

export interface EmbeddedRedis {
  readonly socketPath: string
  /** `child` = a real server with an append-only file; `in-memory` = the server in JavaScript, which loses its data when it ends. */
  readonly mode: 'child' | 'in-memory'
  /** Ends the server, by SIGKILL after 5 s, and removes the folder of the socket. */
  stop(): Promise<void>
}

/** Real servers that are searched on the PATH. Design §3. */
export const REDIS_SERVERS: readonly string[] = ['redis-server', 'valkey-server']
/** Shortest pause in milliseconds before a server that died is started again. */
const RESTART_MS_MIN = 100
/** Longest pause in milliseconds before a server that died is started again. */
const RESTART_MS_MAX = 5_000

/**
 * Starts the embedded Redis and keeps it running: a server that dies is started again on the same socket.
 * Throws when none can be started. Design §3.
 */
export async function startRedis({
  dataDir,
  log,
  servers = REDIS_SERVERS,
}: RedisOptions): Promise<EmbeddedRedis> {
  const home = join(dataDir, 'redis')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  await endOrphan(home, recordOf(home))
  const command = await findServer(servers)
  // The folder is new, so its path differs from the path in the record of an earlier start.
  const socketPath = join(makeSocketFolder({ at: null, socket: REDIS_SOCKET, account: null }), REDIS_SOCKET)
  const launch = () =>
    command === null ? launchInMemory({ socketPath }) : launchServer({ command, socketPath, home })
  const running = await launchPastDamage(launch, { home, log, isReal: command !== null })
  const keeper = keepUp(running, { launch, home, socketPath, log })
  const mode = command === null ? 'in-memory' : 'child'
  if (mode === 'in-memory')
    log.warn('redis_in_memory', { note: 'no redis-server on the PATH: rate windows are lost on restart' })
  return {
    socketPath,
    mode,
    async stop() {
      await keeper.stop()
      rmSync(dirname(socketPath), { recursive: true, force: true })
      rmSync(join(home, RECORD), { force: true })
    },
  }
}

/** File that names the running server, so that the next start can end a server that survived its supervisor. */
const RECORD = 'server.json'

interface Keeping {
  readonly launch: () => Promise<RunningRedis>
  readonly home: string
  readonly socketPath: string
  readonly log: Log
}

function keepUp(first: RunningRedis, { launch, home, socketPath, log }: Keeping): { stop(): Promise<void> } {
  let current = first
  let isStopping = false
  let pauseMs = RESTART_MS_MIN
  let restarting: Promise<void> = Promise.resolve()
  const watch = (running: RunningRedis): void => {
    current = running
    void running.ended.then((how) => {
      if (isStopping) return
      log.error('redis_ended', { how })
      restarting = again()
    })
    // A server without a record still ends with this process; a second server on the same file would damage
    // it.
    try {
      writePrivate(home, RECORD, JSON.stringify({ pid: running.pid, socketPath }))
    } catch (cause) {
      log.warn('redis_not_recorded', { cause })
    }
  }
  const again = async (): Promise<void> => {
    while (!isStopping) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      if (isStopping) return
      pauseMs = Math.min(pauseMs * 2, RESTART_MS_MAX)
      try {
        watch(await launch())
        pauseMs = RESTART_MS_MIN
        log.info('redis_restarted', { pid: current.pid })
        return
      } catch (cause) {
        log.error('redis_start_failed', { cause })
      }
    }
  }
  watch(first)
  return {
    async stop() {
      isStopping = true
      await restarting
      await current.stop()
    },
  }
}

/**
 * Starts a server in spite of a damaged file. The server itself cuts a truncated tail; damage before the tail makes it
 * refuse to start every time. The data of Redis can be rebuilt or lost (design §3), so the damaged file is moved aside
 * and the start is repeated.
 */
async function launchPastDamage(
  launch: () => Promise<RunningRedis>,
  { home, log, isReal }: { home: string; log: Log; isReal: boolean },
): Promise<RunningRedis> {
  try {
    return await launch()
  } catch (cause) {
    if (!isReal) throw cause
    const aside = join(home, `damaged-${Date.now()}`)
    try {
      renameSync(join(home, 'appendonlydir'), aside)
    } catch {
      throw cause
    }
    log.error('redis_file_damaged', { cause, movedTo: aside })
    return launch()
  }
}

function recordOf(home: string): { pid: number; socketPath: string } | null {
  try {
    const record: unknown = JSON.parse(readFileSync(join(home, RECORD), 'utf8'))
    if (typeof record !== 'object' || record === null || !('pid' in record) || !('socketPath' in record))
      return null
    const { pid, socketPath } = record
    return typeof pid === 'number' && Number.isInteger(pid) && pid > 1 && typeof socketPath === 'string'
      ? { pid, socketPath }
      : null
  } catch {
    return null
  }
}

export interface RunningRedis {
  readonly pid: number
  /** Resolves with the reason when the process is gone. */
  readonly ended: Promise<string>
  /** Stops the server by SIGTERM, then SIGKILL after 5 s; resolves when it is gone. */
  stop(): Promise<void>
}

/** Milliseconds until a new server must run a script; before that it reads its append-only file, which may be large. */
const START_MS_MAX = 30_000
/** Milliseconds of one try. */
const TRY_MS_MAX = 5_000
/** Milliseconds between two tries. */
const TRY_PAUSE_MS = 10
/** A script, which every limited call needs. The in-memory server creates its script engine at the first use; this takes a while. */
const PROBE = 'EVAL "return 1" 0\r\n'
/** Reply to the probe. */
const PROBED = ':1'
/** Milliseconds until a server that ignores SIGTERM is killed: with a full disk it would never end. */
const STOP_MS_MAX = 5_000
/** Characters of a server's last output that an error quotes. */
const LAST_WORDS_CHARS = 500

/** Starts redis-server or valkey-server; rejects with its last output when it ends or does not answer. */
export async function launchServer({
  command,
  socketPath,
  home,
}: {
  command: string
  socketPath: string
  home: string
}): Promise<RunningRedis> {
  rmSync(socketPath, { force: true })
  const settings = {
    dir: home,
    hz: String(REDIS_HZ),
    port: '0',
    unixsocket: socketPath,
    unixsocketperm: '700',
    daemonize: 'no',
    loglevel: 'warning',
    // With a configured snapshot the server refuses SIGTERM when it cannot write one; the append-only file is
    // enough.
    save: '',
    appendonly: 'yes',
    appendfsync: 'everysec',
    'aof-load-truncated': 'yes',
    'maxmemory-policy': 'noeviction',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  const child = launchProgram(command, args, {
    account: null,
    setpriv: findSetpriv(),
    deathSignal: 'TERM',
    options: { env: bareEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] },
  })
  return whenAnswering(child, socketPath)
}

/** Starts the in-memory server in a process of its own, which ends when its IPC channel closes. */
export async function launchInMemory({ socketPath }: { socketPath: string }): Promise<RunningRedis> {
  rmSync(socketPath, { force: true })
  const entry = fileURLToPath(new URL('../../../../bundle/redis-process.js', import.meta.url))
  const child = fork(entry, [socketPath], {
    detached: true,
    env: bareEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
  })
  return whenAnswering(child, socketPath)
}

async function whenAnswering(child: ChildProcess, socketPath: string): Promise<RunningRedis> {
  let lastWords = ''
  const keep = (text: Buffer): void => {
    lastWords = (lastWords + text.toString('utf8')).slice(-LAST_WORDS_CHARS)
  }
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)
  let isGone = false
  const ended = new Promise<string>((resolve) => {
    const end = (how: string) => () => {
      isGone = true
      resolve(how)
    }
    child.once('error', (error) => end(error.message)())
    child.once('exit', (code, signal) => end(`${signal ?? `exit ${code}`}: ${lastWords.trim()}`)())
  })
  const running = { pid: child.pid ?? 0, ended, stop: () => stop(child, ended) }
  const giveUpAt = performance.now() + START_MS_MAX
  while (!(await runsScripts(socketPath))) {
    if (isGone) throw new Error(`Redis did not start: ${await ended}`)
    if (performance.now() > giveUpAt) {
      await running.stop()
      throw new Error(`Redis did not answer within ${START_MS_MAX} ms: ${lastWords.trim()}`)
    }
    await new Promise((resolve) => setTimeout(resolve, TRY_PAUSE_MS))
  }
  return running
}

async function stop(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill('SIGTERM')
  // A suspended process handles SIGTERM only when it is resumed.
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
  await ended
  clearTimeout(timer)
}

/** Tests the socket itself: the existence of the socket's file proves nothing, and a server that still loads answers with an error. */
function runsScripts(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath)
    const settle = (isUp: boolean) => () => {
      socket.destroy()
      resolve(isUp)
    }
    socket.setTimeout(TRY_MS_MAX, settle(false))
    socket.once('error', settle(false))
    socket.once('close', settle(false))
    socket.once('connect', () => socket.write(PROBE))
    socket.once('data', (reply) => settle(reply.toString('latin1').startsWith(PROBED))())
  })
}
