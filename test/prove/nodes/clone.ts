/** A clone of the committed tree with only Node and the npm registry, and `npm start` in it. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chmod, mkdir, readdir, symlink } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { monotonicMs } from '../../support/load/load-plan.ts'
import { removeOutside } from '../../support/nodes/node.ts'
import { registrySettings } from '../../support/nodes/registry.ts'
import { freePort, hasEnded, pause, untilPrinted, type Spawned } from '../../support/nodes/spawned.ts'
import { ROOT } from '../../support/source.ts'
import type { Proof } from '../proof.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Milliseconds that installing, building and starting may take. */
export const INSTALL_MS_MAX = 300_000

export interface Place {
  readonly name: string
  readonly uid: number
  readonly mode: number
}

export interface Clone {
  readonly folder: string
  readonly uid: number
  readonly env: Readonly<Record<string, string>>
}

/**
 * A clone of the committed tree in a home of its own, with a PATH that holds Node, npm and the system's tools
 * but no Redis.
 */
export async function cloned(proof: Proof, place: Place): Promise<Clone> {
  const base = temporaryFolder(proof, 'start')
  await chmod(base, 0o755)
  const [home, bin, folder] = [join(base, 'home'), join(base, 'bin'), join(base, 'home/my sluice')]
  proof.after(() => removeOutside(join(folder, '.sluice')))
  await mkdir(home)
  await mkdir(bin)
  for (const [name, path] of await programs()) await symlink(path, join(bin, name))
  const made = spawnSync('git', ['clone', '--quiet', '--no-hardlinks', ROOT, folder], { encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`git clone failed: ${made.stderr}`)
  if (place.uid !== process.getuid?.()) spawnSync('chown', ['-R', `${place.uid}:${place.uid}`, home])
  await chmod(home, place.mode)
  return {
    folder,
    uid: place.uid,
    env: {
      HOME: home,
      PATH: bin,
      SLUICE_PORT: String(await freePort()),
      SLUICE_ADMIN_PORT: String(await freePort()),
      // Caches of the person who runs this would hide what a stranger has to fetch.
      npm_config_cache: join(home, '.npm'),
      ...registrySettings(),
    },
  }
}

/** Every program of the PATH but Redis and its kin. */
async function programs(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const folder of [dirname(process.execPath), ...(process.env['PATH'] ?? '').split(delimiter)]) {
    for (const name of await readdir(folder).catch(() => [])) {
      if (!/^(?:redis|valkey|keydb)-/.test(name) && !found.has(name)) found.set(name, join(folder, name))
    }
  }
  return found
}

export interface Started extends Spawned {
  readonly child: ChildProcess
  readonly clone: Clone
  readonly tookMs: number
}

/** `npm start`, until the ready line; a session of its own. */
export async function start(clone: Clone): Promise<Started> {
  const beganAt = monotonicMs()
  let text = ''
  const child = spawn('npm', ['start'], {
    cwd: clone.folder,
    env: clone.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...(clone.uid === process.getuid?.() ? {} : { uid: clone.uid, gid: clone.uid }),
  })
  const keep = (bytes: Buffer): void => {
    text += bytes.toString()
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const started = { child, output: () => text }
  await untilPrinted(started, /\{"event":"ready".*\}/, INSTALL_MS_MAX)
  return { ...started, clone, tookMs: monotonicMs() - beganAt }
}

/** Ends the session that `start` began. */
export async function end(child: ChildProcess): Promise<void> {
  if (!hasEnded(child)) process.kill(-(child.pid ?? 0), 'SIGTERM')
  while (!hasEnded(child)) await pause(20)
}
