import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { holdings } from '../../../bench/soak/holding.ts'
import { processRow } from './process-cpu.ts'
import { memoryByRole, residentAndShared, residentBytes } from './process-memory.ts'
import { stopServer } from '../nodes/spawned.ts'
import { until } from '../wait.ts'

const skip = process.platform !== 'linux' && 'read from /proc'

/** Two processes that do nothing, under the name of a store. */
async function sleepers(t: Test, name: string): Promise<readonly number[]> {
  const children = [1, 2].map(() => spawn('sleep', ['60'], { argv0: name, stdio: 'ignore' }))
  // Until they are gone: the next test looks at all that run.
  t.teardown(() => Promise.all(children.map((child) => stopServer(child))))
  await Promise.all(children.map((child) => once(child, 'spawn')))
  const pids = children.map(({ pid = 0 }) => pid)
  // Until they have loaded what they need, they grow.
  await until(() => !pids.some((pid) => processRow(pid)?.state !== 'S'))
  return pids
}

/**
 * The figures while the system takes no pages away: a machine short of memory may, also from sleeping ones.
 */
function still<T>(pids: readonly number[], look: () => T): T {
  for (;;) {
    const before = pids.map(residentAndShared).join()
    const seen = look()
    if (pids.map(residentAndShared).join() === before) return seen
  }
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)

t.test('sums the memory of processes of one kind', { skip }, async (t) => {
  const pids = await sleepers(t, 'postgres: writer')
  const { resident, all } = still(pids, () => ({
    resident: pids.map(residentBytes),
    all: memoryByRole(process.pid).get('postgres'),
  }))
  t.ok(
    resident.every((bytes) => bytes > 100_000),
    resident.join(),
  )
  t.equal(all, sum(resident))
})

t.test('the processes of a store are one entry, with all of their memory', { skip }, async (t) => {
  const pids = await sleepers(t, 'redis-server')
  const open = pids.map((pid) => readdirSync(`/proc/${pid}/fd`).length)
  const { each, held } = still(pids, () => ({
    each: pids.map(residentAndShared),
    held: holdings(process.pid),
  }))
  const own = each.map(([resident, shared]) => resident - shared)
  t.match(
    held.filter(({ isOurs }) => !isOurs),
    [
      {
        name: 'redis',
        pids,
        residentBytes: sum(each.map(([resident]) => resident)),
        ownBytes: sum(own),
        descriptors: sum(open),
      },
    ],
  )
})

t.test('an ended process holds nothing', { skip }, async (t) => {
  t.same(residentAndShared(0), [0, 0])
})
