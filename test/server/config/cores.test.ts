import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { frontsFor, usableCores, wholeCores } from '../../../src/server/config/cores.ts'
import { inV1, inV2, plantedMachine, V1, V2, type Planted } from '../../support/nodes/planted-machine.ts'

const coresIn = (t: Test, files: Planted): number => usableCores({ root: plantedMachine(t, files) })

for (const [what, text] of [
  ['no quota', 'max 100000\n'],
  ['an empty file', ''],
  ['a number alone', '150000\n'],
  ['a period of 0', '150000 0\n'],
  ['a quota of 0', '0 100000\n'],
  ['a negative quota', '-1 100000\n'],
  ['a quota that is not a number', '1e5 100000\n'],
  ['a quota above all cores', '6400000 100000\n'],
  ['digits without an end', `${'9'.repeat(400)} 100000\n`],
] as const) {
  t.test(`cgroup version 2 with ${what}: all cores of the machine count`, async (t) => {
    t.equal(coresIn(t, inV2('/', { 'cpu.max': text })), 8)
  })
}

for (const [what, files] of [
  ['no quota', { 'cpu.cfs_quota_us': '-1\n', 'cpu.cfs_period_us': '100000\n' }],
  ['a quota of 0', { 'cpu.cfs_quota_us': '0\n', 'cpu.cfs_period_us': '100000\n' }],
  ['no period', { 'cpu.cfs_quota_us': '150000\n' }],
  ['no quota file', { 'cpu.cfs_period_us': '100000\n' }],
] as const) {
  t.test(`cgroup version 1 with ${what}: all cores of the machine count`, async (t) => {
    t.equal(coresIn(t, inV1('/', files)), 8)
  })
}

t.test('a quota may be a fraction of a core, and is relative to the period in its own file', async (t) => {
  t.equal(coresIn(t, inV2('/', { 'cpu.max': '150000 100000\n' })), 1.5)
  t.equal(coresIn(t, inV2('/', { 'cpu.max': '5000 10000' })), 0.5)
  t.equal(coresIn(t, inV1('/', { 'cpu.cfs_quota_us': '25000\n', 'cpu.cfs_period_us': '10000\n' })), 2.5)
})

t.test('the smallest quota of nested groups counts, at whichever level it is set', async (t) => {
  const nested = (own: string, pod: string, top: string): Planted =>
    inV2('/kubepods/pod1/app', {
      'kubepods/pod1/app/cpu.max': own,
      'kubepods/pod1/cpu.max': pod,
      'kubepods/cpu.max': top,
    })
  t.equal(coresIn(t, nested('max 100000', '200000 100000', '400000 100000')), 2)
  t.equal(coresIn(t, nested('300000 100000', 'max 100000', '150000 50000')), 3)
  t.equal(coresIn(t, nested('100000 100000', '200000 100000', 'max 100000')), 1)
  t.equal(coresIn(t, nested('max 100000', 'max 100000', '70000 100000')), 0.7)
})

t.test('in version 1 the smallest quota counts too, and only in the CPU hierarchy', async (t) => {
  t.equal(
    coresIn(t, {
      ...inV1('/docker/one', {
        'docker/one/cpu.cfs_quota_us': '400000',
        'docker/one/cpu.cfs_period_us': '100000',
        'docker/cpu.cfs_quota_us': '300000',
        'docker/cpu.cfs_period_us': '100000',
      }),
      'sys/fs/cgroup/cpuset/cpu.cfs_quota_us': '100000',
      'sys/fs/cgroup/cpuset/cpu.cfs_period_us': '100000',
    }),
    3,
  )
})

t.test('a container whose mount shows its own group as the root gets the quota of that group', async (t) => {
  const quota = { 'cpu.cfs_quota_us': '200000', 'cpu.cfs_period_us': '100000' }
  // The path of the machine, while the mount shows the container's group alone.
  const mounts = V1.replace('0:30 / ', '0:30 /docker/one ')
  t.equal(coresIn(t, { ...inV1('/docker/one', quota), 'proc/self/mountinfo': mounts }), 2)
  // The same path, and a mount that says nothing of it.
  t.equal(coresIn(t, inV1('/docker/one', quota)), 2)
})

t.test('a mount of groups of other processes does not limit this process', async (t) => {
  const other = '34 31 0:28 /docker/other /mnt/other rw - cgroup2 cgroup2 rw\n'
  const files = inV2('/docker/one', { 'docker/one/cpu.max': '400000 100000' })
  t.equal(
    coresIn(t, {
      ...files,
      'proc/self/mountinfo': V2 + other,
      'mnt/other/cpu.max': '100000 100000',
    }),
    4,
  )
})

t.test('a group outside the namespace does not select a group below the mount', async (t) => {
  const files = inV2('/../../one', { 'one/cpu.max': '100000 100000', 'cpu.max': '300000 100000' })
  t.equal(coresIn(t, files), 3)
})

t.test('finds groups at their mount point, also when its name contains a space', async (t) => {
  const mounts = V2.replace('/sys/fs/cgroup', '/run/my\\040groups')
  const files = { ...inV2('/a:b', {}), 'proc/self/mountinfo': mounts }
  t.equal(coresIn(t, { ...files, 'run/my groups/a:b/cpu.max': '200000 100000' }), 2)
})

t.test('on a machine with both versions the smaller quota counts', async (t) => {
  const both = {
    ...inV1('/', { 'cpu.cfs_quota_us': '400000', 'cpu.cfs_period_us': '100000' }),
    'proc/self/mountinfo': `${V1}35 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n`,
  }
  t.equal(coresIn(t, both), 4)
  t.equal(coresIn(t, { ...both, 'sys/fs/cgroup/unified/cpu.max': '250000 100000' }), 2.5)
})

t.test('counts only the cores in the CPU affinity of the process that exist', async (t) => {
  const status = (list: string): Planted => ({
    'proc/self/status': `Cpus_allowed_list:\t${list}\n`,
  })
  t.equal(coresIn(t, status('0-1,4')), 3)
  t.equal(coresIn(t, status('6-9')), 2)
  t.equal(coresIn(t, { ...status('0'), ...inV2('/', { 'cpu.max': '400000 100000' }) }), 1)
})

t.test('falls back to the core count of Node when Linux reports no valid one', async (t) => {
  for (const list of ['', '-', '0-', 'all', '100-101', '5-2'])
    t.equal(coresIn(t, { 'proc/self/status': `Cpus_allowed_list:\t${list}\n` }), availableParallelism(), list)
  t.equal(usableCores({ root: join(tmpdir(), 'absent') }), availableParallelism())
  t.ok(usableCores() > 0)
})

t.test('there is one front for every two cores, and at least one', async (t) => {
  const counts = [0.1, 0.5, 1, 1.5, 2, 3.9, 4, 7, 64].map((cores) => [frontsFor(cores), wholeCores(cores)])
  t.same(counts, [
    [1, 1],
    [1, 1],
    [1, 1],
    [1, 1],
    [1, 2],
    [1, 3],
    [2, 4],
    [3, 7],
    [32, 64],
  ])
})
