import type { Page } from 'playwright-core'
import t from 'tap'
import { skipWithoutBrowser } from '../support/wire/browser.ts'
import {
  findingsInNextLook,
  openDashboard,
  overflowOf,
  PRICED_MODEL,
  type Dashboard,
} from '../support/operator/dashboard.ts'
import { present } from '../support/must.ts'
import { until } from '../support/nodes/node.ts'

/** Calls a second that a test of live figures sends, so that no look is without one. */
const CALLS_AT_ONCE = 5

t.setTimeout(600_000)

const skip = skipWithoutBrowser
const dashboard = skip === false ? await openDashboard(t) : null
const opened = (): Dashboard => present(dashboard)
/** The window of a key that is deleted while it is open. */
let other: Page | null = null
const embeddings = { body: { model: PRICED_MODEL, input: 'seven' } }
const chat = {
  body: { model: 'sluice/echo-1', stream: true, messages: [{ role: 'user', content: 'One two three' }] },
}

t.test('focuses the key field at once, and signs in by the keyboard alone', { skip }, async (t) => {
  const { page, url, managementKey } = opened()
  await page.goto(`${url}#/now`)
  await page.locator('input:focus').waitFor()
  t.comment(`ready after ${await page.evaluate<number>('Math.round(performance.now())')} ms`)
  await page.keyboard.type(managementKey)
  await page.keyboard.press('Enter')
  await page.locator('h1:focus', { hasText: 'Now' }).waitFor()
  t.equal(await page.title(), 'Now – Sluice')
})

t.test('stores no key, and hides half of its session from scripts', { skip }, async (t) => {
  const { page, url, managementKey } = opened()
  const kept = `(async () => JSON.stringify([
    Object.keys(localStorage), sessionStorage.length, document.cookie, location.href,
    history.state, window.name, await indexedDB.databases(), await caches.keys(),
  ]))()`
  t.equal(
    await page.evaluate<string>(kept),
    JSON.stringify([['sluice-page-token'], 0, '', `${url}#/now`, null, '', [], []]),
  )
  t.notMatch(await page.evaluate<string>('JSON.stringify({ ...localStorage })'), managementKey)
  t.notMatch(await page.content(), managementKey)
  const [cookie, ...others] = await page.context().cookies(url)
  t.match(cookie, { httpOnly: true, sameSite: 'Strict', path: '/dashboard/', expires: -1 })
  t.notMatch(cookie?.value, managementKey)
  t.same(others, [])
})

t.test('a session survives a reload, and stays on the same page, until the sign-out', { skip }, async (t) => {
  const { page } = opened()
  await page.evaluate("location.hash = '#/audit'")
  await page.locator('h1:focus', { hasText: 'Audit' }).waitFor()
  await page.reload()
  await page.locator('h1:focus', { hasText: 'Audit' }).waitFor()
  const old = await page.context().cookies()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Management key').waitFor()
  await until('the node has ended it', async () => (await page.context().cookies()).length === 0)
  t.equal(await page.evaluate<number>('localStorage.length'), 0)
  await page.context().addCookies(old)
  await page.reload()
  await page.getByLabel('Management key').waitFor()
})

t.test('explains why it refuses a key', { skip }, async (t) => {
  const { page, url, inferenceKey, managementKey } = opened()
  const refusal = async (key: string): Promise<string> => {
    await page.goto('about:blank')
    await page.goto(url)
    await page.getByLabel('Management key').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    return page.getByRole('alert').innerText()
  }
  t.match(await refusal(inferenceKey), 'This is not a management key.')
  t.match(await refusal(`${managementKey.slice(0, -2)}zz`), 'Invalid API key.')
  t.match(await refusal('clé'), 'A key contains only letters, digits, hyphens and underscores.')
  t.equal(await page.getByRole('navigation').count(), 0)
})

