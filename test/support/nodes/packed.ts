/** What `npm pack` puts into the package. */
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { plainEnvironment } from '../load/load.ts'

export interface Packed {
  readonly files: readonly string[]
  readonly bytes: number
  readonly unpackedBytes: number
}

/** Of a folder as it is now, nothing built; or of a package that was made of it. */
export function packedFiles(folder: string, file?: string): Packed {
  const args = [
    'pack',
    ...(file === undefined ? [] : [file]),
    '--dry-run',
    '--json',
    '--ignore-scripts',
    '--offline',
    '--loglevel=error',
  ]
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    env: plainEnvironment(),
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`)
  const [logged] = JSON.parse(stdout) as readonly {
    readonly files: readonly { readonly path: string }[]
    readonly size: number
    readonly unpackedSize: number
  }[]
  if (logged === undefined) throw new Error(`npm pack told nothing: ${stdout}`)
  return {
    files: logged.files.map(({ path }) => path),
    bytes: logged.size,
    unpackedBytes: logged.unpackedSize,
  }
}

const BUNDLE = 'dist/bundle/'
/** Modules that several programs of the bundle share, named by their contents. */
const PART = /\bpart-[A-Z0-9]{8}\.js/g

/**
 * Copies the files of the package as the last build made them: the folder also has parts of earlier builds,
 * which a running node may still load, and which no fresh clone has.
 */
export function copyLastBuild(folder: string, into: string): void {
  const { files } = packedFiles(folder)
  const isPart = (path: string): boolean => path.startsWith(`${BUNDLE}part-`)
  const used = new Set(files.filter((path) => path.startsWith(BUNDLE) && !isPart(path)))
  // A set hands out what is added while it is read.
  for (const path of used)
    for (const [part] of readFileSync(join(folder, path), 'utf8').matchAll(PART))
      if (basename(path) !== part) used.add(BUNDLE + part)
  for (const path of files) if (!isPart(path) || used.has(path)) cpSync(join(folder, path), join(into, path))
}
