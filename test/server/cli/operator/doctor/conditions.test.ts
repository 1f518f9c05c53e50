import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { MIGRATIONS, migrate } from '../../../../../src/server/store/migrations/migrate.ts'
import { openStore } from '../../../../../src/server/store/base/open.ts'
import { insertOrganization } from '../../../../../src/server/store/workspaces/organizations.ts'
import { newId } from '../../../../../src/server/store/base/ids.ts'
import { openDataDirectory } from '../../../../../src/server/supervisor/data-directory/data-directory.ts'
import { identityOf } from '../../../../../src/server/supervisor/fleet/process-state.ts'
import { openOrMakeRootKeys } from '../../../../../src/server/vault/root-keys.ts'
import { catalogueFile } from '../../../../support/models/catalogue.ts'
import { NO_OPENSSL, selfSigned } from '../../../../support/wire/certificate.ts'
import { examined, type Told } from '../../../../support/operator/doctor.ts'
import { SILENT } from '../../../../support/log.ts'
import type { Settings } from '../../../../support/nodes/node.ts'
import { openTestDatabase } from '../../../../support/stores/postgres.ts'
import { ROOT } from '../../../../support/source.ts'
import { FakeS3, s3Settings } from '../../../../support/files/s3.ts'
import { freePort } from '../../../../support/nodes/spawned.ts'
import { openFolder } from '../../../../support/files/storage.ts'
import { tinyDisk } from '../../../../support/files/tiny-disk.ts'

t.setTimeout(600_000)

/** Settings of an installation that lacks nothing, and what this machine lacks all the same. */
const base = await stand()

async function stand(): Promise<{ readonly settings: Settings; readonly told: Told }> {
  const settings = {
    SLUICE_PORT: String(await freePort()),
    SLUICE_ADMIN_PORT: String(await freePort()),
    SLUICE_DATA: join(await openFolder(t), 'data'),
    DATABASE_URL: (await openTestDatabase(t)).url,
  }
  return { settings, told: await examined(settings) }
}

interface Condition {
  readonly what: string
  readonly check: string
  readonly detail: RegExp
  readonly fix: RegExp
  readonly skip?: string | false
  /** Makes it. @returns settings that differ from the base; null where it cannot be made */
  make(t: Test): Promise<Settings | null> | Settings
}

/**
 * Beside the base nothing but this is found, in one line and one that says what to do, and the exit code
 * follows.
 */
function condition({ what, check, detail, fix, skip = false, make }: Condition): void {
  t.test(what, { skip }, async (t) => {
    const settings = await make(t)
    if (settings === null) {
      t.pass('it cannot be made here', { skip: true })
      return
    }
    const { found, text, isWell } = await examined({ ...base.settings, ...settings })
    const known = new Set(base.told.found.map((finding) => finding.check))
    const [finding, ...others] = found.filter((one) => !known.has(one.check))
    t.match(finding, { check, detail, fix })
    t.same(others, [])
    const lines = text.split('\n')
    const at = lines.findIndex(
      (line) => line.startsWith(`${finding?.level ?? ''} `) && line.includes(` ${check} `),
    )
    t.match(lines[at + 1], /^ {29}fix: \S/)
    t.equal(isWell, false)
  })
}

t.test('an installation that lacks nothing is well', async (t) => {
  const { all, found, isWell, text } = base.told
  // What this machine has not got is no fault of the installation.
  t.same(
    found.filter(
      ({ check }) =>
        !['redis', 'listener_migration', 'descriptors', 'memory', 'hard_kill', 'load'].includes(check),
    ),
    [],
  )
  t.equal(isWell, found.length === 0)
  t.equal(text.endsWith('\nall is well'), isWell)
  t.ok(all.every(({ detail }) => !detail.includes('\n')))
})

for (const setting of ['SLUICE_PORT', 'SLUICE_ADMIN_PORT']) {
  condition({
    what: `somebody else listens on ${setting}`,
    check: 'port',
    detail: /something else listens there/,
    fix: new RegExp(`set ${setting} to another port`),
    async make(t) {
      const server = createServer()
      await new Promise<void>((resolve) =>
        server.listen(Number(base.settings[setting]), '127.0.0.1', resolve),
      )
      t.teardown(() => new Promise((resolve) => server.close(resolve)))
      return {}
    },
  })
}

