import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { isNamed } from '../../../../src/server/cli/operator/clusters.ts'
import { clusters } from '../../../../src/server/cli/operator/doctor/examine.ts'
import {
  noteOwner,
  OUTSIDE_DIR,
  outsideClusters,
  removeCluster,
} from '../../../../src/server/supervisor/postgres/outside-clusters.ts'
import { placeCluster } from '../../../../src/server/supervisor/postgres/postgres-cluster.ts'
import { identityOf } from '../../../../src/server/supervisor/fleet/process-state.ts'
import { deployFile } from '../../../support/nodes/deploy.ts'

/** Result of a start as root: a data directory whose record names a cluster elsewhere, and that cluster. */
function tried(t: Test): ReturnType<typeof makeTried> {
  return makeTried(t.testdir(), 'data')
}

async function makeTried(home: string, name: string) {
  const [dataDir, outsideDir] = [join(home, name), join(home, 'outside')]
  mkdirSync(dataDir, { mode: 0o700 })
  const account = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const { folder } = await placeCluster({ dataDir, outsideDir, account })
  noteOwner(folder, dataDir)
  return { home, dataDir, outsideDir, folder }
}

t.test('a cluster is used while its data directory names it, and unused once that is gone', async (t) => {
  const { dataDir, outsideDir, folder } = await tried(t)
  t.same(await outsideClusters(outsideDir), [{ folder, dataDir, pid: null, isUsed: true }])
  t.match(await clusters(outsideDir, true), [{ check: 'clusters', level: 'ok' }])
  rmSync(dataDir, { recursive: true })
  t.match(await outsideClusters(outsideDir), [{ isUsed: false }])
  const [finding] = await clusters(outsideDir, true)
  t.match(finding, { level: 'ok', detail: /`sluice clusters remove --unused`/ })
  t.ok(finding?.detail.startsWith(`clusters whose data directory is gone: ${folder} (of ${dataDir}); `))
  t.same(await clusters(outsideDir, false), [], 'another account than root has none')
})

t.test('a cluster is named by its folder, or by the last part of it', async (t) => {
  const cluster = { folder: '/var/lib/sluice-postgres/cluster-b8fc65d891cb7af7' }
  for (const name of [cluster.folder, `${cluster.folder}/`, 'cluster-b8fc65d891cb7af7'])
    t.ok(isNamed(cluster, name), name)
  for (const name of ['cluster-', 'cluster-b8fc65d891cb7af8', '/srv/cluster-b8fc65d891cb7af7', ''])
    t.notOk(isNamed(cluster, name), name)
})

t.test('a data directory recreated at the same path uses only its new cluster', async (t) => {
  const { home, dataDir, outsideDir, folder } = await tried(t)
  renameSync(dataDir, join(home, 'moved'))
  const again = await makeTried(home, basename(dataDir))
  const found = await outsideClusters(outsideDir)
  t.equal(found.find((one) => one.folder === folder)?.isUsed, false)
  t.equal(found.find((one) => one.folder === again.folder)?.isUsed, true)
  noteOwner(folder, join(home, 'moved'))
  t.ok(
    (await outsideClusters(outsideDir)).every(({ isUsed }) => isUsed),
    'a start notes where the directory is now',
  )
})

t.test('removes a whole cluster, removes programs with the last one, and keeps a running one', async (t) => {
  const { home, outsideDir, folder } = await tried(t)
  const other = await makeTried(home, 'other')
  mkdirSync(join(outsideDir, 'postgres-18.4-linux-x64'))
  const of = async (path: string) => (await outsideClusters(outsideDir)).filter((one) => one.folder === path)
  writeFileSync(join(folder, 'supervisor.json'), JSON.stringify(identityOf(process.pid)))
  for (const one of await of(folder))
    t.equal(
      await removeCluster(one, { outsideDir, force: true }),
      `process ${process.pid} is using this cluster`,
    )
  rmSync(join(folder, 'supervisor.json'))
  for (const one of await of(other.folder))
    t.equal(await removeCluster(one, { outsideDir, force: true }), null)
  t.notOk(existsSync(other.folder))
  t.ok(existsSync(join(outsideDir, 'postgres-18.4-linux-x64')))
  for (const one of await of(folder)) t.equal(await removeCluster(one, { outsideDir, force: true }), null)
  t.notOk(existsSync(outsideDir))
})

t.test(
  'removing the cluster of a stopped node needs force, and the refusal names its data directory',
  async (t) => {
    const { dataDir, outsideDir } = await tried(t)
    const remove = async (force: boolean) =>
      Promise.all((await outsideClusters(outsideDir)).map((one) => removeCluster(one, { outsideDir, force })))
    const [why] = await remove(false)
    t.ok(why?.startsWith(`the stopped node with the data directory ${dataDir} `), String(why))
    t.match(why, /--force/)
    t.match(await outsideClusters(outsideDir), [{ isUsed: true }])
    t.same(await remove(true), [null])
    t.same(await outsideClusters(outsideDir), [])
  },
)

t.test(
  'a cluster without a readable owner counts as unused, and a folder that is not a cluster is left alone',
  async (t) => {
    const { outsideDir, folder } = await tried(t)
    writeFileSync(join(folder, 'data-directory.json'), 'half a wri')
    mkdirSync(join(outsideDir, 'something'))
    chmodSync(join(outsideDir, 'something'), 0o700)
    t.match(await outsideClusters(outsideDir), [{ folder, dataDir: null, isUsed: false }])
    t.same(await outsideClusters(join(outsideDir, 'missing')), [])
  },
)

t.test('the data folder of the systemd unit is not the folder that a trial as root uses', async (t) => {
  const [, data = ''] = /^Environment=SLUICE_DATA=(.+)$/m.exec(deployFile('systemd/sluice.service')) ?? []
  t.match(data, /^\//)
  t.notOk(
    OUTSIDE_DIR === data ||
      OUTSIDE_DIR.startsWith(`${data}/`) ||
      data.startsWith(`${OUTSIDE_DIR}/`) ||
      dirname(data) === OUTSIDE_DIR,
  )
})
