import { once } from 'node:events'
import type { Socket } from 'node:net'
import postgres from 'postgres'
import t from 'tap'
import { HostChoice, type HostPlace, type HostState } from '../../../../src/server/store/base/host-choice.ts'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { isAway, isComingUp } from '../../../../src/server/store/base/translate.ts'
import { startPostgresServer, urlOfAll } from '../../../support/nodes/postgres-servers.ts'
import { freePort } from '../../../support/nodes/spawned.ts'
import { until } from '../../../support/wait.ts'

t.setTimeout(300_000)

type Known = Readonly<Record<number, HostState | Error>>

const STANDBY = { isStandby: true, isReadOnly: true }
const PRIMARY = { isStandby: false, isReadOnly: false }
const READ_ONLY = { isStandby: false, isReadOnly: true }
const AWAY = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

/** The number of the host that is chosen; the message where none is. */
async function chosen(session: string | null, states: readonly (HostState | Error)[]): Promise<unknown> {
  const places = states.map((_, port) => ({ host: '127.0.0.1', port }))
  const choice = new HostChoice(places, session, lookAt(Object.fromEntries(states.entries())))
  const socket = await choice.socket()
  socket.write('')
  const problem = (await once(socket, 'close').then(
    () => null,
    (cause: unknown) => cause,
  )) as Error | null
  return problem instanceof AggregateError ? problem.message : (socket as Socket & HostPlace).port
}

function lookAt(known: Known): (place: HostPlace) => Promise<HostState> {
  return async ({ port }) => {
    const state = known[port] ?? AWAY
    if (state instanceof Error) throw state
    return state
  }
}

t.test('chooses a host that accepts writes before one that a setting makes read-only', async (t) => {
  t.equal(await chosen('read-write', [AWAY, STANDBY, PRIMARY]), 2)
  t.equal(await chosen('read-write', [READ_ONLY, PRIMARY]), 1)
  t.equal(await chosen('read-write', [STANDBY, READ_ONLY]), 1)
  t.equal(await chosen('primary', [STANDBY, READ_ONLY, PRIMARY]), 1)
  t.equal(await chosen('standby', [PRIMARY, STANDBY]), 1)
  t.equal(await chosen('read-only', [PRIMARY, READ_ONLY]), 1)
  t.equal(await chosen('prefer-standby', [PRIMARY, STANDBY]), 1)
  t.equal(await chosen('prefer-standby', [AWAY, PRIMARY]), 1)
  t.equal(await chosen(null, [STANDBY, PRIMARY]), 0)
})

t.test('when no host is suitable, the error names each host with its reason', async (t) => {
  const coded = (code: string, message = ''): Error => Object.assign(new Error(message), { code })
  const states = [
    AWAY,
    STANDBY,
    coded('CONNECT_TIMEOUT', 'write CONNECT_TIMEOUT 127.0.0.1:2'),
    coded('ENOTFOUND', 'getaddrinfo ENOTFOUND db.example'),
    // Node has no message for a name of several addresses.
    Object.assign(new AggregateError([AWAY, AWAY]), { code: 'ECONNREFUSED' }),
    Object.assign(new postgres.PostgresError('refused'), {
      message: 'password authentication failed for user "node"',
    }),
    coded('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'),
  ]
  t.equal(
    await chosen('read-write', states),
    'no Postgres host fits target_session_attrs=read-write: 127.0.0.1:0 refuses connections (ECONNREFUSED); ' +
      '127.0.0.1:1 is a standby; 127.0.0.1:2 does not answer (CONNECT_TIMEOUT); ' +
      '127.0.0.1:3 has an unknown name (ENOTFOUND); 127.0.0.1:4 refuses connections (ECONNREFUSED); ' +
      '127.0.0.1:5 answers: password authentication failed for user "node"; ' +
      '127.0.0.1:6 fails: self-signed certificate',
  )
  t.equal(
    await chosen(null, [AWAY]),
    'no Postgres host can be used: 127.0.0.1:0 refuses connections (ECONNREFUSED)',
  )
})

t.test('statements are refused while no host accepts writes, and accepted after a promotion', async (t) => {
  const server = await startPostgresServer(t)
  await server.stop()
  await server.start('nobody')
  const url = urlOfAll([{ port: await freePort() }, server])
  const options = { poolMax: 4, applicationName: 'sluice-test', connectSMax: 30 }
  const [store, stranger] = [
    openStore({ ...options, url }),
    openStore({ ...options, url: url.replace(/:[^:@]+@/, ':wrong@') }),
  ]
  t.teardown(() => Promise.all([store.close(), stranger.close()]))
  const ask = (by = store): Promise<unknown> =>
    by.sql`SELECT 1`.then(
      () => null,
      (problem: unknown) => problem,
    )
  for (const problem of await Promise.all([ask(), ask(), ask(), ask(), ask(), ask()])) {
    t.ok(isAway(problem) && isComingUp(problem))
    t.match(problem, { message: /^no Postgres host fits .*ECONNREFUSED.* is a standby$/ })
  }
  t.match(await ask(stranger), { message: /password authentication failed/ })
  await server.promote()
  await until(async () => (await ask()) === null)
  await store.sql`CREATE TABLE written (id int)`
  await server.stop()
  await server.start('nobody')
  await until('the server that became a standby is left', async () => /standby/.test(String(await ask())))
})

t.test('a client that is closed during the choice of a host opens no connection', async (t) => {
  const choice = new HostChoice([{ host: '127.0.0.1', port: 1 }], 'primary', async () => PRIMARY)
  choice.end()
  const socket = await choice.socket()
  socket.write('')
  await t.rejects(once(socket, 'close'), { message: 'the Postgres client is closed' })
})
