import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { QuotaWatch, type CoreUse } from '../../../src/server/config/quota-watch.ts'
import { inV1, inV2, plantedMachine, type Planted } from '../../support/nodes/planted-machine.ts'

/** What is used in the second after `files` have become `later`. */
function aSecondLater(t: Test, files: Planted, later: Planted): CoreUse {
  const root = plantedMachine(t, files)
  let nowMs = 5_000
  const watch = new QuotaWatch({ root }, () => nowMs)
  nowMs += 1_000
  for (const [path, text] of Object.entries(later)) writeFileSync(join(root, path), text)
  return watch.look()
}
const stat = (micros: number): string => `usage_usec ${micros}\nuser_usec 1\nnr_throttled 0\n`
const OWN = 'sys/fs/cgroup/pod/app/cpu.stat'
const POD = 'sys/fs/cgroup/pod/cpu.stat'
const NESTED = inV2('/pod/app', {
  'pod/app/cpu.max': 'max 100000',
  'pod/app/cpu.stat': stat(1_000_000),
  'pod/cpu.max': '300000 100000',
  'pod/cpu.stat': stat(7_000_000),
})

t.test('counts the use of the whole group that has the quota', async (t) => {
  t.same(aSecondLater(t, NESTED, { [OWN]: stat(1_200_000), [POD]: stat(9_500_000) }), {
    usable: 3,
    used: 2.5,
  })
})

t.test('version 1 counts nanoseconds', async (t) => {
  const files = inV1('/', {
    'cpu.cfs_quota_us': '200000',
    'cpu.cfs_period_us': '100000',
    'cpuacct.usage': '4000000000\n',
  })
  const later = { 'sys/fs/cgroup/cpu,cpuacct/cpuacct.usage': '5500000000\n' }
  t.same(aSecondLater(t, files, later), { usable: 2, used: 1.5 })
})

t.test('reports no usage without a quota or without a usage count', async (t) => {
  t.same(aSecondLater(t, {}, {}), { usable: 8, used: 0 })
  const uncounted = inV2('/', { 'cpu.max': '200000 100000' })
  t.same(aSecondLater(t, uncounted, {}), { usable: 2, used: 0 })
  t.same(aSecondLater(t, uncounted, { 'sys/fs/cgroup/cpu.stat': 'usage_usec -5\n' }), { usable: 2, used: 0 })
})

t.test('a counter that restarts is not usage, and a reading covers the time since the last', async (t) => {
  const root = plantedMachine(t, NESTED)
  let nowMs = 0
  const watch = new QuotaWatch({ root }, () => nowMs)
  t.equal(watch.look().used, 0, 'no time has passed')
  const used = [0, 500_000, 500_000].map((micros) => {
    nowMs += 500
    writeFileSync(join(root, POD), stat(micros))
    return watch.look().used
  })
  t.same(used, [0, 1, 0])
})
