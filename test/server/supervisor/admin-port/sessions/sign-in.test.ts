import t from 'tap'
import { SESSION_SECRET_BYTES, SESSIONS_MAX } from '../../../../../src/schemas/operator/admin-port-limits.ts'
import { Sessions } from '../../../../../src/server/supervisor/admin-port/sessions.ts'
import { FOREIGN_KEY, OPERATOR_KEY } from '../../../../support/operator/admin-port.ts'
import { headersOf, relayedTo, sessionStand } from '../../../../support/operator/session-stand.ts'

interface Echo {
  readonly url: string
  readonly rawHeaders: readonly string[]
}

t.test('a sign-in sets a cookie for the dashboard only, and no answer contains the key', async (t) => {
  const stand = await sessionStand(t)
  const { status, headers, body } = await stand.askForSession()
  t.equal(status, 200)
  t.match(headers['set-cookie'], [
    new RegExp(`^sluice-session-${stand.port}=[\\w-]{43}; Path=/dashboard/; HttpOnly; SameSite=Strict$`),
  ])
  t.equal(headers['cache-control'], 'no-store')
  const { data } = JSON.parse(body.toString()) as { data: { page_token: string } }
  t.equal(Buffer.from(data.page_token, 'base64url').length, SESSION_SECRET_BYTES)
  t.notMatch(JSON.stringify([headers, body.toString()]), OPERATOR_KEY)
})

t.test('a call of the page is relayed with the key of its session, without the session cookie', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  const { status, body } = await stand.send('GET', '/dashboard/api/v1/keys?limit=1', headersOf(browsing))
  t.equal(status, 201)
  const { url, rawHeaders } = JSON.parse(body.toString()) as Echo
  t.equal(url, '/api/v1/keys?limit=1')
  t.equal(rawHeaders[rawHeaders.indexOf('authorization') + 1], `Bearer ${OPERATOR_KEY}`)
  t.notMatch(JSON.stringify(rawHeaders), browsing.pageToken)
  t.notMatch(JSON.stringify(rawHeaders), /sluice-session|page-token/)
})

t.test('over TLS the cookie is marked Secure', async (t) => {
  const stand = await sessionStand(t)
  const headers = { host: 'localhost', origin: 'https://localhost' }
  const { setCookie, ...browsing } = await stand.signIn(headers)
  t.match(setCookie, /^sluice-session=[\w-]{43}; Path=\/dashboard\/; HttpOnly; SameSite=Strict; Secure$/)
  t.equal((await stand.read(browsing, { host: 'localhost' })).status, 201)
})

for (const [who, key, status, error] of [
  ['no key', '', 401, 'credentials_missing'],
  ['a text that is no key', 'Bearer x', 401, 'key_unknown'],
  ['a key of another organization', `Bearer ${FOREIGN_KEY}`, 403, null],
] as const) {
  t.test(`${who} gets no session`, async (t) => {
    const stand = await sessionStand(t)
    const answer = await stand.askForSession({ authorization: key })
    t.match(answer, { status, error })
    t.notOk('set-cookie' in answer.headers)
  })
}

t.test('a key that was revoked a moment ago gets no session', async (t) => {
  const stand = await sessionStand(t)
  await stand.signIn()
  stand.front.revoke()
  t.equal((await stand.askForSession()).status, 401)
})

t.test('the session path accepts only a sign-in and a sign-out', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'OPTIONS'])
    t.match(await stand.send(method, '/dashboard/session', headersOf(browsing)), {
      status: 405,
      headers: { allow: 'POST, DELETE' },
    })
})

t.test('while the node is not up, the page gets 503 and keeps its session', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  stand.front.close()
  t.match(await stand.change(browsing), { status: 503, error: 'busy' })
  t.match(await stand.askForSession(), { status: 503, error: 'busy' })
  t.ok(stand.sessions.kept.size === 1)
})

t.test('above the session limit, the least recently used session ends', async (t) => {
  const stand = await sessionStand(t)
  const [first, second] = [await stand.signIn(), await stand.signIn()]
  t.equal((await stand.read(first)).status, 201)
  const host = stand.host
  for (let more = 2; more <= SESSIONS_MAX; more++) stand.sessions.begin(OPERATOR_KEY, host)
  t.match(await stand.read(second), { status: 401, error: 'session_ended' })
  t.equal((await stand.read(first)).status, 201)
  t.equal(relayedTo(stand.front).length, 2)
})

t.test('sign-ins of one key end no session of another', async (t) => {
  const sessions = new Sessions()
  const host = '127.0.0.1:9090'
  const others = ['a', 'b'].map((name) => ({ ...sessions.begin(OPERATOR_KEY + name, host), host }))
  const first = { ...sessions.begin(OPERATOR_KEY, host), host }
  for (let more = 1; more <= SESSIONS_MAX; more++) sessions.begin(OPERATOR_KEY, host)
  for (const other of others) t.ok(sessions.open(other)?.isOpen())
  t.equal(sessions.open(first), null)
  t.equal(sessions.kept.size, SESSIONS_MAX)
})
