import type { FileStand } from '../../../support/files/file-stand.ts'
import { until } from '../../../support/nodes/node.ts'
import type { Proof } from '../../proof.ts'
import { aftermath } from './aftermath.ts'

const QUOTA_BYTES = 10 * 1_024 ** 3
const SIZE_BYTES = 1_500_000
const FITTING = 10

/** Fills the quota of the workspace by its row, but for so many bytes. */
export async function withRoomFor(node: FileStand, bytes: number, run: () => Promise<void>): Promise<void> {
  const before = await node.usage()
  await useBytes(node, QUOTA_BYTES - bytes - before.usedBytes)
  try {
    await run()
  } finally {
    await useBytes(node, -(QUOTA_BYTES - bytes - before.usedBytes))
  }
}

async function useBytes(node: FileStand, more: number): Promise<void> {
  await node.store
    .sql`UPDATE workspace_storage SET used_bytes = used_bytes + ${more} WHERE workspace_id = ${node.workspaceId}`
}

/** Of many uploads at once, as many are stored as the quota has room for. */
export async function quota(proof: Proof, node: FileStand): Promise<void> {
  const forms = [
    { how: 'with a length', isChunked: () => false },
    { how: 'in chunks', isChunked: () => true },
  ]
  // What is refused waits for room until a deadline: the short form waits for it once.
  const mixed = { how: 'in chunks or with a length', isChunked: (nth: number) => nth % 2 === 0 }
  for (const { how, isChunked } of proof.isShort ? [mixed] : forms) {
    await withRoomFor(node, FITTING * SIZE_BYTES, async () => {
      const before = await node.usage()
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, nth) => node.upload(SIZE_BYTES, { isChunked: isChunked(nth) })),
      )
      const stored = answers.filter(({ status }) => status === 200)
      const refused = answers.filter(({ status, type }) => status === 403 && type === 'quota_exceeded')
      const others = answers.filter((answer) => !stored.includes(answer) && !refused.includes(answer))
      const strangers = others.map(({ status, type }) => `${status} ${type}`).join(', ') || 'no other answer'
      const found = `${stored.length} stored, ${refused.length} refused, ${strangers}`
      proof.check(
        `50 racing uploads ${how} into quota for 10: 10 at most are stored, the others refused`,
        stored.length > 0 && stored.length <= FITTING && others.length === 0,
        found,
      )
      const isExact = stored.length === FITTING
      const exactly = `50 racing uploads ${how} into quota for 10: exactly 10 are stored`
      // Those that wait for each other give way within 10 and 20 s, which is little on a slow machine.
      if (proof.isShort) proof.checkTimed(exactly, isExact, found)
      else proof.check(exactly, isExact, found)
      // The reservation of a refused one may come back after its answer.
      await until('nothing is reserved', async () => (await node.usage()).reservedBytes === 0).catch(
        () => undefined,
      )
      const full = await node.usage()
      const taken = full.usedBytes - before.usedBytes
      const isBooked = taken === stored.length * SIZE_BYTES && full.reservedBytes === 0
      const reported = `${taken} taken, ${full.reservedBytes} reserved`
      proof.check(`50 racing uploads ${how}: their bytes are taken and none reserved`, isBooked, reported)
      for (const { body } of stored) await node.remove(String(body['id']))
      const after = await node.usage()
      const isFree = after.usedBytes === before.usedBytes
      const rest = `${after.usedBytes - before.usedBytes} bytes too many are used`
      proof.check('deleting frees exactly what was taken', isFree, rest)
    })
    await aftermath(proof, node, { what: `50 racing uploads ${how}` })
  }
}
