/** Requests that were recorded are refused once their session is over. */
import t from 'tap'
import { headersOf, relayedTo, sessionStand } from '../../../../support/operator/session-stand.ts'

const REFUSED = { status: 401, error: 'session_ended' }

t.test('a replayed call of any kind is refused after the sign-out', async (t) => {
  const stand = await sessionStand(t)
  const recorded = await stand.signIn()
  t.equal((await stand.read(recorded)).status, 201)
  t.equal((await stand.signOut(recorded)).status, 200)
  t.match(await stand.read(recorded), REFUSED)
  t.match(await stand.change(recorded), REFUSED)
  t.match(await stand.signOut(recorded), REFUSED)
  t.equal(relayedTo(stand.front).length, 1)
})

t.test(
  'a replayed call is refused after the next sign-in of the same page, which ends the session',
  async (t) => {
    const stand = await sessionStand(t)
    const recorded = await stand.signIn()
    const { cookie, pageToken } = recorded
    const next = await stand.signIn({ cookie, 'x-sluice-page-token': pageToken })
    t.match(await stand.read(recorded), REFUSED)
    t.equal((await stand.read(next)).status, 201)
  },
)

t.test('the next sign-in of a page ends its session also when the cookie is gone', async (t) => {
  const stand = await sessionStand(t)
  const { cookie, pageToken } = await stand.signIn()
  const next = await stand.signIn({ 'x-sluice-page-token': pageToken })
  t.match(await stand.read({ cookie, pageToken }), REFUSED)
  t.equal((await stand.read(next)).status, 201)
})

t.test('a sign-in that is refused ends no session', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  const answer = await stand.askForSession({ ...headersOf(browsing), authorization: 'Bearer x' })
  t.equal(answer.status, 401)
  t.equal((await stand.read(browsing)).status, 201)
})

t.test('a replayed sign-in makes a new session, and does not restore the ended one', async (t) => {
  const stand = await sessionStand(t)
  const recorded = await stand.signIn()
  await stand.signOut(recorded)
  const next = await stand.signIn()
  t.not(next.cookie, recorded.cookie)
  t.not(next.pageToken, recorded.pageToken)
  t.match(await stand.read(recorded), REFUSED)
})
