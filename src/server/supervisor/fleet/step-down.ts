import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process'

export interface Account {
  readonly uid: number
  readonly gid: number
}

/** How a child process is started: its account, and the signal that it gets when this process dies. */
export interface Launch {
  readonly account: Account | null
  readonly deathSignal: 'INT' | 'TERM' | 'KILL'
}

/**
 * Accounts for the servers. Postgres refuses uid 0, and a uid without a passwd entry; these two have an entry
 * nearly everywhere.
 */
const STEP_DOWN_NAMES = ['postgres', 'nobody'] as const
/** Paths of `setpriv`; the first one is searched on the PATH. */
const SETPRIV_PLACES = ['setpriv', '/usr/bin/setpriv', '/bin/setpriv'] as const

/** The account that root steps down to; null when this process is not root, or no such account exists. */
export function stepDownAccount(): Account | null {
  if (process.getuid?.() !== 0) return null
  for (const name of STEP_DOWN_NAMES) {
    const account = { uid: idOf('-u', name), gid: idOf('-g', name) }
    if (account.uid > 0 && account.gid > 0) return account
  }
  return null
}

/**
 * Null: a hard kill of this process may leave children. util-linux has a `setpriv` with a parent-death signal, that of
 * busybox has none.
 */
export function findSetpriv(): string | null {
  if (process.platform !== 'linux') return null
  return (
    SETPRIV_PLACES.find((place) =>
      spawnSync(place, ['--help'], { encoding: 'utf8' }).stdout?.includes('--pdeathsig'),
    ) ?? null
  )
}

/**
 * Starts the command in its own process group, so that Ctrl-C reaches it only through the drain. The pid is the
 * command's: `setpriv` replaces itself.
 */
export function launch(
  command: string,
  args: readonly string[],
  how: Launch & { setpriv: string | null; options: SpawnOptions },
): ChildProcess {
  const { account, setpriv } = how
  if (setpriv === null) {
    return spawn(command, args, { ...how.options, detached: true, ...(account === null ? {} : account) })
  }
  const as = account === null ? [] : [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups']
  return spawn(setpriv, ['--pdeathsig', how.deathSignal, ...as, '--', command, ...args], {
    ...how.options,
    detached: true,
  })
}

function idOf(flag: '-u' | '-g', name: string): number {
  const { status, stdout } = spawnSync('id', [flag, name], { encoding: 'utf8' })
  return status === 0 ? Number(stdout.trim()) : -1
}
