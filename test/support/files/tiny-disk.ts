import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFolder } from './storage.ts'

/** Why a test that needs a disk of its own is left out, or false. */
export const NO_MOUNT = mayMount() ? false : 'no file system may be mounted here'

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-mount-'))
  try {
    mountTiny(folder)
    execFileSync('umount', ['-l', folder])
    return true
  } catch {
    return false
  } finally {
    rmdirSync(folder)
  }
}

function mountTiny(folder: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,nr_inodes=40', 'tmpfs', folder], { stdio: 'ignore' })
}

/**
 * The folder of a disk of 4 MiB and 40 names, which goes with the test; a test that calls it skips for
 * `NO_MOUNT`.
 */
export async function tinyDisk(t: Parameters<typeof openFolder>[0]): Promise<string> {
  const folder = await openFolder(t)
  mountTiny(folder)
  t.teardown(() => execFileSync('umount', ['-l', folder]))
  return folder
}
