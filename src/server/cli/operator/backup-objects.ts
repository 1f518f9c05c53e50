import { readFileSync } from 'node:fs'
import { copyFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { textOf, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import type {
  ContainerPage,
  ContainerRef,
  ObjectPage,
  Staging,
  Storage,
  StoredObject,
} from '../../ports/files/storage.ts'
import { need } from '../parts/database.ts'
import { objectPath, type Backup, type BackupWriter } from './backup-folder.ts'
import { CliFailure } from '../parts/verb.ts'

const PAGE = 1_000

/** Writes every object that storage lists. @returns their ids */
export async function backUpObjects(storage: Storage, to: BackupWriter): Promise<Set<string>> {
  const ids = new Set<string>()
  for (let cursor: string | null = null; ;) {
    const page: ObjectPage = need(await storage.list(cursor))
    for (const { objectId } of page.objects) if (await backUpObject(storage, objectId, to)) ids.add(objectId)
    cursor = page.cursor
    if (cursor === null) return ids
  }
}

/** @returns false when the object no longer exists */
export async function backUpObject(storage: Storage, objectId: string, to: BackupWriter): Promise<boolean> {
  const opened = await storage.open(objectId)
  if (!opened.ok && opened.failure.name === 'content_missing') return false
  const object = need(opened)
  try {
    await to.add(objectPath(objectId), bytesOf(object))
    return true
  } finally {
    await object.close()
  }
}

/** One line of `containers.jsonl`: paths that sandboxes choose never become paths of the backup. */
interface ContainerLine extends ContainerRef {
  readonly path: string
  readonly file: string
}

interface FolderPage {
  readonly containers: readonly ContainerRef[]
  readonly cursor: string | null
}

export interface BackedUpContainers {
  readonly files: number
  /** Files that a sandbox was writing: their copies may be torn. */
  readonly torn: number
}

export async function backUpContainers(
  { containers }: Storage,
  to: BackupWriter,
): Promise<BackedUpContainers> {
  const lines: ContainerLine[] = []
  let torn = 0
  for (let cursor: string | null = null; ;) {
    const page: FolderPage = need(await containers.listContainers(cursor))
    for (const container of page.containers) {
      for (let after: string | null = null, hasMore = true; hasMore;) {
        const listed: ContainerPage = need(await containers.listWhole(container, after, PAGE))
        for (const { path } of listed.files) {
          const opened = await containers.open(container, path)
          if (!opened.ok && opened.failure.name === 'container_file_unknown') continue
          const file = `containers/${lines.length}`
          if (!(await backUpContainerFile(need(opened), file, to))) torn++
          lines.push({ workspaceId: container.workspaceId, containerId: container.containerId, path, file })
        }
        after = listed.files.at(-1)?.path ?? null
        hasMore = listed.hasMore && after !== null
      }
    }
    cursor = page.cursor
    if (cursor === null) break
  }
  await to.add(
    'containers.jsonl',
    lines.map((line) => Buffer.from(`${JSON.stringify(line)}\n`)),
  )
  return { files: lines.length, torn }
}

/** @returns false when the file changed during the copy */
async function backUpContainerFile(object: StoredObject, path: string, to: BackupWriter): Promise<boolean> {
  try {
    // A file that became shorter during the copy is reported as damaged.
    await to.add(path, bytesOf(object, 'content_damaged'))
    return need(await object.isUnchanged())
  } finally {
    await object.close()
  }
}

/** Restores objects and container files. Storage must be empty. */
export async function restoreObjects(storage: Storage, { folder, paths }: Backup): Promise<void> {
  for (const path of paths.filter((name) => name.startsWith('objects/'))) {
    const objectId = path.slice(path.lastIndexOf('/') + 1)
    await staged(storage, join(folder, path), (staging) => storage.publish(objectId, staging))
  }
  // A set, since searching the list for each line would take a minute for forty thousand lines.
  const there = new Set(paths)
  if (!there.has('containers.jsonl')) return
  const lines = readFileSync(join(folder, 'containers.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  for (const { workspaceId, containerId, path, file } of lines.map(
    (line) => JSON.parse(line) as ContainerLine,
  )) {
    // The checksums cover only the files that they name.
    if (!there.has(file))
      throw new CliFailure(`${folder}: containers.jsonl names ${file}, which is missing from the backup`)
    await staged(storage, join(folder, file), (staging) =>
      storage.containers.publish({ workspaceId, containerId }, path, staging),
    )
  }
}

async function staged(
  storage: Storage,
  from: string,
  publish: (staging: Staging) => Promise<Outcome<null>>,
): Promise<void> {
  const { size } = await stat(from)
  const staging = need(await storage.stage(size))
  try {
    await copyFile(from, staging.path)
    need(await publish(staging))
  } finally {
    await staging.discard()
  }
}

/** @param end failure that counts as the end of the bytes */
async function* bytesOf(object: StoredObject, end?: FailureName): AsyncGenerator<Uint8Array> {
  const reader = object.read(0, object.sizeBytes)
  try {
    for (;;) {
      const piece = await reader.next()
      if (!piece.ok && piece.failure.name === end) return
      if (!piece.ok) throw new CliFailure(textOf(piece.failure))
      if (piece.value === null) return
      yield piece.value
    }
  } finally {
    reader.close()
  }
}
