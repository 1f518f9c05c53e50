/** The files of a Linux machine that say which cores a process may use, in a folder that stands for `/`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Teardown } from '../teardown.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** Texts by their paths. */
export type Planted = Readonly<Record<string, string>>

/** A machine of eight cores, of 128 that it could have. */
const MACHINE = {
  'proc/self/status': 'Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t0-127\n',
  'sys/devices/system/cpu/online': '0-7\n',
}
export const V2 = '31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n'
export const V1 =
  '31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n' +
  '32 31 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n' +
  '33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n'

/** Writes files of a machine by their paths below `/`, besides those of its cores. @returns their folder */
export function plantedMachine(t: Teardown, files: Planted): string {
  const root = temporaryFolder(t, 'machine')
  for (const [path, text] of Object.entries({ ...MACHINE, ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

/** A process in `path` of version 2. */
export const inV2 = (path: string, files: Planted): Planted => ({
  'proc/self/mountinfo': V2,
  'proc/self/cgroup': `0::${path}\n`,
  ...Object.fromEntries(Object.entries(files).map(([at, text]) => [`sys/fs/cgroup/${at}`, text])),
})

/** A process in `path` of version 1. */
export const inV1 = (path: string, files: Planted): Planted => ({
  'proc/self/mountinfo': V1,
  'proc/self/cgroup': `3:cpuset:/other\n2:cpu,cpuacct:${path}\n1:name=systemd${path}\n0::/\n`,
  ...Object.fromEntries(Object.entries(files).map(([at, text]) => [`sys/fs/cgroup/cpu,cpuacct/${at}`, text])),
})
