import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'

/**
 * What the operating system calls the time since it started: under another name, bytes that were written
 * without fsync may be gone. Where it has no name for it, every call gives a new one: what a journal does not
 * explain is forfeited then.
 */
export function bootId(): string {
  if (process.platform === 'linux') {
    try {
      return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    } catch {
      return randomUUID()
    }
  }
  const told =
    process.platform === 'darwin'
      ? spawnSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).stdout
      : null
  return told?.trim().toLowerCase() || randomUUID()
}
