/** The control groups of a process as Linux shows them: they contain the limits of a container or of a unit. */
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** The process whose groups are read, and the root of `/proc` and the mounts. */
export interface GroupsOf {
  /** Id of the process; absent: this process. */
  readonly pid?: number | undefined
  /** A folder used instead of `/`; absent: `/` of this machine. */
  readonly root?: string
}

/** One group whose controller limits the process. */
export interface ControlGroup {
  /** Version of its hierarchy: names and formats of the files differ. */
  readonly version: 1 | 2
  readonly folder: string
}

interface Mount {
  readonly version: 1 | 2
  /** Options of the mount; those of version 1 name its controllers. */
  readonly options: readonly string[]
  /** Path of the group that the mount shows as its topmost. */
  readonly top: string
  /** Where it is mounted. */
  readonly point: string
}

/**
 * Control groups of a process that may have this controller: its own and every mounted ancestor, since the
 * smallest limit of them applies. Looks for versions 1 and 2, because a machine may run both. The caller
 * checks whether the limit files exist. Empty without control groups.
 */
export function controlGroups(controller: 'cpu' | 'memory', of: GroupsOf = {}): readonly ControlGroup[] {
  const { pid, root = '/' } = of
  const mounts = mountsOf(textOf(join(root, 'proc/self/mountinfo')))
  return textOf(join(root, 'proc', pid === undefined ? 'self' : String(pid), 'cgroup'))
    .split('\n')
    .flatMap((line) => {
      const [, controllers, path] = MEMBERSHIP.exec(line) ?? []
      if (controllers === undefined || path === undefined) return []
      const version = controllers === '' ? 2 : 1
      if (version === 1 && !controllers.split(',').includes(controller)) return []
      return mounts
        .filter((mount) => mount.version === version && (version === 2 || mount.options.includes(controller)))
        .flatMap((mount) => foldersOf(mount, path).map((folder) => ({ version, folder: join(root, folder) })))
    })
}

/** Text of a file of a group, without its line end; empty if absent. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1').trim()
  } catch {
    return ''
  }
}

/** `0::/path` of version 2; `4:cpu,cpuacct:/path` of version 1. */
const MEMBERSHIP = /^\d+:([^:]*):(\/.*)$/

/** @param text lines of `mountinfo`: id, parent, device, root, mount point, …, `-`, type, source, options */
function mountsOf(text: string): readonly Mount[] {
  return text.split('\n').flatMap((line) => {
    const [place = '', kind = ''] = line.split(' - ')
    const [, , , top, point] = place.split(' ')
    const [type, , options = ''] = kind.split(' ')
    if (top === undefined || point === undefined || (type !== 'cgroup' && type !== 'cgroup2')) return []
    const version = type === 'cgroup2' ? 2 : 1
    return [{ version, options: options.split(','), top: unescaped(top), point: unescaped(point) } as const]
  })
}

/** Spaces, tabs, line ends and backslashes of a path are octal in `mountinfo`. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}

/** The folders of a group and of its ancestors, up to the mount; empty when the mount does not show the group. */
function foldersOf({ top, point }: Mount, path: string): readonly string[] {
  // A path with `..` is a group outside of this process's namespace: no folder below the mount belongs to it.
  if (path.split('/').includes('..') || top.split('/').includes('..')) return [point]
  const within = posix.relative(top, path)
  if (within.split('/').includes('..')) return []
  const names = within === '' ? [] : within.split('/')
  return Array.from({ length: names.length + 1 }, (_, up) =>
    posix.join(point, ...names.slice(0, names.length - up)),
  )
}
