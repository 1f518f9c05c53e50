import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { MIGRATIONS, migrate } from '../../../../../src/server/store/migrations/migrate.ts'
import { openStore } from '../../../../../src/server/store/base/open.ts'
import { insertOrganization } from '../../../../../src/server/store/workspaces/organizations.ts'
import { newId } from '../../../../../src/server/store/base/ids.ts'
import { openOrMakeRootKeys } from '../../../../../src/server/vault/root-keys.ts'
import { examined } from '../../../../support/operator/doctor.ts'
import { SILENT } from '../../../../support/log.ts'
import { openTestDatabase } from '../../../../support/stores/postgres.ts'
import { installationOf, madeDirectory } from '../../../../support/operator/conditions.ts'

t.setTimeout(600_000)

const { settings, reported, condition } = await installationOf(t)

condition({
  what: 'a Postgres that is not there',
  check: 'postgres',
  detail: /ECONNREFUSED/,
  fix: /DATABASE_URL/,
  make: () => ({ DATABASE_URL: 'postgres://nobody:hunter2@127.0.0.1:9/none' }),
})

condition({
  what: 'a Postgres that is read-only',
  check: 'postgres',
  detail: /read-only/,
  fix: /target_session_attrs=read-write/,
  async make(t) {
    const { url } = await openTestDatabase(t)
    const store = openStore({ url, poolMax: 1, applicationName: 'test' })
    const name = new URL(url).pathname.slice(1)
    await store.sql.unsafe(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`)
    await store.close()
    return { DATABASE_URL: url }
  },
})

condition({
  what: 'a parameter of DATABASE_URL that is not obeyed',
  check: 'postgres',
  detail: /^channel_binding is ignored: /,
  fix: /remove this parameter from DATABASE_URL/,
  make: () => ({ DATABASE_URL: `${settings['DATABASE_URL'] ?? ''}?channel_binding=prefer` }),
})

condition({
  what: 'an embedded Postgres whose files are gone',
  check: 'postgres',
  detail: /the data files are gone: .*\/gone is missing/,
  fix: /restore a backup/,
  async make(t) {
    const dataDir = await madeDirectory(t)
    writeFileSync(join(dataDir, 'postgres.json'), '{"cluster":"gone"}')
    return { SLUICE_DATA: dataDir, DATABASE_URL: '' }
  },
})

condition({
  what: 'a schema that is older',
  check: 'migrations',
  detail: new RegExp(`^1 of ${MIGRATIONS.length} migrations are missing$`),
  fix: /sluice migrate/,
  async make(t) {
    const { url } = await openTestDatabase(t, 'empty')
    await migrate(url, SILENT, { migrations: MIGRATIONS.slice(0, -1) })
    return { DATABASE_URL: url }
  },
})

condition({
  what: 'a schema that needs a newer Sluice',
  check: 'migrations',
  detail: /Start the newer Sluice/,
  fix: /DATABASE_URL/,
  async make(t) {
    const { url } = await openTestDatabase(t)
    const store = openStore({ url, poolMax: 1, applicationName: 'test' })
    const number = MIGRATIONS.length + 1
    await store.sql`INSERT INTO schema_migrations (number, name, oldest_binary) VALUES (${number}, 'of-tomorrow', ${number})`
    await store.close()
    return { DATABASE_URL: url }
  },
})

condition({
  what: 'an operator that no organization is',
  check: 'operator',
  detail: /matches no organization/,
  fix: /sluice organizations list/,
  make: () => ({ SLUICE_OPERATOR_ORGANIZATION: 'Nobody' }),
})

condition({
  what: 'an operator that several organizations are',
  check: 'operator',
  detail: /matches several organizations/,
  fix: /SLUICE_OPERATOR_ORGANIZATION/,
  async make(t) {
    const { url } = await openTestDatabase(t)
    const store = openStore({ url, poolMax: 1, applicationName: 'test' })
    for (const name of ['Same', 'Same', 'Other']) await store.sql.begin((tx) => insertOrganization(tx, name))
    await store.close()
    t.match(
      (await examined({ ...settings, DATABASE_URL: url, SLUICE_OPERATOR_ORGANIZATION: 'Other' })).all.find(
        ({ check }) => check === 'operator',
      ),
      {
        level: 'ok',
        detail: /Other/,
      },
    )
    return { DATABASE_URL: url, SLUICE_OPERATOR_ORGANIZATION: 'Same' }
  },
})

condition({
  what: 'a Redis that is not there',
  check: 'redis',
  detail: /ECONNREFUSED.*every front process applies an equal share of each rate limit/,
  fix: /REDIS_URL/,
  skip:
    reported.found.some(({ check }) => check === 'redis') &&
    'this machine has no redis-server, which is found already',
  make: () => ({ REDIS_URL: 'redis://127.0.0.1:9' }),
})

condition({
  what: 'a file of root keys that holds none',
  check: 'root_key',
  detail: /expected 32 bytes/,
  fix: /SLUICE_ROOT_KEY_FILE/,
  make: (t) => ({ SLUICE_ROOT_KEY_FILE: join(t.testdir({ keys: 'not a key' }), 'keys') }),
})

condition({
  what: 'a root key without a backup',
  check: 'root_key',
  detail: /\/root-key; no backup of root key [0-9a-f]{16}/,
  fix: /sluice vault confirm-root/,
  async make(t) {
    const dataDir = await madeDirectory(t)
    openOrMakeRootKeys({ setting: null, file: null, dataDir })
    return { SLUICE_DATA: dataDir }
  },
})

condition({
  what: 'a root key that rows need and that is not here',
  check: 'root_key',
  detail: /^root key 0123456789abcdef is missing: 1 key encrypted/,
  fix: /before you start the node/,
  async make(t) {
    const { url } = await openTestDatabase(t)
    const store = openStore({ url, poolMax: 1, applicationName: 'test' })
    const { workspace } = await store.sql.begin((tx) => insertOrganization(tx, 'Test'))
    await store.sql`
      INSERT INTO data_keys (id, workspace_id, purpose, root_key_id, wrapped) VALUES (${newId()}, ${workspace.id}, 'files', '0123456789abcdef', 'x')`
    await store.close()
    return { DATABASE_URL: url, SLUICE_ROOT_KEY: '5'.repeat(64) }
  },
})

condition({
  what: 'the file of the first keys',
  check: 'first_keys',
  detail: /first-keys\.json contains unencrypted keys/,
  fix: /delete the file/,
  async make(t) {
    const dataDir = await madeDirectory(t)
    writeFileSync(join(dataDir, 'first-keys.json'), '{}')
    return { SLUICE_DATA: dataDir }
  },
})
