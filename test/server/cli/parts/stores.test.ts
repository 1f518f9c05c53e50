import t from 'tap'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { openPooler } from '../../../support/stores/pooler.ts'
import { openTestDatabase } from '../../../support/stores/postgres.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { NO_OPENSSL } from '../../../support/wire/certificate.ts'
import { startAuthority } from '../../../support/wire/certificate-authority.ts'
import { openTlsServer } from '../../../support/wire/tls-server.ts'

type Tap = Parameters<typeof temporaryFolder>[0]

/** Runs `migrate`, which must fail. @returns its output */
async function refusal(t: Tap, url: string): Promise<string> {
  const settings = { DATABASE_URL: url, SLUICE_DATA: temporaryFolder(t, 'data') }
  const { code, stderr } = await runVerb(settings, ['migrate'])
  return code === 1 ? stderr : `ended with ${code}`
}

t.test('migrate reports a database that refuses it in one line, without a stack', async (t) => {
  const { url } = await openTestDatabase(t, 'empty')
  const { sql, close } = opened(url)
  t.teardown(close)
  const role = `${new URL(url).pathname.slice(1)}_reader`
  await sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'p'`)
  t.teardown(() => sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`))
  const pooler = await openPooler(t, url, { mode: 'transaction' })
  const other = (parts: Partial<URL>): string => Object.assign(new URL(url), parts).href
  for (const [address, line] of [
    [
      other({ password: 'wrong' }),
      /^the database returned an error: password authentication failed .* \(28P01\)$/,
    ],
    [
      other({ pathname: '/none' }),
      /^the database returned an error: database "none" does not exist \(3D000\)$/,
    ],
    [
      other({ username: role, password: 'p' }),
      /^the database denied access: permission denied .* must own the schema/,
    ],
    [
      pooler.url,
      /^DATABASE_URL points to a pooler in transaction mode, .* ALTER ROLE \w+ SET statement_timeout/,
    ],
  ] as const)
    t.match((await refusal(t, address)).trim(), line)
})

t.test('an error about an untrusted certificate names the setting', { skip: NO_OPENSSL }, async (t) => {
  const { port } = await openTlsServer(t, startAuthority(t).issue(['DNS:localhost']))
  t.match(
    await refusal(t, `postgres://u:p@localhost:${port}/d?sslmode=verify-full`),
    /^the database in DATABASE_URL, at localhost:\d+, cannot be reached: .* \(\w+\); set SLUICE_STORES_CA to a file with its certificate authority\n$/,
  )
})

t.test('an unreachable database is named by its host and port, without user and password', async (t) => {
  const line = await refusal(t, 'postgres://sluice:hunter2@127.0.0.1:1/sluice')
  t.equal(line, 'the database in DATABASE_URL, at 127.0.0.1:1, cannot be reached (ECONNREFUSED)\n')
})

t.test('each of several databases that cannot be reached is named with its reason', async (t) => {
  t.equal(
    await refusal(
      t,
      'postgres://sluice:hunter2@127.0.0.1:1,127.0.0.1:2/sluice?target_session_attrs=read-write',
    ),
    'the database in DATABASE_URL cannot be reached: no Postgres host fits target_session_attrs=read-write: ' +
      '127.0.0.1:1 refuses connections (ECONNREFUSED); 127.0.0.1:2 refuses connections (ECONNREFUSED)\n',
  )
})

function opened(url: string) {
  const store = openStore({ url, poolMax: 1, applicationName: 'test' })
  return { sql: store.sql, close: () => store.close() }
}
