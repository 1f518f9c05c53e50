import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PlaceMark } from '../ports/installation.ts'
import { codeOf } from './disk-failure.ts'

/** Name of the mark next to the folders of the objects, and its key below the prefix of a bucket. */
export const MARK_NAME = 'installation'

/** The mark of the installation in the folder of the objects, which nodes may share by a file system. */
export function diskMark(folder: string): PlaceMark {
  const path = join(folder, MARK_NAME)
  return {
    read: () =>
      readFile(path, 'utf8').catch((cause: unknown) => {
        if (codeOf(cause) === 'ENOENT') return null
        throw cause
      }),
    async write(mark) {
      const draft = `${path}.${process.pid}`
      await writeFile(draft, mark, { mode: 0o600 })
      await rename(draft, path)
    },
  }
}
