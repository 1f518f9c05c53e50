/** A session that an attacker chose never becomes the session of another user. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { headersOf, sessionStand } from '../../../../support/operator/session-stand.ts'

const REFUSED = { status: 401, error: 'session_ended' }
const chosen = (): string => randomBytes(32).toString('base64url')

t.test('an id and a token that a client chose are not adopted by its sign-in', async (t) => {
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
  'the live session of an attacker is not adopted by a sign-in in whose browser it was planted',
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

t.test('each sign-in has halves of its own', async (t) => {
  const stand = await sessionStand(t)
  const all = [await stand.signIn(), await stand.signIn(), await stand.signIn()]
  t.equal(new Set(all.flatMap(({ cookie, pageToken }) => [cookie, pageToken])).size, 6)
})
