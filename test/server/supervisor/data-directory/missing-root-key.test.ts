import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { migrate } from '../../../../src/server/store/migrations/migrate.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { insertOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { SILENT } from '../../../support/log.ts'
import { nodeSettings, runToEnd, startNode, type Settings } from '../../../support/nodes/node.ts'

const MISSING = '0123456789abcdef'

t.setTimeout(300_000)

t.test('a node whose rows need a missing root key ends with a sentence, and makes no key', async (t) => {
  const settings = await nodeSettings(t)
  await needRootKey(settings)
  const { code, stdout, stderr } = await runToEnd(settings)
  t.equal(code, 1)
  t.notMatch(stdout, /"event":"ready"/)
  t.match(
    stderr,
    `root key ${MISSING} is missing: 1 key encrypted with it cannot be decrypted; before you start the node, restore the key from its backup`,
  )
  t.notOk(existsSync(join(settings['SLUICE_DATA'] ?? '', 'root-key')))
  t.notOk(existsSync(join(settings['SLUICE_DATA'] ?? '', 'first-keys.json')))
  await t.test('another root key does not replace the missing one, which can be declared lost', async (t) => {
    const other = { ...settings, SLUICE_ROOT_KEY: 'ab'.repeat(32) }
    t.match(await runToEnd(other), { code: 1, stderr: `root key ${MISSING} is missing` })
    const node = await startNode(t, { ...other, SLUICE_ROOT_KEYS_LOST: MISSING })
    t.equal((await node.admin('/readyz')).status, 200)
    t.equal(await node.stop(), 0)
  })
})

async function needRootKey({ DATABASE_URL: url = '' }: Settings): Promise<void> {
  await migrate(url, SILENT)
  const store = openStore({ url, poolMax: 1, applicationName: 'test' })
  const { workspace } = await store.sql.begin((tx) => insertOrganization(tx, 'Test'))
  await store.sql`
    INSERT INTO data_keys (id, workspace_id, purpose, root_key_id, wrapped) VALUES (${newId()}, ${workspace.id}, 'files', ${MISSING}, 'x')`
  await store.close()
}
