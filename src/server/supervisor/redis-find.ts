import { execFile } from 'node:child_process'
import { readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'

/** Milliseconds that a program may take to tell its version. */
const VERSION_MS_MAX = 5_000
/** Milliseconds that a killed orphan may take to be gone. */
const ORPHAN_MS_MAX = 5_000

/** The first of `servers` that runs and says its version, or null. A name is looked up on the PATH. */
export async function findServer(servers: readonly string[]): Promise<string | null> {
  for (const server of servers) {
    const version = await outputOf(server, ['--version'])
    if (version !== null && /server/i.test(version)) return server
  }
  return null
}

/** `setpriv` with `--pdeathsig` (util-linux has it, busybox has not), or null. It ends a child with its parent. */
export async function findSetpriv(): Promise<string | null> {
  if (process.platform !== 'linux') return null
  for (const place of ['setpriv', '/usr/bin/setpriv', '/bin/setpriv']) {
    const help = await outputOf(place, ['--help'])
    if (help !== null && help.includes('--pdeathsig')) return place
  }
  return null
}

/**
 * Ends a server of an earlier start that outlived its supervisor (no `setpriv`, or macOS): two servers must not
 * append to one file. Only a process that is provably that server is touched; pids are used again.
 */
export async function endOrphan(home: string, record: { pid: number; socketPath: string } | null): Promise<void> {
  if (record === null) return
  if (await isOurs(home, record)) {
    process.kill(record.pid, 'SIGKILL')
    const giveUpAt = performance.now() + ORPHAN_MS_MAX
    while (await isOurs(home, record)) {
      if (performance.now() > giveUpAt) throw new Error(`an earlier Redis (pid ${record.pid}) does not end`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  if (record.socketPath.endsWith('/redis.sock')) rmSync(dirname(record.socketPath), { recursive: true, force: true })
}

async function isOurs(home: string, { pid, socketPath }: { pid: number; socketPath: string }): Promise<boolean> {
  if (process.platform !== 'linux') {
    const command = await outputOf('ps', ['-p', String(pid), '-o', 'stat=,command='])
    return command !== null && !command.startsWith('Z') && command.includes(socketPath)
  }
  try {
    // A zombie has a pid but no working directory: it counts as gone.
    if (readlinkSync(`/proc/${pid}/cwd`) === realpathSync(home)) return true
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(socketPath)
  } catch {
    return false
  }
}

function outputOf(command: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: VERSION_MS_MAX }, (error, stdout) => resolve(error === null ? stdout : null))
  })
}
