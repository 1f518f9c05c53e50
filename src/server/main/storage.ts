import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Storage } from '../ports/files/storage.ts'
import { openDiskStorage } from '../storage/disk.ts'

/**
 * Opens the storage of the configuration; every role and the commands use the same one. Throws what the
 * system says.
 * @param owner the front whose uploads are staged, if it is one
 */
export async function openStorage(
  { objects, dataDir }: Pick<Config, 'objects' | 'dataDir'>,
  owner?: string,
): Promise<Storage> {
  if (objects.kind === 'disk') return openDiskStorage({ folder: objects.folder, owner })
  // Its client takes longer to load than all the rest of a front.
  const { openS3Storage } = await import('../storage/s3.ts')
  return openS3Storage({ ...objects, stagingFolder: stagingFolderOf({ objects, dataDir }), owner })
}

/** Where the uploads of this machine are written before they are published. */
export function stagingFolderOf({ objects, dataDir }: Pick<Config, 'objects' | 'dataDir'>): string {
  return join(objects.kind === 'disk' ? objects.folder : dataDir, 'staging')
}

/** For people: no secret is in it. */
export function placeOfObjects({ objects }: Pick<Config, 'objects'>): string {
  return objects.kind === 'disk' ? objects.folder : `s3://${objects.bucket}/${objects.prefix}`
}
