/** Places of a start: an empty data directory, an existing one, and a fresh clone of the repository. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monotonicMs } from '../../test/support/load/load-plan.ts'
import { removeOutside } from '../../test/support/nodes/node.ts'
import { freePort, pause } from '../../test/support/nodes/spawned.ts'
import { timedStart, type Launch, type TimedStart } from './timed.ts'

const START_MS_MAX = 120_000
const CLONE_MS_MAX = 900_000

export interface Place {
  /** `sluice serve`, as a unit file or a container runs it. */
  serve(): Promise<TimedStart>
  /** `npm start`, as in the README; everything is installed and built. */
  npmStart(): Promise<TimedStart>
  remove(): Promise<void>
}

/** @param root root of an installed and built repository */
export async function openPlace(root: string): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-start-'))
  const data = join(folder, 'data')
  const [port, adminPort] = [await freePort(), await freePort()]
  const env = {
    SLUICE_PORT: String(port),
    SLUICE_ADMIN_PORT: String(adminPort),
    SLUICE_DATA: data,
    SLUICE_FRONTS: '1',
    SLUICE_WORKERS: '1',
    // This variable makes the node drain after its parent ends, as under npm.
    npm_lifecycle_event: 'start',
  }
  const where = { cwd: root, env, port, keyFile: join(data, 'first-keys.json'), startMsMax: START_MS_MAX }
  return {
    serve: () =>
      timedStart({ ...where, command: process.execPath, args: [join(root, 'bin/sluice'), 'serve'] }),
    npmStart: () => timedStart({ ...where, command: 'npm', args: ['start'] }),
    async remove() {
      await removeOutside(data)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export interface CloneStart {
  readonly start: TimedStart
  /** Milliseconds of the parts in order; the first is not included in the others. */
  readonly cloneMs: number
  readonly installMs: number
  readonly buildMs: number
  readonly bootMs: number
}

/** `git clone` and `npm start` on a machine with only Node and git: an empty home, an empty cache of npm. */
export async function cloneStart(
  root: string,
): Promise<{ readonly found: CloneStart; remove(): Promise<void> }> {
  const base = await mkdtemp(join(tmpdir(), 'sluice-bench-clone-'))
  const [home, folder] = [join(base, 'home'), join(base, 'home/sluice')]
  const remove = async (): Promise<void> => {
    await removeOutside(join(folder, '.sluice'))
    await rm(base, { recursive: true, force: true })
  }
  try {
    await mkdir(home)
    const beganAt = monotonicMs()
    const made = spawnSync('git', ['clone', '--quiet', '--no-hardlinks', root, folder], { encoding: 'utf8' })
    if (made.status !== 0) throw new Error(`git clone failed: ${made.error?.message ?? made.stderr}`)
    const clonedAt = monotonicMs()
    return {
      found: { ...(await partsOf(await launchIn(folder, home))), cloneMs: clonedAt - beganAt },
      remove,
    }
  } catch (failure) {
    await remove()
    throw failure
  }
}

async function launchIn(folder: string, home: string): Promise<Launch> {
  const [port, adminPort] = [await freePort(), await freePort()]
  const data = join(folder, '.sluice')
  const registry = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim()
  return {
    command: 'npm',
    args: ['start'],
    cwd: folder,
    port,
    keyFile: join(data, 'first-keys.json'),
    startMsMax: CLONE_MS_MAX,
    env: {
      HOME: home,
      npm_config_cache: join(home, '.npm'),
      ...(registry !== '' && { npm_config_registry: registry }),
      SLUICE_PORT: String(port),
      SLUICE_ADMIN_PORT: String(adminPort),
      SLUICE_DATA: data,
    },
  }
}

/** Measures the parts by the files with which installation and build end. */
async function partsOf(launch: Launch): Promise<Omit<CloneStart, 'cloneMs'>> {
  const beganAt = monotonicMs()
  let isOver = false
  const until = async (file: string): Promise<number> => {
    while (!isOver && !existsSync(join(launch.cwd, file))) await pause(20)
    return monotonicMs()
  }
  const [installed, built] = [until('node_modules/.package-lock.json'), until('dist/.start-stamp')]
  try {
    const start = await timedStart(launch)
    const [installedAt, builtAt] = [await installed, await built]
    return {
      start,
      installMs: installedAt - beganAt,
      buildMs: builtAt - installedAt,
      bootMs: start.tookMs - (builtAt - beganAt),
    }
  } finally {
    isOver = true
  }
}
