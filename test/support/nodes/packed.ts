/** What `npm pack` puts into the package. */
import { spawnSync } from 'node:child_process'
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
  const [told] = JSON.parse(stdout) as readonly {
    readonly files: readonly { readonly path: string }[]
    readonly size: number
    readonly unpackedSize: number
  }[]
  if (told === undefined) throw new Error(`npm pack told nothing: ${stdout}`)
  return { files: told.files.map(({ path }) => path), bytes: told.size, unpackedBytes: told.unpackedSize }
}
