/** Who holds which TCP socket, read from /proc: a client cannot see which front it was given. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

interface SocketRow {
  readonly localPort: number
  readonly remotePort: number
  readonly isListening: boolean
  readonly inode: string
}

const LISTEN = '0A'

function socketRows(): readonly SocketRow[] {
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
    linesOf(file)
      .slice(1)
      .flatMap((line) => {
        const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/)
        if (local === undefined || remote === undefined || inode === undefined) return []
        const port = (address: string): number =>
          Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16)
        return [{ localPort: port(local), remotePort: port(remote), isListening: state === LISTEN, inode }]
      }),
  )
}

function inodesOf(pid: number): ReadonlySet<string> {
  const inodes = new Set<string>()
  try {
    for (const name of readdirSync(`/proc/${pid}/fd`)) {
      const inode = inodeAt(`/proc/${pid}/fd/${name}`)
      if (inode !== null) inodes.add(inode)
    }
  } catch {
    // It ended while we looked: it holds nothing.
  }
  return inodes
}

function inodeAt(path: string): string | null {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1] ?? null
  } catch {
    return null
  }
}

/** Ports of the clients whose connections to `serverPort` a process holds. */
export function clientPortsOf(pid: number, serverPort: number): ReadonlySet<number> {
  const inodes = inodesOf(pid)
  return new Set(
    socketRows()
      .filter((row) => row.localPort === serverPort && !row.isListening && inodes.has(row.inode))
      .map((row) => row.remotePort),
  )
}

/** Ports of all clients of a server, those that no process has accepted yet among them. */
export function clientPortsTo(serverPort: number): ReadonlySet<number> {
  return new Set(
    socketRows()
      .filter((row) => row.localPort === serverPort && !row.isListening)
      .map((row) => row.remotePort),
  )
}

/** How many sockets listen on the port: one a front, since they share it. */
export function listenersOn(port: number): number {
  return socketRows().filter((row) => row.isListening && row.localPort === port).length
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'latin1').trimEnd().split('\n')
  } catch {
    return []
  }
}

/** Ports on which a process itself listens. */
export function listeningPortsOf(pid: number): ReadonlySet<number> {
  const inodes = inodesOf(pid)
  return new Set(
    socketRows()
      .filter((row) => row.isListening && inodes.has(row.inode))
      .map((row) => row.localPort),
  )
}

/** Ports from which a process calls a server. */
export function callingPortsOf(pid: number, serverPort: number): ReadonlySet<number> {
  const inodes = inodesOf(pid)
  return new Set(
    socketRows()
      .filter((row) => row.remotePort === serverPort && inodes.has(row.inode))
      .map((row) => row.localPort),
  )
}
