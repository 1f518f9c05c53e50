/** One look at each import of the source, for the rules about them. */
import { posix } from 'node:path'
import { importsOf, type Import, type SourceFile } from '../../support/source.ts'

export function eachImport(
  files: readonly SourceFile[],
  judge: (file: SourceFile, found: Import) => string | null,
): readonly string[] {
  return files.flatMap((file) =>
    importsOf(file).flatMap((found) => {
      const finding = judge(file, found)
      return finding === null ? [] : [`${file.path}:${found.line} ${finding}`]
    }),
  )
}

/** `schemas`, `http`, `config`, `workers`, …: the row of the table that a path belongs to. */
export function folderOf(path: string): string {
  const parts = path.replace(/^src\/(?:server\/)?/, '').split('/')
  return (parts[0] ?? '').replace(/\.tsx?$/, '')
}

export function ourTarget(file: SourceFile, found: Import): string | null {
  return found.specifier.startsWith('.') ? posix.join(posix.dirname(file.path), found.specifier) : null
}
