/** A page elsewhere can have a browser send the cookie. It cannot have it send the rest. */
import t from 'tap'
import { relayedTo, sessionStand } from '../../../../support/operator/session-stand.ts'

const FOREIGN = { status: 403, error: 'page_foreign' }
const ENDED = { status: 401, error: 'session_ended' }

t.test('a form, a picture and a script of another page send no token and are refused', async (t) => {
  const stand = await sessionStand(t)
  const { cookie } = await stand.signIn()
  const forged = { cookie, pageToken: '' }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  t.match(await stand.change(forged, form), ENDED)
  t.match(await stand.read(forged), ENDED)
  t.match(await stand.signOut(forged), ENDED)
  t.same(relayedTo(stand.front), [])
})

t.test('a change without an Origin header is refused, even with a valid cookie and page token', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  t.match(await stand.change(browsing, { origin: '' }), FOREIGN)
  t.match(await stand.change(browsing, { origin: '', 'sec-fetch-site': '' }), FOREIGN)
  t.match(await stand.signOut(browsing, { origin: '' }), FOREIGN)
  t.equal((await stand.read(browsing)).status, 201)
})

t.test('no preflight allows another page to send the token', async (t) => {
  const stand = await sessionStand(t)
  const { cookie } = await stand.signIn()
  const preflight = {
    cookie,
    origin: 'https://evil.example',
    'sec-fetch-site': 'cross-site',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-sluice-page-token',
  }
  for (const path of ['/dashboard/api/v1/keys', '/dashboard/session', '/api/v1/keys']) {
    const { status, headers } = await stand.send('OPTIONS', path, preflight)
    t.ok(status >= 400, path)
    t.same(
      Object.keys(headers).filter((name) => name.startsWith('access-control-')),
      [],
    )
  }
})

t.test('the API for programs ignores the cookie', async (t) => {
  const stand = await sessionStand(t)
  const { cookie } = await stand.signIn()
  t.match(await stand.send('POST', '/api/v1/keys', { cookie }), { status: 401, error: 'credentials_missing' })
})

t.test('a sign-in that another page causes is refused, with a key or without', async (t) => {
  const stand = await sessionStand(t)
  for (const headers of [{ origin: '' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]) {
    const answer = await stand.askForSession(headers)
    t.match(answer, FOREIGN)
    t.notOk('set-cookie' in answer.headers)
  }
})
