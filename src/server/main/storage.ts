import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Storage } from '../ports/files/storage.ts'
import { openDiskStorage } from '../storage/disk.ts'
import type { ObjectsPlace } from '../supervisor/node-setup.ts'
import { diskMark, MARK_NAME } from '../storage/disk-mark.ts'

/**
 * Opens the storage of the configuration; every role and the commands use the same one. Throws the errors of
 * the file system.
 * @param owner the front whose uploads are staged, if the process is a front
 */
export async function openStorage(
  { objects, dataDir }: Pick<Config, 'objects' | 'dataDir'>,
  owner?: string,
): Promise<Storage> {
  if (objects.kind === 'disk') return openDiskStorage({ folder: objects.folder, owner })
  // Loaded only when needed: the S3 client takes longer to load than all the rest of a front.
  const { openS3Storage } = await import('../storage/s3.ts')
  return openS3Storage({ ...objects, stagingFolder: stagingFolderOf({ objects, dataDir }), owner })
}

/** The configured storage in the form in which nodes compare it. */
export async function objectsPlace({ objects }: Pick<Config, 'objects'>): Promise<ObjectsPlace> {
  const place = placeOfObjects({ objects })
  if (objects.kind === 'disk')
    return { kind: 'folder', place, markAt: join(place, MARK_NAME), mark: diskMark(objects.folder) }
  const { s3Mark } = await import('../storage/s3-mark.ts')
  return { kind: 'bucket', place, markAt: `${place}${MARK_NAME}`, mark: s3Mark(objects) }
}

/** The folder where uploads of this machine are written before they are published. */
export function stagingFolderOf({ objects, dataDir }: Pick<Config, 'objects' | 'dataDir'>): string {
  return join(objects.kind === 'disk' ? objects.folder : dataDir, 'staging')
}

/** Description of the place of the objects for people, without a secret. */
export function placeOfObjects({ objects }: Pick<Config, 'objects'>): string {
  return objects.kind === 'disk' ? objects.folder : `s3://${objects.bucket}/${objects.prefix}`
}
