import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Storage } from '../ports/storage.ts'
import { openDiskStorage } from '../storage/disk.ts'

/** Opens the storage of the configuration; every role and the commands use the same one. Throws what the system says. */
export async function openStorage({ objects, dataDir }: Pick<Config, 'objects' | 'dataDir'>): Promise<Storage> {
  if (objects.kind === 'disk') return openDiskStorage({ folder: objects.folder })
  // Its client takes longer to load than all the rest of a front.
  const { openS3Storage } = await import('../storage/s3.ts')
  return openS3Storage({ ...objects, stagingFolder: join(dataDir, 'staging') })
}

/** For people: no secret is in it. */
export function placeOfObjects({ objects }: Pick<Config, 'objects'>): string {
  return objects.kind === 'disk' ? objects.folder : `s3://${objects.bucket}/${objects.prefix}`
}
