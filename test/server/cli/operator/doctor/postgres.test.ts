import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { journals } from '../../../../../src/server/cli/operator/doctor/stores.ts'
import { journalsFolder } from '../../../../../src/server/journal/segments.ts'
import { newId } from '../../../../../src/server/store/base/ids.ts'
import type { Store } from '../../../../../src/server/store/base/open.ts'
import { NODE_FILE } from '../../../../../src/server/supervisor/data-directory/data-directory.ts'
import { journalIn } from '../../../../support/money/journal.ts'
import { openTestStore } from '../../../../support/stores/postgres.ts'
import { openFolder } from '../../../../support/files/storage.ts'

async function stand(t: Parameters<typeof openFolder>[0]) {
  const store = await openTestStore(t)
  const dataDir = await openFolder(t)
  writeFileSync(join(dataDir, NODE_FILE), 'this-node\n')
  mkdirSync(journalsFolder(dataDir))
  return { store, dataDir, look: () => journals(store.sql, { dataDir }) }
}

async function openRow(store: Store, node: string, id = newId()): Promise<string> {
  await store.sql`INSERT INTO journals (id, node, boot_id) VALUES (${id}, ${node}, 'b')`
  return id
}

async function heartbeat(store: Store, node: string, id = newId()): Promise<void> {
  await store.sql`INSERT INTO fronts (id, node, connections, epoch, heartbeat_at) VALUES (${id}, ${node}, 1, 0, clock_timestamp())`
}

t.test('reports no problem for journals of live fronts, other live nodes, or with a file', async (t) => {
  const { store, dataDir, look } = await stand(t)
  await heartbeat(store, 'this-node', await openRow(store, 'this-node'))
  await openRow(store, 'that-node')
  await heartbeat(store, 'that-node')
  await openRow(store, 'this-node', journalIn(journalsFolder(dataDir)).id)
  const [finding, ...more] = await look()
  t.same([finding?.level, more], ['ok', []])
})

t.test('names a journal of this node that has neither a front nor a file, with the remedy', async (t) => {
  const { store, look } = await stand(t)
  await openRow(store, 'this-node')
  const [finding] = await look()
  t.equal(finding?.level, 'warning')
  t.equal(finding?.fix, 'run `sluice ledger close-node this-node`')
  await heartbeat(store, 'this-node')
  t.match((await look())[0]?.fix, /^stop the node, then/)
})

t.test('names another node without a live front once, with the number of its open journals', async (t) => {
  const { store, look } = await stand(t)
  await openRow(store, 'gone')
  await openRow(store, 'gone')
  const findings = await look()
  t.match(findings, [{ level: 'warning', detail: /node gone .* 2 open journals/, fix: /close-node gone`$/ }])
  t.equal(findings.length, 1)
})
