import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Storage } from '../ports/storage.ts'
import { openDiskStorage } from '../storage/disk.ts'
import { openS3Storage } from '../storage/s3.ts'

/** Opens the storage of the configuration; every role and the commands use the same one. Throws what the system says. */
export function openStorage({ objects, dataDir }: Pick<Config, 'objects' | 'dataDir'>): Promise<Storage> {
  return objects.kind === 'disk'
    ? openDiskStorage({ folder: objects.folder })
    : openS3Storage({ ...objects, stagingFolder: join(dataDir, 'staging') })
}