condition({
  what: 'an address that this machine has not got',
  check: 'port',
  detail: /192\.0\.2\.1.*no such address/,
  fix: /set SLUICE_HOST/,
  make: () => ({ SLUICE_HOST: '192.0.2.1', SLUICE_PUBLIC_URL: 'https://sluice.example' }),
})

condition({
  what: 'an address that others reach, without TLS',
  check: 'tls',
  detail: /keys come to 0\.0\.0\.0 in plain text/,
  fix: /SLUICE_TLS_CERT.*SLUICE_PUBLIC_URL/,
  make: () => ({ SLUICE_HOST: '0.0.0.0' }),
})

condition({
  what: 'a certificate that does not fit its key',
  check: 'tls',
  detail: /do not work together/,
  fix: /SLUICE_TLS_KEY/,
  skip: NO_OPENSSL,
  make(t) {
    return { SLUICE_TLS_CERT: selfSigned(t).certFile, SLUICE_TLS_KEY: selfSigned(t).keyFile }
  },
})

condition({
  what: 'a certificate that soon ends',
  check: 'tls',
  detail: /the certificate ends on \d{4}-/,
  fix: /sluice reload/,
  skip: NO_OPENSSL,
  make(t) {
    const { certFile, keyFile } = selfSigned(t)
    return { SLUICE_TLS_CERT: certFile, SLUICE_TLS_KEY: keyFile }
  },
})

condition({
  what: 'a name that is no setting',
  check: 'settings',
  detail: /SLUICE_PROT/,
  fix: /sluice config print/,
  make: () => ({ SLUICE_PROT: '1' }),
})

condition({
  what: 'a catalogue with mistakes',
  check: 'catalogue',
  detail: /^\d+ mistakes$/,
  fix: /sluice catalog check/,
  make: (t) => ({
    SLUICE_CATALOG: join(t.testdir({ 'bad.json': '{"models":[{"id":"nameless"}]}' }), 'bad.json'),
  }),
})

condition({
  what: 'an endpoint without a price',
  check: 'prices',
  detail: /^1 endpoint has no price \(mine\/open at here\)/,
  fix: /`"free": true`/,
  make: (t) => ({
    SLUICE_CATALOG: catalogueFile(t, {
      providers: [{ slug: 'here', protocol: 'local' }],
      models: [
        {
          id: 'mine/open',
          name: 'O',
          architecture: { output_modalities: ['embeddings'] },
          endpoints: [{ provider: 'here', upstream_model: 'x' }],
        },
      ],
    }),
  }),
})

condition({
  what: 'ranges of callers that take in this machine',
  check: 'egress_allow',
  detail: /this machine/,
  fix: /SLUICE_EGRESS_ALLOW/,
  make: () => ({ SLUICE_EGRESS_ALLOW: '127.0.0.0/8' }),
})

condition({
  what: 'a file of roots without one',
  check: 'egress_ca',
  detail: /no certificate/,
  fix: /SLUICE_EGRESS_CA/,
  make: (t) => ({ SLUICE_EGRESS_CA: join(t.testdir({ 'roots.pem': 'none' }), 'roots.pem') }),
})

condition({
  what: 'more fronts than cores',
  check: 'load',
  detail: /^256 fronts share/,
  fix: /SLUICE_FRONTS/,
  make: () => ({ SLUICE_FRONTS: '256' }),
})

condition({
  what: 'a file where the data directory should be made',
  check: 'data_directory',
  detail: /plain\/data is no directory/,
  fix: /SLUICE_DATA/,
  make: (t) => ({
    SLUICE_DATA: join(t.testdir({ plain: '' }), 'plain/data'),
    SLUICE_OBJECTS: join(t.testdirName, 'objects'),
  }),
})

condition({
  what: 'a data directory that holds something else',
  check: 'data_directory',
  detail: /holds something else/,
  fix: /a directory of its own/,
  make: (t) => ({ SLUICE_DATA: t.testdir({ 'letter.txt': '' }) }),
})

condition({
  what: 'a disk of the data directory that is nearly full',
  check: 'data_directory',
  detail: /, [0-4] MiB free$/,
  fix: /make room/,
  async make(t) {
    const folder = await tinyDisk(t)
    return folder === null ? null : { SLUICE_DATA: join(folder, 'data'), SLUICE_OBJECTS: await openFolder(t) }
  },
})

