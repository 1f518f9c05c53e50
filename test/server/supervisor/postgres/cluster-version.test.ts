import { join } from 'node:path'
import t from 'tap'
import { shippedMajor } from '../../../../src/server/supervisor/postgres/postgres-binaries.ts'
import { checkClusterVersion } from '../../../../src/server/supervisor/postgres/postgres-cluster.ts'

t.test('a cluster of another major version of Postgres is refused with the steps to upgrade', async (t) => {
  const ours = shippedMajor()
  t.ok(ours >= 18)
  const place = (version: number) => {
    const folder = t.testdir({ data: { PG_VERSION: `${version}\n` } })
    return { folder, data: join(folder, 'data') }
  }
  await t.rejects(checkClusterVersion(place(ours - 1), ours), {
    message: new RegExp(
      `belongs to Postgres ${ours - 1}, but this Sluice includes Postgres ${ours}: run .sluice backup. with the Sluice version that created it`,
    ),
  })
  await t.rejects(checkClusterVersion(place(ours + 1), ours), {
    message: /start the node with the Sluice version that created the cluster, or with a newer version/,
  })
  await checkClusterVersion(place(ours), ours)
})
