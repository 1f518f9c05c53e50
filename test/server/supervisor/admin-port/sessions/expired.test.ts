/** A session ends by itself: some minutes after its last use, and some hours after its sign-in. */
import t from 'tap'
import { SESSION_IDLE_MS, SESSION_MS_MAX } from '../../../../../src/schemas/operator/admin-port-limits.ts'
import { Sessions } from '../../../../../src/server/supervisor/admin-port/sessions.ts'
import { OPERATOR_KEY } from '../../../../support/operator/admin-port.ts'
import { present } from '../../../../support/must.ts'
import { sessionStand } from '../../../../support/operator/session-stand.ts'

const REFUSED = { status: 401, error: 'session_ended' }

t.test('a session that is idle for too long is refused, and stays refused', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  stand.pass(SESSION_IDLE_MS)
  t.match(await stand.read(browsing), REFUSED)
  stand.pass(-1)
  t.match(await stand.read(browsing), REFUSED)
})

t.test('using a session renews it', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  for (let use = 0; use < 3; use++) {
    stand.pass(SESSION_IDLE_MS - 1)
    t.equal((await stand.read(browsing)).status, 201)
  }
})

t.test('a refused call does not count as use', async (t) => {
  const stand = await sessionStand(t)
  const { cookie, pageToken } = await stand.signIn()
  stand.pass(SESSION_IDLE_MS - 1)
  t.match(await stand.read({ cookie, pageToken: 'a'.repeat(43) }), REFUSED)
  t.match(await stand.read({ cookie, pageToken }, { 'sec-fetch-site': 'cross-site' }), { status: 403 })
  stand.pass(1)
  t.match(await stand.read({ cookie, pageToken }), REFUSED)
})

t.test('a session ends at its maximum age, however much it was used', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  let leftMs = SESSION_MS_MAX
  for (; leftMs > SESSION_IDLE_MS; leftMs -= SESSION_IDLE_MS - 1) {
    stand.pass(SESSION_IDLE_MS - 1)
    t.equal((await stand.read(browsing)).status, 201)
  }
  stand.pass(leftMs - 1)
  t.equal((await stand.read(browsing)).status, 201)
  stand.pass(1)
  t.match(await stand.read(browsing), REFUSED)
})

t.test('an open live view counts as use, and ends with the session at its maximum age', async (t) => {
  let nowMs = 0
  const sessions = new Sessions(() => nowMs)
  const host = '127.0.0.1:9090'
  const session = present(sessions.open({ ...sessions.begin(OPERATOR_KEY, host), host }))
  for (nowMs = SESSION_IDLE_MS - 1; nowMs < SESSION_MS_MAX; nowMs += SESSION_IDLE_MS - 1)
    t.ok(session.isOpen())
  t.notOk(session.isOpen())
})

t.test('a sign-in deletes the expired sessions', async (t) => {
  const stand = await sessionStand(t)
  await stand.signIn()
  await stand.signIn()
  stand.pass(SESSION_IDLE_MS)
  await stand.signIn()
  t.equal(stand.sessions.kept.size, 1)
})
