import { ok } from '../../schemas/failures.ts'
import type { Storage } from '../ports/files/storage.ts'
import { isObjectId, objectIdOf } from './object-id.ts'
import { diskFailure } from './disk-failure.ts'
import { S3Calls, type S3Options } from './s3-client.ts'
import { s3Containers } from './s3-containers.ts'
import { listKeys, openKey, putFile, removeKey, statKey } from './s3-objects.ts'
import { StagingFolder } from './staging.ts'

const PAGE_KEYS = 1_000

/**
 * Storage in a bucket: `objects/<id>` and `containers/…` below the prefix; staging is a folder of this
 * machine. Throws the system's error when that folder cannot be created; does not check the bucket.
 */
export async function openS3Storage(options: S3Options): Promise<Storage> {
  const calls = new S3Calls(options)
  const staging = new StagingFolder(options.stagingFolder, options.owner)
  await staging.prepare()
  const root = `${calls.prefix}objects/`
  const keyOf = (objectId: string): string => root + objectIdOf(objectId)
  return {
    stage: (expectedBytes) => staging.stage(expectedBytes),
    publish: (objectId, staged, signal) =>
      putFile(calls, { key: keyOf(objectId), staging: staged, mayReplace: false }, signal),
    open: (objectId, signal) =>
      openKey(calls, keyOf(objectId), {
        signal,
        names: { missing: 'content_missing', replaced: 'content_damaged' },
      }),
    stat: (objectId) => statKey(calls, keyOf(objectId)),
    remove: (objectId) => removeKey(calls, keyOf(objectId)),
    async list(cursor) {
      const listed = await listKeys(calls, root, { after: cursor ?? '', countMax: PAGE_KEYS })
      if (!listed.ok) return listed
      const { keys, hasMore } = listed.value
      return ok({
        objects: keys
          .filter(({ name }) => isObjectId(name))
          .map(({ name, facts: { sizeBytes, changedAt } }) => ({ objectId: name, sizeBytes, changedAt })),
        cursor: hasMore ? (keys.at(-1)?.name ?? null) : null,
      })
    },
    stagingOwners: () => staging.owners(),
    sweepStaging: (idleMs, gone) => staging.sweep(idleMs, gone),
    containers: s3Containers(calls),
    failureOf: diskFailure,
    close() {
      calls.client.destroy()
      return Promise.resolve()
    },
  }
}
