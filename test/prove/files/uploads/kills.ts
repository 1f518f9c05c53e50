import { statSync } from 'node:fs'
import { holdCommits } from '../../../support/files/commit-hold.ts'
import type { FileStand } from '../../../support/files/file-stand.ts'
import { until } from '../../../support/nodes/node.ts'
import type { FakeS3 } from '../../../support/files/s3.ts'
import type { UploadClient } from '../../../support/files/upload-client.ts'
import type { Proof } from '../../proof.ts'
import { aftermath } from './aftermath.ts'

const SIZE_BYTES = 4_000_000

/** A state of an upload as it is seen from outside; the front is killed as soon as it is. */
interface Point {
  readonly name: string
  /** Brings one upload there. @returns what must be let go of after the kill */
  reach(client: UploadClient): Promise<(() => Promise<void>) | void>
}

/** `kill -9` of the front at every step of an upload to the disk. */
export async function kills(proof: Proof, node: FileStand): Promise<void> {
  const points: readonly Point[] = [
    {
      name: 'the row is pending',
      async reach(client) {
        await client.begin()
        await node.untilRow('pending')
      },
    },
    {
      name: 'the staging file grows',
      async reach(client) {
        await client.begin()
        await client.sendTo(SIZE_BYTES / 2)
        await until('bytes are staged', () => stagedBytes(node) > 0)
      },
    },
    {
      name: 'all but the end of the form is there',
      async reach(client) {
        await client.begin()
        await client.sendTo(SIZE_BYTES)
        await until('the file is staged', () => stagedBytes(node) > SIZE_BYTES / 2)
      },
    },
    {
      name: 'the object is published and its row still pending',
      reach: (client) => untilPublished(node, client),
    },
    {
      name: 'the row is ready',
      async reach(client) {
        await client.begin()
        void client.finish()
        await node.untilRow('ready')
      },
    },
    {
      name: 'a container file is staged',
      async reach() {
        const client = node.client(SIZE_BYTES, { put: '/api/v1/containers/sess_kill/files/a.wav' })
        await client.begin()
        await client.sendTo(SIZE_BYTES / 2)
        await until('bytes are staged', () => stagedBytes(node) > 0)
      },
    },
    { name: 'a promoted file is published and its row still pending', reach: () => untilPromoted(node) },
  ]
  for (const point of points) await killAt(proof, node, point)
}

/** The steps that only a bucket has, held there by its server. */
export async function killsAtBucket(proof: Proof, node: FileStand, s3: FakeS3): Promise<void> {
  await killAt(proof, node, {
    name: 'the bucket has the object and has not said so',
    async reach(client) {
      s3.failNext('put', 'hold')
      await client.begin()
      void client.finish()
      await until('the object is there', async () => (await node.objects()).size > 0)
      return async () => s3.release()
    },
  })
  await killAt(proof, node, {
    name: 'the row is deleted and the bytes are not',
    async reach() {
      const { body } = await node.upload(SIZE_BYTES)
      s3.failNext('head', 'slow')
      void node.remove(String(body['id'])).catch(() => undefined)
      await until('the row is gone', async () => (await node.rows()).every(({ id }) => id !== body['id']))
    },
  })
}

async function killAt(proof: Proof, node: FileStand, { name, reach }: Point): Promise<void> {
  const client = node.client(SIZE_BYTES)
  const detach = await reach(client)
  const [pid = 0] = node.stand.fronts()
  process.kill(pid, 'SIGKILL')
  await detach?.()
  client.leave('RST')
  await until(
    'another front serves',
    () => node.stand.fronts().some((other) => other !== pid) && node.serves(),
  )
  await node.expireLeases()
  await aftermath(proof, node, { what: `kill -9 when ${name}`, bySweep: true })
  for (const { id, state } of await node.rows()) if (state === 'ready') await node.remove(id)
}

async function untilPublished(node: FileStand, client: UploadClient): Promise<() => Promise<void>> {
  const detach = await holdCommits(node)
  await client.begin()
  void client.finish()
  await until('the object is there', async () => (await node.objects()).size > 0)
  return detach
}

async function untilPromoted(node: FileStand): Promise<() => Promise<void>> {
  await node.upload(SIZE_BYTES, { put: '/api/v1/containers/sess_kill/files/b.wav' })
  const id = `cfile_${Buffer.from('b.wav').toString('base64url')}`
  const detach = await holdCommits(node)
  void node.ask('POST', `/containers/sess_kill/files/${id}/promote`).catch(() => undefined)
  await until('the object is there', async () => (await node.objects()).size > 0)
  return detach
}

function stagedBytes(node: FileStand): number {
  return node.staging().reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
}
