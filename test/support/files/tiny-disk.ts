import { execFileSync } from 'node:child_process'
import { openFolder } from './storage.ts'

/** @returns null where no file system may be mounted, else the folder of one of 4 MiB and 40 names */
export async function tinyDisk(t: Parameters<typeof openFolder>[0]): Promise<string | null> {
  const folder = await openFolder(t)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,nr_inodes=40', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return null
  }
  t.teardown(() => execFileSync('umount', ['-l', folder]))
  return folder
}