t.test('opens when a management key signs in', { skip }, async (t) => {
  await opened().signIn()
  t.match(opened().page.url(), '/dashboard/')
})

t.test('accepts another key in a second window', { skip }, async (t) => {
  const dashboard = opened()
  const { managementKey } = dashboard
  const made = await dashboard.call('keys', managementKey, { body: { name: 'short', kind: 'management' } })
  const { key, data } = JSON.parse(made.body) as { key: string; data: { hash: string } }
  other = await dashboard.browser.newPage()
  await other.goto(`${dashboard.url}#/now`)
  await other.getByLabel('Management key').fill(key)
  await other.keyboard.press('Enter')
  await other.getByText('Event-loop delay').waitFor()
  t.equal((await dashboard.call(`keys/${data.hash}`, managementKey, { method: 'DELETE' })).status, 200)
})

t.test('shows figures that change under load, with the called operation', { skip }, async (t) => {
  const dashboard = opened()
  const { page, inferenceKey } = dashboard
  await page.getByRole('region', { name: 'Findings' }).waitFor()
  await until('nothing is called', async () => /^0\/s/.test(await rate(dashboard)))
  const load = callAgainAndAgain(() => dashboard.call('embeddings', inferenceKey, embeddings))
  try {
    await until('a rate is shown', async () => !/^0\/s/.test(await rate(dashboard)))
    await page
      .getByRole('table', { name: 'Requests by operation' })
      .getByRole('row', { name: /^embeddings\.create/ })
      .waitFor()
    await page.getByRole('img', { name: /^Requests per second\. Last: total [1-9]/ }).waitFor()
  } finally {
    await load.end()
  }
  t.equal(await page.locator('.uplot canvas').count(), 5)
})

t.test('the figures of the tiles are at the same height', { skip }, async (t) => {
  const { page } = opened()
  const tops = await page.evaluate<readonly number[]>(
    `[...new Set([...document.querySelectorAll('main .tile dd')].map((dd) => Math.round(dd.getBoundingClientRect().top)))]`,
  )
  t.equal(tops.length, 1, tops.join())
  t.equal(await page.locator('.tile dt', { hasText: /^p99 latency$/ }).count(), 1)
  const wide = await page.evaluate<readonly string[]>(
    `[...document.querySelectorAll('main .tile')].filter((tile) => tile.scrollWidth > tile.clientWidth).map((tile) => tile.textContent)`,
  )
  t.same(wide, [], 'nothing is beyond the edge of its tile')
})

t.test('shows the output of models: tokens per second, and time to first token', { skip }, async (t) => {
  const dashboard = opened()
  const { page, inferenceKey } = dashboard
  const tile = (name: string): Promise<string> =>
    page.locator('.tile', { hasText: name }).locator('dd').innerText()
  const load = callAgainAndAgain(() => dashboard.call('chat/completions', inferenceKey, chat))
  try {
    await until('tokens are shown', async () => /^[1-9][\d,.]*\/s/.test(await tile('Output tokens')))
    await until('a time is shown', async () => /first token \d/.test(await tile('Open streams')))
  } finally {
    await load.end()
  }
  t.match(await tile('Output tokens'), /\$\d\.\d\d\/min/, 'what calls of the last seconds cost')
  await page.getByRole('img', { name: /^Time to first token\. Last: p50 \d/ }).waitFor()
  await page
    .getByRole('table', { name: 'Input tokens and dropped fields' })
    .getByRole('row', { name: /^sluice\/echo-1/ })
    .waitFor()
})

