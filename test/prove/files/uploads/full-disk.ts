import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startFileStand } from '../../../support/files/file-stand.ts'
import { pause } from '../../../support/nodes/spawned.ts'
import type { Proof } from '../../proof.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { aftermath } from './aftermath.ts'

const MIB = 1_048_576
/** Of them 64 MiB are kept free for what else needs room. */
const DISK_BYTES = 128 * MIB

/** A disk that has no room for an upload, and one that is full in the midst of one. */
export async function fullDisk(proof: Proof): Promise<void> {
  const folder = temporaryFolder(proof, 'small-disk')
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return proof.say('a full disk: left out, no file system can be mounted here')
  }
  proof.after(async () => execFileSync('umount', ['-l', folder]))
  const node = await startFileStand(proof, { settings: { SLUICE_OBJECTS: folder } })
  const refused = node.client(80 * MIB)
  await refused.begin()
  const large = await refused.answer
  refused.leave('FIN')
  const isRefused = large.status === 503 && large.type === 'storage_full'
  const reported = `${large.status} ${large.type}`
  proof.check('a file that the disk has no room for is refused before it is read', isRefused, reported)
  await aftermath(proof, node, { what: 'an upload without room' })
  const clients = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const client = node.client(8 * MIB)
      await client.begin()
      await client.sendTo(2 * MIB)
      return client
    }),
  )
  await pause(500)
  const ballast = join(folder, 'ballast')
  fill(ballast)
  const answers = await Promise.all(clients.map((client) => client.finish()))
  const texts = [...new Set(answers.map(({ status, type }) => `${status} ${type}`))]
  proof.check(
    'a disk that is full in the midst of files: each gets 503',
    texts.join() === '503 storage_full',
    texts.join(', '),
  )
  rmSync(ballast)
  await aftermath(proof, node, { what: 'a disk that was full' })
  await node.stand.stop()
}

function fill(path: string): void {
  try {
    writeFileSync(path, Buffer.alloc(2 * DISK_BYTES))
  } catch {
    // So it is full.
  }
}
