import { execFileSync } from 'node:child_process'
import { statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FakeS3, s3Settings } from '../../../../support/files/s3.ts'
import { openFolder } from '../../../../support/files/storage.ts'
import { NO_MOUNT, tinyDisk } from '../../../../support/files/tiny-disk.ts'
import { installationOf } from '../../../../support/operator/conditions.ts'

t.setTimeout(600_000)

const { condition } = await installationOf(t)

condition({
  what: 'a file where the data directory should be made',
  check: 'data_directory',
  detail: /plain\/data is not a directory/,
  fix: /SLUICE_DATA/,
  make: (t) => ({
    SLUICE_DATA: join(t.testdir({ plain: '' }), 'plain/data'),
    SLUICE_OBJECTS: join(t.testdirName, 'objects'),
  }),
})

condition({
  what: 'a data directory that holds something else',
  check: 'data_directory',
  detail: /contains other files/,
  fix: /a separate directory/,
  make: (t) => ({ SLUICE_DATA: t.testdir({ 'letter.txt': '' }) }),
})

condition({
  what: 'a disk of the data directory that is nearly full',
  check: 'data_directory',
  detail: /, [0-4] MiB free$/,
  fix: /free up space/,
  skip: NO_MOUNT,
  async make(t) {
    const folder = await tinyDisk(t)
    return { SLUICE_DATA: join(folder, 'data'), SLUICE_OBJECTS: await openFolder(t) }
  },
})

condition({
  what: 'a file in the way of storage',
  check: 'storage',
  detail: /plain is not a directory/,
  fix: /SLUICE_OBJECTS/,
  make: (t) => ({ SLUICE_OBJECTS: join(t.testdir({ plain: '' }), 'plain') }),
})

condition({
  what: 'a disk of storage that is nearly full',
  check: 'storage',
  detail: /, [0-4] MiB free$/,
  fix: /free up space/,
  skip: NO_MOUNT,
  async make(t) {
    return { SLUICE_OBJECTS: await tinyDisk(t) }
  },
})

condition({
  what: 'a disk of storage that has bytes and hardly an inode',
  check: 'storage',
  detail: /, \d{4,} MiB and [0-4] inodes free$/,
  fix: /inodes/,
  skip: NO_MOUNT,
  async make(t) {
    const folder = await tinyDisk(t)
    execFileSync('mount', ['-o', 'remount,size=4g,nr_inodes=100', folder])
    const { ffree } = statfsSync(folder)
    for (let left = ffree; left > 4; left--) writeFileSync(join(folder, `n${left}`), '')
    return { SLUICE_OBJECTS: folder }
  },
})

for (const [what, change, detail] of [
  [
    'a bucket that is not there',
    { SLUICE_OBJECTS: 's3://another-bucket/a' },
    /^s3:\/\/another-bucket\/a\/: cannot list: /,
  ],
  ['an access key that is not right', { AWS_SECRET_ACCESS_KEY: 'wrong-canary' }, /cannot list: (?!.*canary)/],
  [
    'an object store that is not there',
    { SLUICE_S3_ENDPOINT: 'http://127.0.0.1:9' },
    /cannot list: .*ECONNREFUSED/,
  ],
] as const) {
  condition({
    what,
    check: 'storage',
    detail,
    fix: /permissions of the access key/,
    make: async (t) => ({ ...s3Settings(await FakeS3.start(t)), ...change }),
  })
}

condition({
  what: 'a bucket that may only be read',
  check: 'storage',
  detail: /cannot write: /,
  fix: /permissions of the access key/,
  async make(t) {
    const s3 = await FakeS3.start(t)
    s3.isReadOnly = true
    return s3Settings(s3)
  },
})