t.test('counts refused calls with their cause, and links to the remedy', { skip }, async () => {
  const dashboard = opened()
  const { page, inferenceKey } = dashboard
  const load = callAgainAndAgain(() =>
    dashboard.call('embeddings', `${inferenceKey.slice(0, -2)}zz`, embeddings),
  )
  const finding = page.getByRole('listitem').filter({ hasText: 'most of them with key_unknown' })
  try {
    await page.locator('details.findings summary').click()
    await finding.waitFor()
    await until(
      'the tile counts them',
      async () =>
        !/^0\/s/.test(
          await page.locator('.tile', { hasText: 'Client errors (4xx)' }).locator('dd').innerText(),
        ),
    )
    const good = callAgainAndAgain(() => dashboard.call('embeddings', inferenceKey, embeddings))
    try {
      // When a busy front does not answer, the finding disappears, and the next answer creates it again.
      await until('its figures change, and who is about to click it still has it', async () => {
        const [item, text] = [await finding.elementHandle(), await finding.innerText()]
        await until('its figures change', async () => (await finding.innerText()) !== text)
        return (await item?.isVisible()) === true
      })
    } finally {
      await good.end()
    }
    await finding.getByRole('link', { name: 'View keys' }).click()
  } finally {
    await load.end()
  }
  await page.locator('h1:focus', { hasText: 'Keys' }).waitFor()
})

t.test('says that an address is not a page', { skip }, async (t) => {
  const dashboard = opened()
  const { page } = dashboard
  await page.evaluate("location.hash = '#/nowhere?x=1'")
  await page.locator('h1:focus', { hasText: 'Page not found' }).waitFor()
  t.equal(await page.locator('nav [aria-current]').count(), 0)
  await page.getByRole('link', { name: 'Go to Now' }).click()
  await page.locator('h1:focus', { hasText: 'Now' }).waitFor()
})

t.test('a plot shows the time and values under the pointer', { skip }, async (t) => {
  const { page } = opened()
  const plot = page.locator('.plot').first()
  t.notMatch(await plot.locator('.legend').innerText(), /\d\d:\d\d:\d\d/)
  await plot.locator('.u-over').hover()
  await plot.locator('.legend', { hasText: /\d\d:\d\d:\d\d/ }).waitFor()
  await page.mouse.move(0, 0)
  await plot.locator('.legend', { hasNotText: /\d\d:\d\d:\d\d/ }).waitFor()
})

t.test(
  'shows the age of its figures while the node is stopped, and updates them when it continues',
  { skip },
  async (t) => {
    const dashboard = opened()
    const { page } = dashboard
    process.kill(dashboard.node.pid, 'SIGSTOP')
    try {
      await page.getByText('These figures are from').waitFor()
      t.equal(await page.getByRole('link', { name: 'not live' }).count(), 1)
    } finally {
      process.kill(dashboard.node.pid, 'SIGCONT')
    }
    await page.getByText('These figures are from').waitFor({ state: 'detached' })
  },
)

t.test('Now is accessible in light and dark mode and on a phone', { skip }, async (t) => {
  const { page } = opened()
  await page.locator('h1', { hasText: 'Now' }).waitFor()
  t.same(await findingsInNextLook(page), [])
  await page.setViewportSize({ width: 380, height: 800 })
  t.equal(await overflowOf(page), 0)
})

t.test('calls no other host and logs no error', { skip }, async (t) => {
  const { seen } = opened()
  t.same(seen.abroad, [])
  t.same(seen.errors, [])
})

t.test('ends the session of a key that was deleted in another window', { skip }, async (t) => {
  const page = present(other)
  await page.getByRole('alert').getByText('You were signed out.').waitFor()
  t.equal(await page.getByText('Event-loop delay').count(), 0)
})

function rate({ page }: Dashboard): Promise<string> {
  return page.locator('.tile', { hasText: 'Requests' }).locator('dd').innerText()
}

/** A few calls at once, again as soon as they are answered. */
function callAgainAndAgain(call: () => Promise<unknown>): { end(): Promise<void> } {
  let isOver = false
  const one = async (): Promise<void> => {
    while (!isOver) await call()
  }
  const all = Promise.all(Array.from({ length: CALLS_AT_ONCE }, one))
  return {
    end: async () => {
      isOver = true
      await all
    },
  }
}
