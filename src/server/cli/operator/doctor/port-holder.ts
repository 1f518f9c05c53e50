import { readdir, readFile, readlink } from 'node:fs/promises'

/** State of a socket that listens, and the columns of these tables, as Linux writes them. */
const LISTENING = '0A'
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const
const [LOCAL, STATE, INODE] = [1, 3, 9] as const

/**
 * Milliseconds that are looked for it among the processes of the machine: its name is a help and no more.
 * Decision.
 */
export const HOLDER_MS_MAX = 1_000

/**
 * Name and pid of a process that listens on a TCP port of this machine; null where the system does not tell
 * us in time.
 */
export async function holderOf(port: number, msMax: number): Promise<string | null> {
  const sockets = new Set((await Promise.all(TABLES.map((table) => socketsIn(table, port)))).flat())
  if (sockets.size === 0) return null
  const endsAt = performance.now() + msMax
  for (const pid of (await namesIn('/proc')).filter((name) => /^\d+$/.test(name))) {
    if (performance.now() > endsAt) return null
    if (!(await holdsOne(pid, sockets, endsAt))) continue
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
    return `${name.trim()} (pid ${pid})`
  }
  return null
}

async function socketsIn(table: string, port: number): Promise<readonly string[]> {
  const lines = (await readFile(table, 'latin1').catch(() => '')).split('\n')
  return lines.flatMap((line) => {
    const columns = line.trim().split(/\s+/)
    const isIt =
      columns[STATE] === LISTENING && Number.parseInt(columns[LOCAL]?.split(':')[1] ?? '', 16) === port
    return isIt ? [`socket:[${columns[INODE] ?? ''}]`] : []
  })
}

/** False of a process that is not ours to look into, or that has more open than can be looked at in time. */
async function holdsOne(pid: string, sockets: ReadonlySet<string>, endsAt: number): Promise<boolean> {
  const folder = `/proc/${pid}/fd`
  for (const name of await namesIn(folder)) {
    if (performance.now() > endsAt) return false
    if (sockets.has(await readlink(`${folder}/${name}`).catch(() => ''))) return true
  }
  return false
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => [])
}
