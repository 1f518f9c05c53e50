import { once } from 'node:events'
import t, { type Test } from 'tap'
import { openStore, type Store } from '../../../../src/server/store/base/open.ts'
import { migrate } from '../../../../src/server/store/migrations/migrate.ts'
import { keptLog } from '../../../support/log.ts'
import { openTestDatabase } from '../../../support/stores/postgres.ts'
import { NO_OPENSSL } from '../../../support/wire/certificate.ts'
import { startAuthority } from '../../../support/wire/certificate-authority.ts'
import { openTlsServer } from '../../../support/wire/tls-server.ts'

function opened(t: Test, url: string): Store {
  const store = openStore({ url, poolMax: 1, applicationName: 'sluice-test' })
  t.teardown(() => store.close())
  return store
}

async function problemOf(work: PromiseLike<unknown>): Promise<string> {
  try {
    await work
    return ''
  } catch (problem) {
    const { code, message } = problem as NodeJS.ErrnoException
    return `${code ?? ''} ${message}`
  }
}

t.test('an IPv6 address is used for the connection without a DNS lookup', async (t) => {
  const problem = await problemOf(opened(t, 'postgres://u:p@[::1]:1/d').sql`SELECT 1`)
  t.match(problem, /^E(CONNREFUSED|ADDRNOTAVAIL|AFNOSUPPORT|NETUNREACH)/)
})

t.test('settings of a database do not change the values that are read from it', async (t) => {
  const { url } = await openTestDatabase(t)
  const plain = opened(t, url)
  const name = new URL(url).pathname.slice(1)
  await plain.sql.unsafe(
    `ALTER DATABASE "${name}" SET DateStyle = 'German, DMY';
     ALTER DATABASE "${name}" SET standard_conforming_strings = off;
     ALTER DATABASE "${name}" SET bytea_output = 'escape'`,
  )
  t.teardown(async () => void (await plain.sql.unsafe(`ALTER DATABASE "${name}" RESET ALL`)))
  const [row] = await opened(t, url).sql`
    SELECT timestamptz '2026-11-26 10:00:00Z' AS at, '\\x00ff'::bytea AS bytes, '\\n' AS text`
  t.same(row, { at: new Date('2026-11-26T10:00:00Z'), bytes: Buffer.from([0, 255]), text: '\\n' })
})

t.test('a database with another encoding than UTF8 is refused before the first migration', async (t) => {
  const { url } = await openTestDatabase(t, 'empty')
  const { sql } = opened(t, url)
  const other = new URL(url)
  other.pathname = `${other.pathname}_latin1`
  const name = other.pathname.slice(1)
  await sql.unsafe(`CREATE DATABASE "${name}" ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
  t.teardown(() => sql.unsafe(`DROP DATABASE "${name}"`))
  await t.rejects(migrate(other.href, keptLog()), /has the encoding LATIN1, and Sluice needs UTF8/)
  t.same(await opened(t, other.href).sql`SELECT to_regclass('schema_migrations') AS made`, [{ made: null }])
})

t.test('sslrootcert sets the trusted CA; verify-full checks the host', { skip: NO_OPENSSL }, async (t) => {
  const [ours, foreign] = [startAuthority(t), startAuthority(t)]
  const named = await openTlsServer(t, ours.issue(['DNS:db.example']))
  const numbered = await openTlsServer(t, ours.issue(['IP:127.0.0.1']))
  const tried = async (query: string, { port, handshakes }: typeof named = named): Promise<unknown> => {
    const store = openStore({
      url: `postgres://u:p@127.0.0.1:${port}/d?${query}`,
      poolMax: 1,
      applicationName: 'sluice-test',
    })
    const trusted = once(handshakes, 'done').then(() => 'trusted')
    const outcome = await Promise.race([trusted, problemOf(store.sql`SELECT 1`)])
    void store.close()
    return outcome
  }
  t.equal(await tried(`sslmode=verify-ca&sslrootcert=${ours.rootFile}`), 'trusted')
  t.equal(await tried(`sslmode=require&sslrootcert=${ours.rootFile}`), 'trusted')
  t.match(await tried(`sslmode=verify-full&sslrootcert=${ours.rootFile}`), /ERR_TLS_CERT_ALTNAME_INVALID/)
  t.equal(
    await tried(`sslmode=verify-full&sslrootcert=${ours.rootFile}`, numbered),
    'trusted',
    'a certificate may name an IP address',
  )
  t.match(await tried(`sslmode=require&sslrootcert=${foreign.rootFile}`), /UNABLE_TO_VERIFY/)
  t.equal(await tried('sslmode=require'), 'trusted', 'as in libpq, require alone checks nothing')
})
