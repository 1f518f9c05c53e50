import { execFile } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { bareEnvironment } from '../../config.ts'
import { SOCKET_FOLDER_PREFIX } from '../data-directory/socket-folder.ts'

/** Milliseconds that a program may take to print its version. */
const VERSION_MS_MAX = 5_000
/** Name of the socket file. */
export const REDIS_SOCKET = 'redis.sock'
/** Milliseconds that a killed orphan may take to end. */
const ORPHAN_MS_MAX = 5_000

/** The first of `servers` that runs and prints its version, or null. A name is looked up on the PATH. */
export async function findServer(servers: readonly string[]): Promise<string | null> {
  for (const server of servers) {
    const version = await outputOf(server, ['--version'])
    if (version !== null && /server/i.test(version)) return server
  }
  return null
}

/**
 * Ends a server of an earlier start that survived its supervisor (no `setpriv`, or macOS): two servers must
 * not append to one file. Only a process that is provably that server is ended, since pids are reused.
 */
export async function endOrphan(
  home: string,
  record: { pid: number; socketPath: string } | null,
): Promise<void> {
  if (record === null) return
  if (await isOurs(home, record)) {
    process.kill(record.pid, 'SIGKILL')
    const giveUpAt = performance.now() + ORPHAN_MS_MAX
    while (await isOurs(home, record)) {
      if (performance.now() > giveUpAt) throw new Error(`an earlier Redis (pid ${record.pid}) does not stop`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const folder = dirname(record.socketPath)
  if (basename(record.socketPath) !== REDIS_SOCKET || !isOwnSocketFolder(folder)) return
  rmSync(record.socketPath, { force: true })
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}

/**
 * True for a socket folder of this account. Every user can write to the temporary directory: another user may have
 * created an entry with the name of an earlier start.
 */
function isOwnSocketFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  const isOwn = stats?.isDirectory() === true && stats.uid === (process.geteuid?.() ?? stats.uid)
  return isOwn && basename(path).startsWith(SOCKET_FOLDER_PREFIX)
}

async function isOurs(
  home: string,
  { pid, socketPath }: { pid: number; socketPath: string },
): Promise<boolean> {
  if (process.platform !== 'linux') {
    const command = await outputOf('ps', ['-p', String(pid), '-o', 'stat=,command='])
    return command !== null && !command.startsWith('Z') && command.includes(socketPath)
  }
  try {
    // A zombie has a pid but no working directory: it counts as ended.
    if (readlinkSync(`/proc/${pid}/cwd`) === realpathSync(home)) return true
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(socketPath)
  } catch {
    return false
  }
}

function outputOf(command: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { timeout: VERSION_MS_MAX, env: bareEnvironment() }
    execFile(command, args, options, (error, stdout) => resolve(error === null ? stdout : null))
  })
}
