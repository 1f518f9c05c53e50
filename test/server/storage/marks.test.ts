import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { redisMark } from '../../../src/server/redis/mark.ts'
import type { PlaceMark } from '../../../src/server/ports/installation.ts'
import { diskMark } from '../../../src/server/storage/disk-mark.ts'
import { s3Mark } from '../../../src/server/storage/s3-mark.ts'
import { FakeS3 } from '../../support/files/s3.ts'
import { openPatientState, openTestRedis } from '../../support/stores/redis.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

type Tap = Parameters<typeof temporaryFolder>[0]

function bucketMark(s3: FakeS3, bucket = s3.bucket): PlaceMark {
  return s3Mark({
    bucket,
    prefix: 'node/',
    region: s3.region,
    endpoint: s3.endpoint,
    accessKeyId: s3.accessKeyId,
    secretAccessKey: new Secret(s3.secretAccessKey),
    isPathStyle: true,
    checksums: 'WHEN_REQUIRED',
    backoffMs: 1,
  })
}

const PLACES: Readonly<Record<string, (t: Tap) => Promise<PlaceMark>>> = {
  folder: (t) => Promise.resolve(diskMark(temporaryFolder(t, 'objects'))),
  bucket: async (t) => bucketMark(await FakeS3.start(t)),
  Redis: async (t) => redisMark(await openPatientState(t, await openTestRedis(t))),
}

for (const [name, open] of Object.entries(PLACES))
  t.test(`a ${name} has no mark at first, then the one written last`, async (t) => {
    const place = await open(t)
    t.equal(await place.read(), null)
    await place.write('one')
    await place.write('two')
    t.equal(await place.read(), 'two')
  })

t.test('a storage location that cannot be read counts as unavailable, not as unmarked', async (t) => {
  const s3 = await FakeS3.start(t)
  await t.rejects(bucketMark(s3, 'other').read(), { message: 'storage_unavailable' })
  s3.isReadOnly = true
  await t.rejects(bucketMark(s3).write('one'), { message: 'storage_unavailable' })
  const folder = join(temporaryFolder(t, 'objects'), 'file')
  await writeFile(folder, '')
  await t.rejects(diskMark(folder).read(), { code: 'ENOTDIR' })
})

t.test('the mark of a bucket is stored under its prefix, apart from the objects of files', async (t) => {
  const s3 = await FakeS3.start(t)
  await bucketMark(s3).write('one')
  t.same([...s3.objects.keys()], ['node/installation'])
})
