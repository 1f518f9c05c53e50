/** A sign-out ends the session on the node, and a key that ends takes all of its sessions along. */
import t from 'tap'
import { SESSION_IDLE_MS } from '../../../../../src/schemas/operator/admin-port-limits.ts'
import { OPERATOR_KEY } from '../../../../support/operator/admin-port.ts'
import { until } from '../../../../support/nodes/node.ts'
import { headersOf, sessionStand } from '../../../../support/operator/session-stand.ts'
import { rawClient } from '../../../../support/wire/raw-http.ts'

const REFUSED = { status: 401, error: 'session_ended' }

t.test('a sign-out ends its session, makes the browser forget it, and leaves other sessions', async (t) => {
  const stand = await sessionStand(t)
  const [mine, other] = [await stand.signIn(), await stand.signIn()]
  const { status, headers } = await stand.signOut(mine)
  t.equal(status, 200)
  t.match(headers['set-cookie'], [
    `sluice-session-${stand.port}=; Path=/dashboard/; HttpOnly; SameSite=Strict; Max-Age=0`,
  ])
  t.match(await stand.read(mine), REFUSED)
  t.equal((await stand.read(other)).status, 201)
})

t.test('a sign-out with only the cookie, which other services also get, ends no session', async (t) => {
  const stand = await sessionStand(t)
  const [mine, other] = [await stand.signIn(), await stand.signIn()]
  for (const pageToken of ['', 'a'.repeat(43)])
    t.match(await stand.signOut({ cookie: mine.cookie, pageToken }), REFUSED)
  t.equal((await stand.read(mine)).status, 201)
  t.equal((await stand.read(other)).status, 201)
})

t.test('a sign-out ends its session though another service of the host took the cookie away', async (t) => {
  const stand = await sessionStand(t)
  for (const value of [null, 'a'.repeat(43)]) {
    const { cookie, pageToken } = await stand.signIn()
    const left = value === null ? '' : cookie.replace(/=.*/, `=${value}`)
    t.equal((await stand.signOut({ cookie: left, pageToken })).status, 200)
    t.match(await stand.read({ cookie, pageToken }), REFUSED)
    t.match(await stand.signOut({ cookie: '', pageToken }), REFUSED)
  }
  t.equal(stand.sessions.kept.size, 0)
})

t.test('a sign-out at another address of the port ends nothing', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  const host = `localhost:${stand.port}`
  t.match(await stand.signOut(browsing, { host, origin: `http://${host}` }), REFUSED)
  t.equal((await stand.read(browsing)).status, 201)
})

t.test('a sign-out of an expired session is refused', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  stand.pass(SESSION_IDLE_MS)
  t.match(await stand.signOut(browsing), REFUSED)
})

t.test('a live view ends with its session', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  const client = rawClient(stand.port)
  t.teardown(() => client.destroy())
  const headers = Object.entries({ host: stand.host, ...headersOf(browsing) })
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  client.send(`GET /dashboard/api/v1/admin/live HTTP/1.1\r\n${lines}\r\n`)
  await client.until(/data: \{/)
  await stand.signOut(browsing)
  t.ok(await client.until(/\r\n0\r\n\r\n$/))
})

t.test('a key that is revoked ends all of its sessions', async (t) => {
  const stand = await sessionStand(t)
  const all = [await stand.signIn(), await stand.signIn()]
  stand.front.revoke()
  // A sign-in asks the front again, so that the node learns of the end now.
  await stand.askForSession()
  t.equal((await stand.read(all[0] ?? { cookie: '', pageToken: '' })).status, 401)
  t.equal(stand.sessions.kept.size, 0)
})

t.test(
  'a call refused by a front ends all sessions of its key, even if the key check is still cached',
  async (t) => {
    const stand = await sessionStand(t)
    const [mine] = [await stand.signIn(), await stand.signIn()]
    t.equal((await stand.read(mine)).status, 201)
    stand.front.revoke()
    t.equal((await stand.read(mine)).status, 401)
    await until('no session is left', () => stand.sessions.kept.size === 0)
    t.match(await stand.read(mine), REFUSED)
  },
)

t.test('ending the sessions of a key that has none does not end sessions of other keys', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  stand.sessions.endAllOf(`${OPERATOR_KEY}x`)
  t.equal((await stand.read(browsing)).status, 201)
})
