/** A cookie or a token that was stolen is half of a session, and opens nothing. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { OPERATOR_KEY } from '../../../../support/operator/admin-port.ts'
import { headersOf, relayedTo, sessionStand } from '../../../../support/operator/session-stand.ts'

const REFUSED = { status: 401, error: 'session_ended' }
/** Cookies of the session's name: nearly as many as the head of a request has room for. */
const PLANTED = 200
const other = (): string => randomBytes(32).toString('base64url')

t.test('the cookie without the page token, as another service of the host gets it, is refused', async (t) => {
  const stand = await sessionStand(t)
  const { cookie } = await stand.signIn()
  for (const pageToken of ['', other(), 'x', `${other()}x`])
    t.match(await stand.read({ cookie, pageToken }), REFUSED)
  t.same(relayedTo(stand.front), [])
})

t.test('the page token without the cookie, as a script of the page could send it, is refused', async (t) => {
  const stand = await sessionStand(t)
  const { cookie, pageToken } = await stand.signIn()
  const name = cookie.split('=', 1)[0] ?? ''
  for (const stolen of ['', `${name}=`, `${name}=${other()}`, `${name}=${pageToken}`, `x${cookie}`])
    t.match(await stand.read({ cookie: stolen, pageToken }), REFUSED)
  t.same(relayedTo(stand.front), [])
})

t.test('the cookie of one session with the page token of another is refused', async (t) => {
  const stand = await sessionStand(t)
  const [mine, theirs] = [await stand.signIn(), await stand.signIn()]
  t.match(await stand.read({ cookie: mine.cookie, pageToken: theirs.pageToken }), REFUSED)
  t.match(await stand.read({ cookie: theirs.cookie, pageToken: mine.pageToken }), REFUSED)
  t.equal((await stand.read(mine)).status, 201)
  t.equal((await stand.read(theirs)).status, 201)
})

t.test('cookie and page token are refused at another address of the same port', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  t.match(await stand.read(browsing, { host: `localhost:${stand.port}` }), REFUSED)
})

t.test('the API for programs accepts neither the cookie nor the page token as a key', async (t) => {
  const stand = await sessionStand(t)
  const { cookie, pageToken } = await stand.signIn()
  const id = cookie.split('=')[1] ?? ''
  for (const authorization of ['', `Bearer ${id}`, `Bearer ${pageToken}`]) {
    const headers = { ...headersOf({ cookie, pageToken }), authorization }
    t.equal((await stand.send('GET', '/api/v1/keys', headers)).status, 401)
  }
})

t.test('cookies that another service of the host has set do not shut the owner out', async (t) => {
  const stand = await sessionStand(t)
  const { cookie, pageToken } = await stand.signIn()
  const name = cookie.split('=', 1)[0] ?? ''
  const planted = Array.from({ length: PLANTED }, () => `${name}=${other()}`).join('; ')
  t.equal((await stand.read({ cookie: `${planted}; ${cookie}`, pageToken })).status, 201)
})

t.test('the node stores neither the key nor the cookie nor the page token of a session', async (t) => {
  const stand = await sessionStand(t)
  const { cookie, pageToken } = await stand.signIn()
  const seen = new Set<unknown>()
  const texts: string[] = []
  const read = (value: unknown): void => {
    if (seen.has(value)) return
    seen.add(value)
    if (typeof value === 'string') texts.push(value)
    else if (Buffer.isBuffer(value)) texts.push(value.toString('latin1'), value.toString('base64url'))
    else if (value instanceof Map) for (const [name, one] of value) [name, one].forEach(read)
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(read)
  }
  read(stand.sessions.kept)
  t.ok(texts.length > 3)
  const kept = texts.join('\n')
  for (const secret of [OPERATOR_KEY, pageToken, cookie.split('=')[1] ?? '-']) t.notOk(kept.includes(secret))
})
