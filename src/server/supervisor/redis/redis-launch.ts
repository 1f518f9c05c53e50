import { fork, type ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { bareEnvironment } from '../../config.ts'
import { REDIS_HZ } from './redis-rest.ts'
import { findSetpriv, launch } from '../fleet/step-down.ts'

/** One running server process. */
export interface RunningRedis {
  readonly pid: number
  /** Resolves with the reason when the process is gone. */
  readonly ended: Promise<string>
  /** Stops the server by SIGTERM, then SIGKILL after 5 s; resolves when it is gone. */
  stop(): Promise<void>
}

/** Milliseconds until a new server must run a script; it reads a large append-only file before. */
const START_MS_MAX = 30_000
/** Milliseconds of one try. */
const TRY_MS_MAX = 5_000
/** Milliseconds between two tries. */
const TRY_PAUSE_MS = 10
/**
 * A script, which every limited call needs. The in-memory server creates its script engine at the first use,
 * which takes a while.
 */
const PROBE = 'EVAL "return 1" 0\r\n'
/** Reply to the probe. */
const PROBED = ':1'
/** Milliseconds until a server that refuses SIGTERM is killed: a full disk makes it refuse for ever. */
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
  const child = launch(command, args, {
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
  // A stopped process handles SIGTERM only when it continues.
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
  await ended
  clearTimeout(timer)
}

/**
 * Tests the socket itself: the socket's file proves nothing, and a server that still loads answers with an
 * error.
 */
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
