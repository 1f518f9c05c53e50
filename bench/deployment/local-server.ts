/** Finds the process of this machine that serves a port: only there CPU has figures. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { processes, type ProcessRow } from '../../test/support/load/process-cpu.ts'

/** State of a listening socket in `/proc/net/tcp`. */
const LISTENS = '0A'

/**
 * @returns the root of the process tree that listens on the port; null where the system does not show it, as
 * for another user's process
 */
export function listenerOf(port: number): ProcessRow | null {
  const wanted = new Set(inodes(port).map((inode) => `socket:[${inode}]`))
  if (wanted.size === 0) return null
  const rows = new Map(processes().map((row) => [row.pid, row]))
  const found = [...rows.values()].find(({ pid }) => descriptors(pid).some((target) => wanted.has(target)))
  return found === undefined ? null : rootOf(found, rows)
}

/**
 * The supervisor above a front, and so the whole node; the process that started the node is not part of it.
 */
function rootOf(row: ProcessRow, rows: ReadonlyMap<number, ProcessRow>): ProcessRow {
  const above = rows.get(row.parent)
  return above !== undefined && isSluice(row) && isSluice(above) ? rootOf(above, rows) : row
}

function isSluice({ arguments: words }: ProcessRow): boolean {
  return words.some((word) => /^(?:\S*\/)?sluice(?: |$)/.test(word))
}

function inodes(port: number): readonly string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
    linesOf(file).flatMap((line) => {
      const fields = line.trim().split(/\s+/)
      return fields[3] === LISTENS && fields[1]?.endsWith(`:${hex}`) === true ? [fields[9] ?? ''] : []
    }),
  )
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'latin1').split('\n').slice(1)
  } catch {
    return []
  }
}

function descriptors(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => target(`/proc/${pid}/fd/${fd}`))
  } catch {
    return []
  }
}

function target(path: string): readonly string[] {
  try {
    return [readlinkSync(path)]
  } catch {
    return []
  }
}