condition({
  what: 'a file in the way of storage',
  check: 'storage',
  detail: /plain is no directory/,
  fix: /SLUICE_OBJECTS/,
  make: (t) => ({ SLUICE_OBJECTS: join(t.testdir({ plain: '' }), 'plain') }),
})

condition({
  what: 'a disk of storage that is nearly full',
  check: 'storage',
  detail: /, [0-4] MiB free$/,
  fix: /make room/,
  async make(t) {
    const folder = await tinyDisk(t)
    return folder === null ? null : { SLUICE_OBJECTS: folder }
  },
})

condition({
  what: 'a disk of storage that has bytes and hardly an inode',
  check: 'storage',
  detail: /, \d{4,} MiB and [0-4] inodes free$/,
  fix: /inodes/,
  async make(t) {
    const folder = await tinyDisk(t)
    if (folder === null) return null
    execFileSync('mount', ['-o', 'remount,size=4g,nr_inodes=100', folder])
    const { ffree } = statfsSync(folder)
    for (let left = ffree; left > 4; left--) writeFileSync(join(folder, `n${left}`), '')
    return { SLUICE_OBJECTS: folder }
  },
})

for (const [what, change, detail] of [
  [
    'a bucket that is not there',
    { SLUICE_OBJECTS: 's3://another-bucket/a' },
    /^s3:\/\/another-bucket\/a\/: cannot list: /,
  ],
  ['an access key that is not right', { AWS_SECRET_ACCESS_KEY: 'wrong-canary' }, /cannot list: (?!.*canary)/],
  [
    'an object store that is not there',
    { SLUICE_S3_ENDPOINT: 'http://127.0.0.1:9' },
    /cannot list: .*ECONNREFUSED/,
  ],
] as const) {
  condition({
    what,
    check: 'storage',
    detail,
    fix: /the access key may do/,
    make: async (t) => ({ ...s3Settings(await FakeS3.start(t)), ...change }),
  })
}

condition({
  what: 'a bucket that may only be read',
  check: 'storage',
  detail: /cannot write: /,
  fix: /the access key may do/,
  async make(t) {
    const s3 = await FakeS3.start(t)
    s3.isReadOnly = true
    return s3Settings(s3)
  },
})

condition({
  what: 'a Postgres that is not there',
  check: 'postgres',
  detail: /ECONNREFUSED/,
  fix: /DATABASE_URL/,
  make: () => ({ DATABASE_URL: 'postgres://nobody:hunter2@127.0.0.1:9/none' }),
})

condition({
  what: 'a password that was not escaped is not told for the host',
  check: 'postgres',
  detail: /^(?!.*hunter2)/,
  fix: /DATABASE_URL/,
  make: () => ({ DATABASE_URL: 'postgres://nobody:x@hunter2/y@127.0.0.1:9/none' }),
})

