import { readdir, readFile, readlink } from 'node:fs/promises'

/** State of a listening socket in the tables of Linux. */
const LISTENING = '0A'
/** Tables of the TCP sockets of Linux. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const
/** Columns of these tables. */
const [LOCAL, STATE, INODE] = [1, 3, 9] as const

/** Milliseconds to search the machine's processes for the one that holds a port; its name is only an aid. Decision. */
export const HOLDER_MS_MAX = 1_000

/** Name and pid of a process that listens on a TCP port of this machine; null when the system does not show it in time. */
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

/** False for a process that this user may not inspect, or that has more open files than fit into the time. */
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
