import { createServer } from 'node:http'
import { once } from 'node:events'
import type { Page } from 'playwright-core'
import t from 'tap'
import { present } from '../support/must.ts'
import { until } from '../support/nodes/node.ts'
import { openDashboard, type Dashboard } from '../support/operator/dashboard.ts'
import { skipWithoutBrowser } from '../support/wire/browser.ts'
import { portOf } from '../support/wire/raw-server.ts'

t.setTimeout(300_000)

const skip = skipWithoutBrowser
const dashboard = skip === false ? await openDashboard(t) : null
const opened = (): Dashboard => present(dashboard)
const signedIn = (page: Page): Promise<void> => page.getByRole('button', { name: 'Sign out' }).waitFor()
const signedOut = (page: Page): Promise<void> => page.getByLabel('Management key').waitFor()

t.test('signing in or out in one window also applies to the second window', { skip }, async () => {
  const { page, url } = opened()
  await opened().signIn()
  const second = await page.context().newPage()
  await second.goto(url)
  await signedIn(second)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signedOut(page)
  await signedOut(second)
  await second.close()
  await until('the browser has forgotten it', async () => (await page.context().cookies()).length === 0)
})

t.test('a signed-out window signs in when another window does', { skip }, async () => {
  const { page, url } = opened()
  const second = await page.context().newPage()
  await second.goto(url)
  await signedOut(second)
  await opened().signIn()
  await signedIn(second)
  await second.close()
})

t.test(
  'another service on the host cannot use the session, even though the browser sends it the cookie',
  { skip },
  async (t) => {
    const { page, url } = opened()
    const { origin } = new URL(url)
    const cookies: string[] = []
    const server = createServer(({ headers: { cookie } }, response) => {
      cookies.push(cookie ?? '')
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>evil</title>')
    })
    t.teardown(() => {
      server.close()
      server.closeAllConnections()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const evil = await page.context().newPage()
    await evil.goto(`http://127.0.0.1:${portOf(server)}/dashboard/x`)
    t.match(cookies[0], /^sluice-session-/, 'cookies know no ports')
    t.equal(await evil.evaluate<number>('localStorage.length'), 0)
    const attempts = `(async () => {
    const at = '${origin}/dashboard/api/v1/keys'
    const all = [
      fetch(at, { credentials: 'include' }),
      fetch(at, { credentials: 'include', headers: { 'x-sluice-page-token': 'a'.repeat(43) } }),
      fetch(at, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"name":"evil"}' }),
      fetch('${origin}/dashboard/session', { method: 'DELETE', credentials: 'include' }),
    ]
    const ends = await Promise.allSettled(all)
    return ends.map((end) => end.status === 'rejected' ? 'rejected' : end.value.type).join(' ')
  })()`
    t.equal(await evil.evaluate<string>(attempts), 'rejected rejected rejected rejected')
    await evil.close()
    await page.reload()
    await signedIn(page)
    const { body } = await opened().call('keys', opened().managementKey)
    t.notMatch(body, /"name":"evil"/)
  },
)

t.test('a node that is unreachable for a moment does not end the session', { skip }, async () => {
  const { page } = opened()
  await page.route('**/api/v1/admin/session', (route) => route.abort())
  await page.reload()
  await page.getByText('The node cannot be reached.').waitFor()
  await page.unroute('**/api/v1/admin/session')
  await page.getByRole('button', { name: 'Try again' }).click()
  await signedIn(page)
})

t.test('a sign-out that fails says so, and the next sign-in ends the session', { skip }, async (t) => {
  const { page, url, managementKey } = opened()
  const [{ name, value } = { name: '', value: '' }] = await page.context().cookies()
  const pageToken = await page.evaluate<string>("localStorage.getItem('sluice-page-token')")
  const headers = { cookie: `${name}=${value}`, 'x-sluice-page-token': pageToken }
  const statusNow = async (): Promise<number> =>
    (await fetch(`${url}api/v1/admin/session`, { headers })).status
  await page.route('**/dashboard/session', (route) => route.abort())
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('alert').getByText('Sign-out failed. The node cannot be reached.').waitFor()
  t.equal(await statusNow(), 200)
  await page.unroute('**/dashboard/session')
  await page.getByLabel('Management key').fill(managementKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await signedIn(page)
  t.equal(await statusNow(), 401)
})

t.test('a session that has ended shows the sign-in page, which says so', { skip }, async () => {
  const { page } = opened()
  await page.context().clearCookies()
  await page.reload()
  await page.getByRole('alert').getByText('Your dashboard session has ended: sign in again.').waitFor()
  await signedOut(page)
})

t.test('calls no other host and logs no error', { skip }, async (t) => {
  const { seen } = opened()
  t.same(seen.abroad, [])
  t.same(
    seen.errors.filter((text) => !text.includes('ERR_FAILED')),
    [],
  )
})
