import t from 'tap'
import { ok } from '../../../src/schemas/failures.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { FairSemaphore } from '../../../src/server/structures/fair-semaphore.ts'
import {
  COPIES_WAITING_MAX,
  COPIES_WAITING_WORKSPACE_MAX,
  openVaults,
} from '../../../src/server/vault/vaults.ts'
import { gate } from '../../support/gate.ts'
import { must } from '../../support/must.ts'
import { BY, HOST, openVaultStand } from '../../support/vault/vault-front.ts'

const OPTIONS = { places: 100, waitingMax: 6, waitingOfOneMax: 4, waitMs: 60_000 }
const BUSY = { ok: false, failure: { name: 'busy', retryAfterS: 1 } }

/** A work that holds its place until `end` is called. */
function held(turns: FairSemaphore, workspaceId: string, weight: number) {
  const reported = gate()
  let hasBegun = false
  const done = turns.within({ tenant: workspaceId, weight }, async () => {
    hasBegun = true
    await reported.opened
    return ok('done')
  })
  return {
    done,
    end: () => reported.open(),
    get hasBegun() {
      return hasBegun
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test(
  'the total weight of running work is limited, and each workspace runs its work in order',
  async (t) => {
    const turns = new FairSemaphore(OPTIONS)
    const works = [60, 60, 40, 100].map((weight) => held(turns, 'w', weight))
    const begun: boolean[][] = []
    for (const { end, done } of works) {
      await settled()
      begun.push(works.map(({ hasBegun }) => hasBegun))
      end()
      await done
    }
    t.same(begun, [
      [true, false, false, false],
      [true, true, true, false],
      [true, true, true, false],
      [true, true, true, true],
    ])
  },
)

t.test('workspaces take turns: a workspace with much waiting work does not hold up others', async (t) => {
  const turns = new FairSemaphore({ ...OPTIONS, places: 1 })
  const order: string[] = []
  const work = (workspaceId: string) =>
    turns.within({ tenant: workspaceId }, async () => {
      order.push(workspaceId)
      await settled()
      return ok(null)
    })
  const all = ['flood', 'flood', 'flood', 'flood', 'flood', 'a', 'b'].map(work)
  await Promise.all(all)
  t.same(order, ['flood', 'flood', 'a', 'b', 'flood', 'flood', 'flood'])
})

t.test('work that waited too long gets no turn, and does not hold up later work that fits', async (t) => {
  const turns = new FairSemaphore({ ...OPTIONS, waitMs: 20 })
  const first = held(turns, 'w', 99)
  t.same(await held(turns, 'w', 2).done, BUSY)
  const small = held(turns, 'w', 1)
  small.end()
  must(await small.done)
  first.end()
  must(await first.done)
})

t.test('work aborted while it waits makes room for other work at once', async (t) => {
  const turns = new FairSemaphore({ places: 1, waitingOfOneMax: 1 })
  const first = held(turns, 'w', 1)
  const left = new AbortController()
  const wait = (signal: AbortSignal) =>
    turns.within({ tenant: 'w', signal }, () => Promise.resolve(ok('done')))
  const waiting = wait(left.signal)
  left.abort()
  const ended = { ok: false, failure: { name: 'client_gone' } }
  t.match(await waiting, ended)
  t.match(await wait(left.signal), ended, 'a signal that has ended waits for nothing')
  const next = wait(new AbortController().signal)
  first.end()
  must(await first.done)
  must(await next)
})

t.test('one workspace can fill only a part of the queue, and a full queue answers busy', async (t) => {
  const turns = new FairSemaphore(OPTIONS)
  const works = [held(turns, 'a', 100)]
  for (let nth = 0; nth < OPTIONS.waitingOfOneMax; nth++) works.push(held(turns, 'a', 1))
  t.same(await held(turns, 'a', 1).done, BUSY, 'the workspace waits often enough')
  while (works.length <= OPTIONS.waitingMax) works.push(held(turns, 'b', 1))
  t.same(await held(turns, 'c', 1).done, BUSY, 'the queue is full')
  for (const work of works) work.end()
  for (const { done } of works) must(await done)
  const after = held(turns, 'c', 100)
  after.end()
  must(await after.done)
})

t.test('work that fails or throws releases its place', async (t) => {
  const turns = new FairSemaphore(OPTIONS)
  await t.rejects(turns.within({ tenant: 'w', weight: 100 }, () => Promise.reject(new Error('broken'))))
  must(await turns.within({ tenant: 'w', weight: 100 }, () => Promise.resolve(ok(1))))
})

t.test(
  'many concurrent copies read at most the allowed number of secrets at a time, and all succeed',
  async (t) => {
    const { rows, keys, jobs, workspace, addIntern } = await openVaultStand(t)
    let [reading, most] = [0, 0]
    const vaults = openVaults({
      keys,
      jobs,
      turnWaitMs: OPTIONS.waitMs,
      rows: {
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
      },
    })
    const names = Array.from({ length: 40 }, (_, nth) => `s${nth}`)
    for (const name of names)
      must(await vaults.put(workspace, { name, hosts: [HOST], value: new Secret('v') }, BY))
    const interns = await Promise.all(Array.from({ length: 6 }, () => addIntern(workspace)))
    const copied = await Promise.all(interns.map((intern) => vaults.copy(intern, names, BY)))
    t.same(
      copied.map((copy) => must(copy).length),
      interns.map(() => 40),
    )
    t.equal(most, 80)
    t.ok(interns.length <= COPIES_WAITING_WORKSPACE_MAX && COPIES_WAITING_WORKSPACE_MAX < COPIES_WAITING_MAX)
  },
)
