import type { FileStand } from '../../../support/files/file-stand.ts'
import type { FakeS3, S3Call, S3Fault } from '../../../support/files/s3.ts'
import type { Proof } from '../../proof.ts'
import { aftermath, sweepAll } from './aftermath.ts'

const SIZE_BYTES = 2_000_000
/** More than the driver tries. */
const ALWAYS = 12

interface Fault {
  readonly call: S3Call
  readonly fault: S3Fault
  readonly times: number
  /** What the upload may be answered. */
  readonly statuses: readonly number[]
}

const FAULTS: readonly Fault[] = [
  { call: 'put', fault: 'error', times: 1, statuses: [200] },
  { call: 'put', fault: 'reset', times: 1, statuses: [200] },
  { call: 'put', fault: 'lost', times: 1, statuses: [200] },
  { call: 'put', fault: 'error', times: ALWAYS, statuses: [503] },
  { call: 'put', fault: 'reset', times: ALWAYS, statuses: [503] },
  { call: 'put', fault: 'lost', times: ALWAYS, statuses: [503] },
]
/** Each of these costs the driver's patience. */
const SLOW_FAULTS: readonly Fault[] = [{ call: 'put', fault: 'slow', times: 1, statuses: [200] }]

/** A bucket that fails at each call that files need. */
export async function bucketFaults(proof: Proof, node: FileStand, s3: FakeS3): Promise<void> {
  for (const { call, fault, times, statuses } of proof.isShort ? FAULTS : [...FAULTS, ...SLOW_FAULTS]) {
    s3.failNext(call, ...Array<S3Fault>(times).fill(fault))
    const answer = await node.upload(SIZE_BYTES)
    s3.heal()
    const what = `S3 ${call} ${fault} ${times === 1 ? 'once' : 'always'}`
    proof.check(
      `${what}: the answer is ${statuses.join(' or ')}`,
      statuses.includes(answer.status),
      `${answer.status} ${answer.type}`,
    )
    if (answer.status === 200) await node.remove(String(answer.body['id']))
    // An object whose answer was lost is the sweep's.
    await aftermath(proof, node, { what, bySweep: answer.status !== 200 })
  }
  await whileRemoving(proof, node, s3)
  await whileReading(proof, node, s3)
  await whileSweeping(proof, node, s3)
}

async function whileRemoving(proof: Proof, node: FileStand, s3: FakeS3): Promise<void> {
  for (const call of ['head', 'delete'] as const) {
    const { body } = await node.upload(SIZE_BYTES)
    s3.failNext(call, ...Array<S3Fault>(ALWAYS).fill('error'))
    const status = await node.remove(String(body['id']))
    s3.heal()
    const gone = await node.ask('GET', `/files/${String(body['id'])}`)
    proof.check(
      `S3 ${call} error while a file is deleted: the file is gone`,
      status === 200 && gone.status === 404,
      `${status}, then ${gone.status}`,
    )
    await aftermath(proof, node, { what: `S3 ${call} error while a file is deleted`, bySweep: true })
  }
}

async function whileReading(proof: Proof, node: FileStand, s3: FakeS3): Promise<void> {
  const id = await node.promoted(SIZE_BYTES, 'read.wav')
  const faults = [
    ['head', 'error', ALWAYS, 503],
    ['get', 'error', ALWAYS, 503],
    ['get', 'half', 1, 200],
    ['get', 'reset', 1, 200],
  ] as const
  for (const [call, fault, times, wanted] of faults) {
    s3.failNext(call, ...Array<S3Fault>(times).fill(fault))
    const answer = await node.ask('GET', `/files/${id}/content`).catch(() => ({ status: 0, text: '' }))
    s3.heal()
    const how = `S3 ${call} ${fault} ${times === 1 ? 'once' : 'always'} while a file is read`
    proof.check(`${how}: the answer is ${wanted}`, answer.status === wanted, String(answer.status))
  }
  await node.remove(id)
  await aftermath(proof, node, { what: 'S3 faults while a file is read' })
}

async function whileSweeping(proof: Proof, node: FileStand, s3: FakeS3): Promise<void> {
  s3.put('node/objects/file_01a1f8dc2774e469a22aa55630f6cc6b', Buffer.from('of nobody'))
  s3.failNext('list', ...Array<S3Fault>(ALWAYS).fill('error'))
  const failed = await sweepAll(node).then(
    () => false,
    () => true,
  )
  s3.heal()
  proof.check('a sweep that S3 fails says so', failed, failed ? 'it did' : 'it did not')
  await aftermath(proof, node, { what: 'a sweep after one that S3 failed', bySweep: true })
}
