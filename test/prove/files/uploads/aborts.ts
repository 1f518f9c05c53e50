import { heldBy, type FileStand } from '../../../support/files/file-stand.ts'
import { until } from '../../../support/nodes/node.ts'
import { pause } from '../../../support/nodes/spawned.ts'
import type { Proof } from '../../proof.ts'
import { aftermath } from './aftermath.ts'
import { withRoomFor } from './quota.ts'

const SIZE_BYTES = 4_000_000
/** Bytes of the file that were sent before the client leaves. */
const STAGES = [0, 44, 65_536, 1_000_000, SIZE_BYTES - 1, SIZE_BYTES] as const
const HOWS = ['FIN', 'RST'] as const

/**
 * A client that leaves: at every stage, in either way, with a length and in chunks, while it is read and
 * while it waits.
 */
export async function aborts(proof: Proof, node: FileStand): Promise<void> {
  const rounds = proof.isShort ? 1 : 5
  for (const how of HOWS) {
    const leaving = STAGES.flatMap((stage) =>
      [true, false].flatMap((isChunked) => Array.from({ length: rounds }, () => ({ stage, isChunked }))),
    )
    await Promise.all(
      leaving.map(async ({ stage, isChunked }) => {
        const client = node.client(SIZE_BYTES, { isChunked })
        await client.begin()
        await client.sendTo(stage)
        await pause(proof.random(300))
        client.leave(how)
      }),
    )
    await aftermath(proof, node, {
      what: `${leaving.length} clients that leave by ${how} at ${STAGES.length} stages`,
    })
  }
  await atTheEnd(proof, node)
  await whilePaused(proof, node)
}

/** The body is whole, and the reply is not there yet: what became of it is the same for everyone who asks. */
async function atTheEnd(proof: Proof, node: FileStand): Promise<void> {
  const clients = await Promise.all(
    Array.from({ length: proof.isShort ? 10 : 40 }, async () => {
      const client = node.client(SIZE_BYTES)
      await client.begin()
      void client.finish()
      while (client.sentBytes < SIZE_BYTES && !client.socket.destroyed) await pause(1)
      await pause(proof.random(100))
      client.leave(proof.random(2) === 0 ? 'FIN' : 'RST')
      return client
    }),
  )
  await until(
    'all have ended',
    async () => heldBy(node).length === 0 && (await node.rows()).every(({ state }) => state !== 'pending'),
  )
  const stored = (await node.rows()).filter(({ state }) => state === 'ready')
  proof.say(`${clients.length} left after the last byte: ${stored.length} were stored`)
  for (const { id } of stored) await node.remove(id)
  // Whose object was published already is abandoned, and left to the sweep.
  await aftermath(proof, node, {
    what: `${clients.length} clients that leave after the last byte`,
    bySweep: true,
  })
}

/**
 * The quota is held by another, so that the body waits unread: a paused socket does not report that its
 * client left.
 */
async function whilePaused(proof: Proof, node: FileStand): Promise<void> {
  await withRoomFor(node, SIZE_BYTES + 1_000, async () => {
    const holder = node.client(SIZE_BYTES)
    await holder.begin()
    await node.untilRow('pending')
    const waiting = HOWS.map((how) => ({ how, client: node.client(SIZE_BYTES) }))
    for (const { client } of waiting) {
      await client.begin()
      await client.sendTo(100_000)
    }
    let isRefused = false
    for (const { client } of waiting) void client.answer.then(() => (isRefused = true))
    // A body rests for 8 s at most, and a call waits 10 s for quota: a look may take longer.
    const sending = setInterval(() => void holder.sendTo(holder.sentBytes + 1_000), 1_000)
    await until(
      'all calls are under way',
      async () => isRefused || (await node.calls()) === 1 + waiting.length,
    ).finally(() => clearInterval(sending))
    for (const { how, client } of waiting) client.leave(how)
    const answer = await holder.finish()
    proof.check(
      'clients leave while their upload waits for quota: who holds it is stored',
      answer.status === 200,
      `${answer.status} ${answer.type}`,
    )
    await node.remove(String(answer.body['id']))
    await aftermath(proof, node, { what: 'clients that leave while their upload waits' })
  })
}
