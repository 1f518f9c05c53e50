import { randomUUID } from 'node:crypto'
import { rename, rmdir, unlink, type FileHandle } from 'node:fs/promises'
import { entriesOf, nameIn, openFolderIn } from './container-paths.ts'
import { codeOf } from './disk-failure.ts'

interface Removal {
  removed: number
  /** Folders that were moved to the top in this pass. */
  moved: number
  refusal: unknown
}

/**
 * Removes a folder with everything in it, however deep: folders below others are moved to the top, so that a level at a
 * time is open. Links are removed, never followed; what another remover takes first is no failure. What cannot be removed
 * keeps nothing else; its cause is thrown in the end. @returns how many files
 */
export async function removeFolder(parent: FileHandle, name: string): Promise<number> {
  const removal: Removal = { removed: 0, moved: 0, refusal: null }
  const top = await openFolderIn(parent, name)
  try {
    do {
      removal.moved = 0
      removal.refusal = null
      await pass(top, removal)
    } while (removal.moved > 0)
  } finally {
    await top.close()
  }
  if (removal.refusal === null) await unlessGone(() => rmdir(nameIn(parent, name)), removal)
  if (removal.refusal !== null) throw removal.refusal
  return removal.removed
}

async function pass(top: FileHandle, removal: Removal): Promise<void> {
  for await (const { name, isFolder } of entriesOf(top)) {
    await (isFolder ? unlessGone(() => flatten(top, name, removal), removal) : removeFile(top, name, removal))
  }
}

async function flatten(top: FileHandle, name: Buffer, removal: Removal): Promise<void> {
  const folder = await openFolderIn(top, name)
  try {
    for await (const entry of entriesOf(folder)) {
      if (!entry.isFolder) await removeFile(folder, entry.name, removal)
      else await unlessGone(() => moveUp(folder, { name: entry.name, top, removal }), removal)
    }
  } finally {
    await folder.close()
  }
  await rmdir(nameIn(top, name))
}

async function moveUp(folder: FileHandle, { name, top, removal }: { name: Buffer; top: FileHandle; removal: Removal }): Promise<void> {
  await rename(nameIn(folder, name), nameIn(top, randomUUID()))
  removal.moved++
}

async function removeFile(folder: FileHandle, name: Buffer, removal: Removal): Promise<void> {
  await unlessGone(async () => {
    await unlink(nameIn(folder, name))
    removal.removed++
  }, removal)
}

async function unlessGone(work: () => Promise<void>, removal: Removal): Promise<void> {
  try {
    await work()
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') removal.refusal ??= cause
  }
}
