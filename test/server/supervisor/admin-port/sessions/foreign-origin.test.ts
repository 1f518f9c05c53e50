/** Both halves of a session are refused when the browser reports that another page sends them. */
import t from 'tap'
import { relayedTo, sessionStand } from '../../../../support/operator/session-stand.ts'

const FOREIGN = { status: 403, error: 'page_foreign' }

for (const [who, of] of [
  ['another site', () => 'https://evil.example'],
  ['a page of another port of the host', (port: number) => `http://127.0.0.1:${port + 1}`],
  ['a page of the host without a port', () => 'http://127.0.0.1'],
  ['a page of another name of the machine', (port: number) => `http://localhost:${port}`],
  ['a page whose name begins as ours', (port: number) => `http://127.0.0.1:${port}.evil.example`],
  ['a page with our name as its user', (port: number) => `http://127.0.0.1:${port}@evil.example`],
  ['a page without an origin, as a sandboxed one', () => 'null'],
  ['a text that is no origin', (port: number) => `127.0.0.1:${port}`],
] as const) {
  t.test(`${who} is refused`, async (t) => {
    const stand = await sessionStand(t)
    const browsing = await stand.signIn()
    const headers = { origin: of(stand.port) }
    t.match(await stand.read(browsing, headers), FOREIGN)
    t.match(await stand.change(browsing, headers), FOREIGN)
    t.match(await stand.signOut(browsing, headers), FOREIGN)
    t.match(await stand.askForSession(headers), FOREIGN)
    t.same(relayedTo(stand.front), [])
  })
}

for (const site of ['cross-site', 'same-site', 'none']) {
  t.test(`refuses requests that a browser marks as ${site}, whatever the origin`, async (t) => {
    const stand = await sessionStand(t)
    const browsing = await stand.signIn()
    const headers = { 'sec-fetch-site': site }
    t.match(await stand.read(browsing, headers), FOREIGN)
    t.match(await stand.change(browsing, headers), FOREIGN)
    t.match(await stand.askForSession(headers), FOREIGN)
    t.same(relayedTo(stand.front), [])
  })
}

t.test('a page whose own host name resolves to the port is refused because of that name', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn()
  const headers = { host: 'evil.example', origin: 'http://evil.example' }
  t.match(await stand.change(browsing, headers), { status: 403, error: 'admin_host_refused' })
})

t.test('without Sec-Fetch-Site, the Origin header decides', async (t) => {
  const stand = await sessionStand(t)
  const browsing = await stand.signIn({ 'sec-fetch-site': '' })
  t.equal((await stand.read(browsing, { 'sec-fetch-site': '' })).status, 201)
  t.equal((await stand.change(browsing, { 'sec-fetch-site': '' })).status, 201)
  t.match(await stand.change(browsing, { 'sec-fetch-site': '', origin: 'https://evil.example' }), FOREIGN)
})
