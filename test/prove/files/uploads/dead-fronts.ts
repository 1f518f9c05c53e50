import { basename } from 'node:path'
import { holdCommits } from '../../../support/files/commit-hold.ts'
import type { FileStand } from '../../../support/files/file-stand.ts'
import { until } from '../../../support/nodes/node.ts'
import type { UploadAnswer, UploadClient, UploadPlan } from '../../../support/files/upload-client.ts'
import type { Proof } from '../../proof.ts'
import { withRoomFor } from './quota.ts'

const COUNT = 20
const SIZE_BYTES = 200_000
/** A part of the quota for bytes that count besides those of files. */
const SLACK_BYTES = (COUNT * SIZE_BYTES) / 2

const KINDS = [
  { what: 'uploads', plan: () => ({}) },
  {
    what: 'container writes',
    plan: (round: string, nth: number) => ({ put: `/api/v1/containers/sess_dead/files/${round}-${nth}.wav` }),
  },
]

/**
 * What a front held that was killed is free with its journal: no lease runs out here, and no sweep is asked
 * for.
 */
export async function deadFronts(proof: Proof, node: FileStand): Promise<void> {
  for (const { what, plan } of KINDS) {
    await withRoomFor(node, COUNT * SIZE_BYTES + SLACK_BYTES, async () => {
      const held = Array.from({ length: COUNT }, (_, nth) => node.client(SIZE_BYTES, plan('held', nth)))
      await Promise.all(held.map((client) => client.begin().then(() => client.sendTo(SIZE_BYTES / 2))))
      await until('all are staged', () => node.staging().length === COUNT)
      const staged = new Set(node.staging().map((path) => basename(path)))
      const reserved = (await node.usage()).reservedBytes
      await killFront(node, held)
      const answers = await Promise.all(
        Array.from({ length: COUNT }, (_, nth) => uploaded(proof, node, plan('new', nth))),
      )
      const good = answers.filter(({ status }) => status === 200)
      const answer = answers.map(({ status, type }) => `${status} ${type}`)
      proof.check(
        `kill -9 with ${COUNT} ${what} half-sent: ${COUNT} of ${COUNT} new ones fit into what those had reserved`,
        reserved >= COUNT * SIZE_BYTES && good.length === COUNT,
        `${good.length} stored, ${reserved} were reserved: ${[...new Set(answer)].join(', ')}`,
      )
      const left = (): readonly string[] => node.staging().filter((path) => staged.has(basename(path)))
      // Their reservations end before their files are removed.
      await until('what was staged is gone', () => left().length === 0).catch(() => undefined)
      proof.check(
        `kill -9 with ${COUNT} ${what} half-sent: nothing that was staged is left`,
        left().length === 0,
        `${left().length} are left`,
      )
      for (const { body } of good)
        if (typeof body['id'] === 'string' && body['id'].startsWith('file_')) await node.remove(body['id'])
    })
  }
  await heldPath(proof, node)
}

/**
 * An upload waits 10 s for room. In short it is tried once more: a slow machine reads the journal of a dead
 * front later, and yet long before a lease of 60 s runs out.
 */
async function uploaded(
  { isShort }: Proof,
  node: FileStand,
  plan: Partial<UploadPlan>,
): Promise<UploadAnswer> {
  const answer = await node.upload(SIZE_BYTES, plan)
  return isShort && answer.type === 'quota_exceeded' ? node.upload(SIZE_BYTES, plan) : answer
}

/** A write that had its path, and its file published, when its front was killed. */
async function heldPath(proof: Proof, node: FileStand): Promise<void> {
  const put = { put: '/api/v1/containers/sess_dead/files/held.wav' }
  const before = (await node.usage()).usedBytes
  const detach = await holdCommits(node, 'container_files')
  const client = node.client(SIZE_BYTES, put)
  await client.begin()
  void client.finish()
  await until('its path is claimed', async () => (await claims(node)) > 0)
  await until('its file is published', () => node.staging().length === 0)
  await killFront(node, [client], detach)
  await until('its claim is over', async () => (await claims(node)) === 0)
  const next = await node.upload(SIZE_BYTES / 2, put)
  const used = (await node.usage()).usedBytes - before
  proof.check(
    'kill -9 with a container write published: the next one of its path works',
    next.status === 200,
    `${next.status} ${next.type}`,
  )
  const isExact = used >= SIZE_BYTES / 2 && used < SIZE_BYTES
  proof.check(
    'kill -9 with a container write published: what lies there is counted, once',
    isExact,
    `${used} bytes`,
  )
}

async function claims(node: FileStand): Promise<number> {
  return (await node.store.sql`SELECT 1 FROM container_files WHERE writing_until IS NOT NULL`).length
}

async function killFront(
  node: FileStand,
  held: readonly UploadClient[],
  detach?: () => Promise<void>,
): Promise<void> {
  const [pid = 0] = node.stand.fronts()
  process.kill(pid, 'SIGKILL')
  await detach?.()
  for (const client of held) client.leave('RST')
  await until(
    'another front serves',
    () => node.stand.fronts().some((other) => other !== pid) && node.serves(),
  )
}
