/** The verbs `files` and `sweep` over rows and objects of a test. */
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import type { FileRecord } from '../../../src/server/ports/files/files.ts'
import { openDiskStorage } from '../../../src/server/storage/disk.ts'
import type { Settings } from '../nodes/node.ts'
import { openFolder } from './storage.ts'
import { openTransfers, type TransferStand } from './transfers.ts'
import { fieldPart, filePart, form, sendForm } from './upload-echo.ts'
import { runVerb } from '../operator/verbs.ts'

export const ROOT_KEY = randomBytes(32).toString('hex')

/** The verbs over an installation of their own. */
export interface FileVerbs extends TransferStand {
  readonly settings: Settings
  readonly objectsFolder: string
  run(
    ...args: readonly string[]
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
  json(...args: readonly string[]): Promise<Record<string, unknown>>
  upload(content: Buffer, filename?: string): Promise<string>
  /** Path of the sealed object of a file. */
  object(id: string): string
}

export async function openFileVerbs(t: Test): Promise<FileVerbs> {
  const folder = await openFolder(t)
  const objectsFolder = join(folder, 'files')
  const transfers = await openTransfers(t, {
    storage: await openDiskStorage({ folder: objectsFolder }),
    rootKey: new Secret(ROOT_KEY),
  })
  const settings = {
    DATABASE_URL: transfers.store.options.url,
    SLUICE_DATA: join(folder, 'data'),
    SLUICE_OBJECTS: objectsFolder,
    SLUICE_ROOT_KEY: ROOT_KEY,
  }
  const run = (...args: readonly string[]) => runVerb(settings, args)
  return {
    ...transfers,
    settings,
    objectsFolder,
    run,
    json: async (...args) => JSON.parse((await run(...args, '--json')).stdout) as Record<string, unknown>,
    async upload(content, filename = 'a.txt') {
      const { body } = await sendForm(
        transfers.port,
        form([fieldPart('purpose', 'assistants'), filePart(content, filename)]),
      )
      return (body as unknown as { file: FileRecord }).file.id
    },
    object(id) {
      const name = readdirSync(join(objectsFolder, 'objects'), { recursive: true })
        .map(String)
        .find((path) => path.endsWith(id))
      if (name === undefined) throw new Error(`no object ${id}`)
      return join(objectsFolder, 'objects', name)
    },
  }
}
