import { readFileSync } from 'node:fs'
import t from 'tap'
import { factsOf } from '../../../src/server/main/node-facts.ts'
import { openNodeStore } from '../../../src/server/main/node-store.ts'
import { aggregate } from '../../../src/server/observe/metrics.ts'
import { newId } from '../../../src/server/store/base/ids.ts'
import { noteBackupEnd } from '../../../src/server/store/nodes/installation.ts'
import { FiguresWatch, gaugesOf } from '../../../src/server/supervisor/node-figures.ts'
import type { StoreFigures } from '../../../src/server/supervisor/node-setup.ts'
import { SILENT } from '../../support/log.ts'
import { openTestStore } from '../../support/stores/postgres.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { NO_OPENSSL, selfSigned } from '../../support/wire/certificate.ts'

type Tap = Parameters<typeof openTestStore>[0]

const NEVER_MS = 2 ** 30
const FIGURES: StoreFigures = {
  connections: { used: 7, allowed: 97 },
  abandonedJournals: 2,
  moneyStepsBehind: 3,
  backedUpAt: new Date(1_700_000_000_000),
  clockSkewMs: -2_500,
}

async function textOf(t: Tap, read: () => Promise<StoreFigures>, pem: string | null = null): Promise<string> {
  const watch = new FiguresWatch({
    store: { figures: read },
    disks: { dataDir: temporaryFolder(t, 'data'), objects: null },
    certificate: () => pem,
    everyMs: NEVER_MS,
  })
  t.teardown(() => watch.stop())
  await watch.look()
  const counted = { ready: 1, wanted: 1 }
  const counts = {
    fronts: { ...counted, configured: 1 },
    workers: { ...counted, configured: 1 },
    runners: counted,
  }
  const gauges = gaugesOf(counts, { fleet: { restarts: 0, hangs: 0 }, watch: null, figures: watch })
  return aggregate([], factsOf(gauges, 0))
}

t.test('metrics cover the environment of the node, each in the unit of its name', async (t) => {
  const text = await textOf(t, () => Promise.resolve(FIGURES))
  for (const line of [
    'sluice_postgres_connections 7',
    'sluice_postgres_connections_allowed 97',
    'sluice_money_abandoned_journals 2',
    'sluice_money_steps_behind 3',
    'sluice_backup_end_timestamp_seconds 1700000000',
    'sluice_clock_skew_seconds -2.5',
  ])
    t.match(text, new RegExp(`^${line}$`, 'm'))
  t.match(text, /^sluice_disk_free_bytes\{place="data"\} [1-9]\d+$/m)
  t.match(text, /^sluice_disk_size_bytes\{place="data"\} [1-9]\d+$/m)
  t.notMatch(text, /sluice_tls_certificate/)
})

t.test('the certificate expiry is a metric when fronts serve TLS', { skip: NO_OPENSSL }, async (t) => {
  const text = await textOf(t, () => Promise.resolve(FIGURES), readFileSync(selfSigned(t).certFile, 'utf8'))
  const [, end] = /^sluice_tls_certificate_end_timestamp_seconds (\S+)$/m.exec(text) ?? []
  t.ok(Number(end) > Date.now() / 1_000)
})

t.test('without Postgres, or a backup, their metrics are left out', async (t) => {
  const away = await textOf(t, () => Promise.reject(new Error('away')))
  t.notMatch(away, /sluice_postgres_connections|sluice_clock_skew|sluice_backup/)
  t.notMatch(await textOf(t, () => Promise.resolve({ ...FIGURES, backedUpAt: null })), /sluice_backup/)
})

t.test('Postgres reports its connections, its clock, the last backup and abandoned journals', async (t) => {
  const store = await openTestStore(t)
  const node = openNodeStore(SILENT)(store.options.url, { node: 'here', path: temporaryFolder(t, 'data') })
  t.teardown(() => node.close())
  t.match(await node.figures(), { abandonedJournals: 0, backedUpAt: null })
  for (const name of ['here', 'elsewhere'])
    await store.sql`INSERT INTO journals (id, node, boot_id) VALUES (${newId()}, ${name}, 'b')`
  await noteBackupEnd(store.sql)
  const { connections, abandonedJournals, backedUpAt, clockSkewMs } = await node.figures()
  t.equal(abandonedJournals, 2)
  t.ok(backedUpAt instanceof Date)
  t.ok(connections.used >= 2 && connections.allowed > connections.used)
  t.ok(Math.abs(clockSkewMs) < 1_000)
})
