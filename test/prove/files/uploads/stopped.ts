import type { FileStand } from '../../../support/files/file-stand.ts'
import { until } from '../../../support/nodes/node.ts'
import type { FakeS3 } from '../../../support/files/s3.ts'
import { pause } from '../../../support/nodes/spawned.ts'
import type { UploadAnswer } from '../../../support/files/upload-client.ts'
import type { Proof } from '../../proof.ts'
import { aftermath } from './aftermath.ts'

const SIZE_BYTES = 4_000_000
const TRIES_MAX = 10

/** A front that stands still until the sweep has taken its upload over, in the midst of the file. */
export async function stopped(proof: Proof, node: FileStand): Promise<void> {
  const answer = await reportedInTime(node, async () => {
    const client = node.client(SIZE_BYTES)
    await client.begin()
    await client.sendTo(SIZE_BYTES / 2)
    await until('bytes are staged', () => node.staging().length > 0)
    return overtaken(node, () => client.finish())
  })
  proof.check(
    'a front that was stopped past the grace answers 500',
    answer.status === 500,
    `${answer.status} ${answer.type}`,
  )
  await aftermath(proof, node, { what: 'a front stopped in the midst of a file' })
}

/** The same between the bucket's last answer and the row. */
export async function stoppedAtBucket(proof: Proof, node: FileStand, s3: FakeS3): Promise<void> {
  const answer = await reportedInTime(node, async () => {
    const before = (await node.objects()).size
    s3.failNext('put', 'hold')
    const client = node.client(SIZE_BYTES)
    await client.begin()
    const answered = client.finish()
    await until('the object is there', async () => (await node.objects()).size > before)
    return overtaken(node, async () => {
      s3.release()
      return answered
    })
  })
  proof.check(
    'a front that was stopped past the grace with its object published answers 500',
    answer.status === 500,
    `${answer.status} ${answer.type}`,
  )
  await aftermath(proof, node, { what: 'a front stopped after it published' })
}

/**
 * The answer to a client. Where a sweep takes longer than a body may rest, or than a silent front lives, the
 * client gets an error that says so, and it is tried again.
 */
async function reportedInTime(node: FileStand, tried: () => Promise<UploadAnswer>): Promise<UploadAnswer> {
  for (let tries = 1; ; tries++) {
    const answer = await tried()
    if (tries === TRIES_MAX || !['body_slow', 'connection_ended'].includes(answer.type)) return answer
    await until('a front serves', () => node.serves())
    await until('all have ended', () => node.staging().length === 0)
  }
}

/** Stops the front, lets the sweep take everything over, and lets the front go on. */
async function overtaken(node: FileStand, andThen: () => Promise<UploadAnswer>): Promise<UploadAnswer> {
  const [pid = 0] = node.stand.fronts()
  process.kill(pid, 'SIGSTOP')
  try {
    await pause(300)
    await until('the row is gone', async () => {
      // What the front had sent to the database may renew it once more.
      await node.expireLeases()
      // Its staging file is an hour from being old.
      await node.sweep()
      return (await node.rows()).every(({ state }) => state === 'ready')
    })
  } finally {
    try {
      process.kill(pid, 'SIGCONT')
    } catch {
      // The front was silent for too long, and was replaced.
    }
  }
  return andThen()
}