condition({
  what: 'an embedded Postgres whose files are gone',
  check: 'postgres',
  detail: /its files are gone: .*\/gone is not there/,
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
  detail: new RegExp(`^1 of ${MIGRATIONS.length} are missing$`),
  fix: /sluice migrate/,
  async make(t) {
    const { url } = await openTestDatabase(t, 'empty')
    await migrate(url, SILENT, MIGRATIONS.slice(0, -1))
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
  detail: /names no organization/,
  fix: /sluice organizations list/,
  make: () => ({ SLUICE_OPERATOR_ORGANIZATION: 'Nobody' }),
})

condition({
  what: 'an operator that several organizations are',
  check: 'operator',
  detail: /names several organizations/,
  fix: /SLUICE_OPERATOR_ORGANIZATION/,
  async make(t) {
    const { url } = await openTestDatabase(t)
    const store = openStore({ url, poolMax: 1, applicationName: 'test' })
    for (const name of ['Same', 'Same', 'Other']) await store.sql.begin((tx) => insertOrganization(tx, name))
    await store.close()
    t.match(
      (
        await examined({ ...base.settings, DATABASE_URL: url, SLUICE_OPERATOR_ORGANIZATION: 'Other' })
      ).all.find(({ check }) => check === 'operator'),
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
  detail: /ECONNREFUSED.*rate limits are only shared out evenly/,
  fix: /REDIS_URL/,
  skip:
    base.told.found.some(({ check }) => check === 'redis') &&
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
  what: 'a root key that nobody has backed up',
  check: 'root_key',
  detail: /\/root-key; nobody has backed up root key [0-9a-f]{16}/,
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
  detail: /^root key 0123456789abcdef is not here: 1 key that/,
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
  detail: /first-keys\.json holds plain keys/,
  fix: /delete the file/,
  async make(t) {
    const dataDir = await madeDirectory(t)
    writeFileSync(join(dataDir, 'first-keys.json'), '{}')
    return { SLUICE_DATA: dataDir }
  },
})

t.test('a node that runs without listening is found for each of its ports', async (t) => {
  const dataDir = await madeDirectory(t)
  const own = identityOf(process.pid)
  writeFileSync(join(dataDir, 'supervisor.pid'), `${process.pid}\n${own?.startedAt ?? ''}\n`)
  const {
    SLUICE_PORT: port = '',
    SLUICE_ADMIN_PORT: adminPort = '',
    DATABASE_URL: databaseUrl = '',
  } = base.settings
  const urls = { url: `http://127.0.0.1:${port}`, adminUrl: `http://127.0.0.1:${adminPort}` }
  const runtime = { databaseUrl, redis: { socketPath: join(dataDir, 'none.sock') }, ...urls }
  writeFileSync(join(dataDir, 'runtime.json'), JSON.stringify(runtime))
  const { all } = await examined({ ...base.settings, SLUICE_DATA: dataDir })
  t.match(
    all.filter(({ check }) => check === 'port'),
    [{ detail: /nothing listens on .* though the node/, fix: /restart it/ }, { level: 'problem' }],
  )
  t.match(
    all.find(({ check }) => check === 'redis'),
    { level: 'warning', fix: 'look at the log of the node' },
  )
  const elsewhere = await examined({
    ...base.settings,
    SLUICE_DATA: dataDir,
    SLUICE_PORT: String(await freePort()),
  })
  t.match(
    elsewhere.all.find(({ check }) => check === 'port'),
    { level: 'ok', detail: /is free; the node \(pid \d+\) is at http/ },
  )
})

t.test(
  'a look leaves nothing behind, in the data directory, in storage and in a bucket, also of a server that knows no conditions',
  async (t) => {
    const s3 = await FakeS3.start(t)
    s3.knowsIfMatch = false
    const settings = { ...base.settings, ...s3Settings(s3), SLUICE_DATA: join(t.testdir({}), 'absent/data') }
    t.match(
      (await examined(settings)).all.find(({ check }) => check === 'storage'),
      { level: 'ok', detail: /^s3:.*for staging$/ },
    )
    t.equal(s3.objects.size, 0)
    t.ok(s3.calls.some((call) => call.startsWith('put ')))
    const made = await madeDirectory(t)
    mkdirSync(join(made, 'files/objects'), { recursive: true })
    const before = namesBelow(made)
    await examined({ ...base.settings, SLUICE_DATA: made })
    t.same(namesBelow(made), before)
    t.same(namesBelow(t.testdirName), [])
  },
)

t.test('the page on operation names every check, and no other', async (t) => {
  const page = readFileSync(join(ROOT, 'docs/operate/operation.md'), 'utf8')
  const table = /\| Check \| What it finds \|\n\| --- \| --- \|\n((?:\|.*\n)+)/.exec(page)?.[1] ?? ''
  const firsts = [...table.matchAll(/^\| ((?:`[a-z_]+`(?:, )?)+) \|/gm)].map(([, names = '']) => names)
  const named = firsts.flatMap((names) => [...names.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name))
  t.same([...named].sort(), [...namesInSource()].sort())
})

/** A data directory as a start that was cut leaves it. */
async function madeDirectory(t: Test): Promise<string> {
  const dataDir = join(await openFolder(t), 'data')
  const data = await openDataDirectory(dataDir, SILENT)
  data.release()
  return dataDir
}

function namesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true }).map(String).sort()
}

/** What findings are called where they are made. */
function namesInSource(): ReadonlySet<string> {
  const folder = join(ROOT, 'src/server/cli/operator/doctor')
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  const made = texts.flatMap((text) => [
    ...text.matchAll(/\b(?:good|doubtful|bad)\(\s*'([a-z_]+)'|\bcheck = '([a-z_]+)'/g),
  ])
  return new Set(made.map(([, name, other]) => name ?? other ?? ''))
}
