import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'

/**
 * The operating system's id of its current boot: under another id, bytes that were written without fsync may
 * be gone. On a system without such an id every call returns a new one: amounts that a journal does not
 * explain are then forfeited.
 */
export function bootId(): string {
  if (process.platform === 'linux') {
    try {
      return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    } catch {
      return randomUUID()
    }
  }
  const systemId =
    process.platform === 'darwin'
      ? spawnSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).stdout
      : null
  return systemId?.trim().toLowerCase() || randomUUID()
}
