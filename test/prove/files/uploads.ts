/** Whatever happens to an upload, it leaves nothing, and the next one works. */
import { startFileStand } from '../../support/files/file-stand.ts'
import { FakeS3 } from '../../support/files/s3.ts'
import { aborts } from './uploads/aborts.ts'
import { bucketFaults } from './uploads/bucket-faults.ts'
import { deadFronts } from './uploads/dead-fronts.ts'
import { fullDisk } from './uploads/full-disk.ts'
import { kills, killsAtBucket } from './uploads/kills.ts'
import { quota } from './uploads/quota.ts'
import { stopped, stoppedAtBucket } from './uploads/stopped.ts'
import { INSPECTED, threads } from './uploads/threads.ts'
import type { Program } from '../proof.ts'

export const program: Program = {
  text: 'Aborts, broken threads, a full disk, S3 faults, kill -9 and stopped fronts leave nothing; quota for 10 takes 10',
  async run(proof) {
    if (process.platform !== 'linux') {
      proof.skipped = 'what processes hold is read from /proc'
      return
    }
    const disk = await startFileStand(proof, { settings: INSPECTED })
    await aborts(proof, disk)
    await quota(proof, disk)
    await threads(proof, disk)
    await deadFronts(proof, disk)
    await kills(proof, disk)
    await stopped(proof, disk)
    await disk.stand.stop()
    await fullDisk(proof)
    // What follows takes a minute and a half, which the suite does not have.
    if (proof.isShort) return
    const s3 = await FakeS3.start(proof)
    const bucket = await startFileStand(proof, { s3 })
    await bucketFaults(proof, bucket, s3)
    await killsAtBucket(proof, bucket, s3)
    await stoppedAtBucket(proof, bucket, s3)
  },
}
