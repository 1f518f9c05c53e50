/** A session that an attacker chose never becomes the session of another user. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { headersOf, sessionStand } from '../../../../support/operator/session-stand.ts'

const REFUSED = { status: 401, error: 'session_ended' }
const chosen = (): string => randomBytes(32).toString('base64url')

t.test('a sign-in does not adopt a session id and token chosen by the client', async (t) => {
  const stand = await sessionStand(t)
  const planted = { cookie: `sluice-session-${stand.port}=${chosen()}`, pageToken: chosen() }
  const mine = await stand.signIn(headersOf(planted))
  t.not(mine.cookie, planted.cookie)
  t.not(mine.pageToken, planted.pageToken)
  t.match(await stand.read(planted), REFUSED)
  t.match(await stand.read({ ...mine, cookie: planted.cookie }), REFUSED)
  t.match(await stand.read({ ...mine, pageToken: planted.pageToken }), REFUSED)
})

t.test(
  'a sign-in does not adopt a live session of an attacker that was planted in the browser',
  async (t) => {
    const stand = await sessionStand(t)
    const attacker = await stand.signIn()
    const mine = await stand.signIn({ cookie: attacker.cookie })
    t.not(mine.cookie, attacker.cookie)
    t.match(await stand.read({ cookie: attacker.cookie, pageToken: mine.pageToken }), REFUSED)
  },
)

t.test(
  "an attacker's cookie in the browser of a signed-in page does not make the page act as the attacker",
  async (t) => {
    const stand = await sessionStand(t)
    const [mine, attacker] = [await stand.signIn(), await stand.signIn()]
    t.match(await stand.change({ cookie: attacker.cookie, pageToken: mine.pageToken }), REFUSED)
  },
)

t.test('each sign-in gets a new cookie and a new page token', async (t) => {
  const stand = await sessionStand(t)
  const all = [await stand.signIn(), await stand.signIn(), await stand.signIn()]
  t.equal(new Set(all.flatMap(({ cookie, pageToken }) => [cookie, pageToken])).size, 6)
})
