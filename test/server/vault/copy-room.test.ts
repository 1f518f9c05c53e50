import t from 'tap'
import { SECRETS_COPIED_MAX } from '../../../src/schemas/limits.ts'
import { Secret } from '../../../src/schemas/secret.ts'
import { COPIES_WAITING_MAX, COPIES_WAITING_WORKSPACE_MAX, COPY_WAIT_MS_MAX, CopyRoom } from '../../../src/server/vault/copy-room.ts'
import { openVaults } from '../../../src/server/vault/vaults.ts'
import { gate } from '../../support/gate.ts'
import { must } from '../../support/must.ts'
import { BY, HOST, openVaultStand } from '../../support/vault-front.ts'

/** A copy that holds its place until it is told to end. */
function held(room: CopyRoom, workspaceId: string, count: number) {
  const told = gate()
  let hasBegun = false
  const done = room.within(workspaceId, count, () => {
    hasBegun = true
    return told.opened.then(() => 'copied')
  })
  return { done, end: () => told.open(), get hasBegun() { return hasBegun } }
}

const turns = () => new Promise((resolve) => setImmediate(resolve))

t.test('copies hold no more secrets at once than the largest of them, and all come to their turn in their order', async (t) => {
  const room = new CopyRoom()
  const copies = [60, 60, 40, SECRETS_COPIED_MAX].map((count) => held(room, 'w', count))
  const begun: boolean[][] = []
  for (const { end, done } of copies) {
    await turns()
    begun.push(copies.map(({ hasBegun }) => hasBegun))
    end()
    await done
  }
  t.same(begun, [
    [true, false, false, false],
    [true, true, true, false],
    [true, true, true, false],
    [true, true, true, true],
  ])
})

t.test('a copy that waited too long has no turn, and those behind it that fit are not held up', async (t) => {
  const room = new CopyRoom(20)
  const first = held(room, 'w', SECRETS_COPIED_MAX - 1)
  const large = held(room, 'w', 2)
  t.equal(await large.done, null)
  const small = held(room, 'w', 1)
  small.end()
  t.equal(await small.done, 'copied')
  first.end()
  t.equal(await first.done, 'copied')
  t.ok(COPY_WAIT_MS_MAX > 0)
})

t.test('one workspace fills a part of the queue alone, and the queue has an end', async (t) => {
  const room = new CopyRoom()
  const waiting = [held(room, 'w0', SECRETS_COPIED_MAX)]
  for (let nth = 0; nth < COPIES_WAITING_MAX; nth++) waiting.push(held(room, `w${Math.floor(nth / COPIES_WAITING_WORKSPACE_MAX)}`, 1))
  t.equal(await held(room, 'w9', 1).done, null, 'the queue is full')
  for (const copy of waiting) copy.end()
  t.same([...new Set(await Promise.all(waiting.map(({ done }) => done)))], ['copied'])
  const crowd = [held(room, 'w', SECRETS_COPIED_MAX)]
  for (let nth = 0; nth < COPIES_WAITING_WORKSPACE_MAX; nth++) crowd.push(held(room, 'w', 1))
  t.equal(await held(room, 'w', 1).done, null, 'the workspace waits often enough')
  const other = held(room, 'another', 1)
  for (const copy of [...crowd, other]) copy.end()
  t.equal(await other.done, 'copied')
})

t.test('a copy that fails or throws leaves its place', async (t) => {
  const room = new CopyRoom()
  await t.rejects(room.within('w', SECRETS_COPIED_MAX, () => Promise.reject(new Error('broken'))))
  t.equal(await room.within('w', SECRETS_COPIED_MAX, () => Promise.resolve(1)), 1)
})

t.test('many callers that copy at once read no more secrets at a time than one may, and all get their copies', async (t) => {
  const { rows, keys, jobs, workspace, addIntern } = await openVaultStand(t)
  let [reading, most] = [0, 0]
  const vaults = openVaults({ keys, jobs, rows: {
    ...rows,
    sources(scope, names) {
      reading += names.length
      most = Math.max(most, reading)
      return rows.sources(scope, names)
    },
    async write(write) {
      try {
        return await rows.write(write)
      } finally {
        if (write.copyOf !== null) reading -= write.copyOf.length
      }
    },
  } })
  const names = Array.from({ length: 40 }, (_, nth) => `s${nth}`)
  for (const name of names) must(await vaults.put(workspace, { name, hosts: [HOST], value: new Secret('v') }, BY))
  const interns = await Promise.all(Array.from({ length: 6 }, () => addIntern(workspace)))
  const copied = await Promise.all(interns.map((intern) => vaults.copy(intern, names, BY)))
  t.same(copied.map((copy) => must(copy).length), interns.map(() => 40))
  t.equal(most, 80)
})
