import { randomUUID } from 'node:crypto'
import { rename, rmdir, unlink, type FileHandle } from 'node:fs/promises'
import { entriesOf, nameIn, openFolderIn } from './container-paths.ts'
import { codeOf, errorOf } from './disk-failure.ts'

/** Result of one pass. */
interface Removal {
  removed: number
  /** Folders that were moved to the top. */
  moved: number
  refusal: Error | null
}

/**
 * Removes a folder with all its contents, at any depth: folders inside others are moved to the top, so that
 * one level at a time is open. Links are removed, never followed; an entry that another process removes first
 * is no failure. An entry that cannot be removed does not stop the rest; its error is thrown at the end.
 * @returns the number of removed files
 */
export async function removeFolder(parent: FileHandle, name: string): Promise<number> {
  let removed = 0
  let last: Removal
  const top = await openFolderIn(parent, name)
  try {
    do {
      last = { removed: 0, moved: 0, refusal: null }
      await pass(top, last)
      removed += last.removed
    } while (last.moved > 0)
  } finally {
    await top.close()
  }
  if (last.refusal === null) await unlessGone(() => rmdir(nameIn(parent, name)), last)
  if (last.refusal !== null) throw last.refusal
  return removed
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

async function moveUp(
  folder: FileHandle,
  { name, top, removal }: { name: Buffer; top: FileHandle; removal: Removal },
): Promise<void> {
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
    if (codeOf(cause) !== 'ENOENT') removal.refusal ??= errorOf(cause)
  }
}
