import type { Page, Request, Route } from 'playwright-core'
import t from 'tap'
import { LOOKS, showAs, skipWithoutBrowser } from '../support/wire/browser.ts'
import {
  findingsInAllLooks,
  openDashboard,
  overflowOf,
  PRICED_MODEL,
  type Dashboard,
} from '../support/operator/dashboard.ts'
import { present } from '../support/must.ts'
import { until } from '../support/nodes/node.ts'

/** Calls a second that a test of live figures sends, so that no look is without one. */
const CALLS_AT_ONCE = 5

const skip = skipWithoutBrowser
const dashboard = skip === false ? await openDashboard(t) : null
const opened = (): Dashboard => present(dashboard)
/** The window of a key that is deleted while it is open. */
let other: Page | null = null
const embeddings = { body: { model: PRICED_MODEL, input: 'seven' } }

t.test('is ready for a key at once, and takes it by the keyboard alone', { skip }, async (t) => {
  const { page, url, managementKey } = opened()
  await page.goto(url)
  await page.locator('input:focus').waitFor()
  t.comment(`ready after ${await page.evaluate<number>('Math.round(performance.now())')} ms`)
  await page.keyboard.type(managementKey)
  await page.keyboard.press('Enter')
  await page.locator('h1:focus', { hasText: 'Now' }).waitFor()
  t.equal(await page.title(), 'Now – Sluice')
})

t.test('keeps the key in its memory alone', { skip }, async (t) => {
  const { page, url, managementKey } = opened()
  const kept = `(async () => JSON.stringify([
    localStorage.length, sessionStorage.length, document.cookie, location.href, history.state, window.name, await indexedDB.databases(), await caches.keys(),
  ]))()`
  t.equal(await page.evaluate<string>(kept), JSON.stringify([0, 0, '', url, null, '', [], []]))
  t.notMatch(await page.content(), managementKey)
  t.same(await page.context().cookies(), [])
  await page.reload()
  await page.getByLabel('Management key').waitFor()
})

t.test('says what is wrong with a key that is none for it', { skip }, async (t) => {
  const { page, url, inferenceKey, managementKey } = opened()
  const refusal = async (key: string): Promise<string> => {
    await page.goto(url)
    await page.getByLabel('Management key').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    return page.getByRole('alert').innerText()
  }
  t.match(await refusal(inferenceKey), 'This is not a management key.')
  t.match(await refusal(`${managementKey.slice(0, -2)}zz`), 'This API key is not known.')
  t.match(await refusal('clé'), 'A key has letters, digits, hyphens and underscores alone.')
  t.equal(await page.getByRole('navigation').count(), 0)
})

t.test('opens for a management key', { skip }, async (t) => {
  await opened().signIn()
  t.match(opened().page.url(), '/dashboard/')
})

t.test('lets another key in, in another window', { skip }, async (t) => {
  const dashboard = opened()
  const { managementKey } = dashboard
  const made = await dashboard.call('keys', managementKey, { body: { name: 'short', kind: 'management' } })
  const { key, data } = JSON.parse(made.body) as { key: string; data: { hash: string } }
  other = await dashboard.browser.newPage()
  await other.goto(dashboard.url)
  await other.getByLabel('Management key').fill(key)
  await other.keyboard.press('Enter')
  await other.getByText('Event-loop delay').waitFor()
  t.equal((await dashboard.call(`keys/${data.hash}`, managementKey, { method: 'DELETE' })).status, 200)
})

t.test('shows figures that move under load, the operation that is called among them', { skip }, async (t) => {
  const dashboard = opened()
  const { page, inferenceKey } = dashboard
  await page
    .getByText('Nothing hurts.')
    .or(page.getByRole('region', { name: 'What hurts' }))
    .first()
    .waitFor()
  await until('nothing is called', async () => /^0\/s/.test(await rate(dashboard)))
  const load = callAgainAndAgain(() => dashboard.call('embeddings', inferenceKey, embeddings))
  try {
    await until('a rate is shown', async () => !/^0\/s/.test(await rate(dashboard)))
    await page
      .getByRole('table', { name: 'Requests by operation' })
      .getByRole('row', { name: /^embeddings\.create/ })
      .waitFor()
    await page.getByRole('img', { name: /^Requests a second\. Last: all [1-9]/ }).waitFor()
  } finally {
    await load.end()
  }
  t.equal(await page.locator('.uplot canvas').count(), 3)
})

t.test(
  'tells how many calls are refused and why, and leads to where that can be mended',
  { skip },
  async (t) => {
    const dashboard = opened()
    const { page, inferenceKey } = dashboard
    const load = callAgainAndAgain(() =>
      dashboard.call('embeddings', `${inferenceKey.slice(0, -2)}zz`, embeddings),
    )
    const finding = page.getByRole('listitem').filter({ hasText: 'most of them with key_unknown' })
    try {
      await finding.waitFor()
      await until(
        'the tile counts them',
        async () =>
          !/^0\/s/.test(await page.locator('.tile', { hasText: 'Refused (4xx)' }).locator('dd').innerText()),
      )
      const item = await finding.elementHandle()
      const text = await finding.innerText()
      const good = callAgainAndAgain(() => dashboard.call('embeddings', inferenceKey, embeddings))
      try {
        await until('its figures change', async () => (await finding.innerText()) !== text)
      } finally {
        await good.end()
      }
      t.equal(await item?.isVisible(), true, 'who is about to click it still has it')
      await finding.getByRole('link', { name: 'Look at keys' }).click()
    } finally {
      await load.end()
    }
    await page.locator('h1:focus', { hasText: 'Keys' }).waitFor()
  },
)

t.test('says that an address leads to no page', { skip }, async (t) => {
  const dashboard = opened()
  const { page } = dashboard
  await page.evaluate("location.hash = '#/nowhere?x=1'")
  await page.locator('h1:focus', { hasText: 'No such page' }).waitFor()
  t.equal(await page.locator('nav [aria-current]').count(), 0)
  await page.getByRole('link', { name: 'To the page Now' }).click()
  await page.locator('h1:focus', { hasText: 'Now' }).waitFor()
})

t.test('tells in a plot what was when, under the pointer', { skip }, async (t) => {
  const { page } = opened()
  const plot = page.locator('.plot').first()
  t.notMatch(await plot.locator('.legend').innerText(), /\d\d:\d\d:\d\d/)
  await plot.locator('.u-over').hover()
  await plot.locator('.legend', { hasText: /\d\d:\d\d:\d\d/ }).waitFor()
  await page.mouse.move(0, 0)
  await plot.locator('.legend', { hasNotText: /\d\d:\d\d:\d\d/ }).waitFor()
})

t.test(
  'says how old its figures are while the node stands still, and goes on when it does',
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

t.test('says that a list cannot be had, and has it when it is asked again', { skip }, async (t) => {
  const dashboard = opened()
  const { page } = dashboard
  await page.route('**/api/v1/keys*', (route) => route.abort())
  await dashboard.visit('Keys')
  await page.getByRole('alert').getByText('The node cannot be reached.').waitFor()
  await page.unroute('**/api/v1/keys*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('table', { name: 'API keys' }).waitFor()
  t.equal(await page.getByRole('alert').count(), 0)
})

t.test('creates a key that is shown once and works, and deletes it', { skip }, async (t) => {
  const dashboard = opened()
  const { page } = dashboard
  await page.getByRole('button', { name: 'Create a key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create a key' })
  await dialog.getByLabel('Name').fill('made in the browser')
  await dialog.getByLabel('Limit in USD').fill('25')
  await dialog.getByRole('button', { name: 'Create' }).click()
  const box = page.getByLabel('API key made in the browser')
  const key = await box.inputValue()
  await page.setViewportSize({ width: 380, height: 800 })
  const hidden =
    '(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) => [scrollWidth - clientWidth, scrollHeight - clientHeight])'
  t.same(await page.evaluate<number[]>(`${hidden}(document.querySelector('dialog textarea'))`), [0, 0])
  await showAs(page, LOOKS[0])
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByText('Copied.').waitFor()
  t.equal(await page.evaluate<string>('navigator.clipboard.readText()'), key)
  await page.getByRole('button', { name: 'Done' }).click()
  t.notMatch(await page.content(), key)
  t.equal((await dashboard.call('embeddings', key, embeddings)).status, 200)
  const row = page.getByRole('row', { name: /made in the browser/ })
  t.match(await row.innerText(), /active[\s\S]*of \$25\.00/)
  await row.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the key' }).click()
  await page.getByText('made in the browser is deleted.').waitFor()
  await row.waitFor({ state: 'detached' })
  await until(
    'the key is refused',
    async () => (await dashboard.call('embeddings', key, embeddings)).status === 401,
  )
})

t.test('tells at the field what is wrong with it, as the API says it', { skip }, async (t) => {
  const { page } = opened()
  await page.getByRole('button', { name: 'Create a key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('late')
  await dialog.getByLabel('Expires').fill('2001-01-01T00:00')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByRole('alert').waitFor()
  t.equal(await dialog.getByLabel('Expires').getAttribute('aria-invalid'), 'true')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Create a key' }).and(page.locator(':focus')).waitFor()
})

t.test('disables a key and enables it, and rotates it', { skip }, async (t) => {
  const dashboard = opened()
  const { page, managementKey } = dashboard
  const made = JSON.parse(
    (await dashboard.call('keys', managementKey, { body: { name: 'turned' } })).body,
  ) as { key: string }
  await page.getByLabel('Disabled ones, too').check()
  const row = page.getByRole('row', { name: /turned/ })
  await row.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await row.getByText('disabled').waitFor()
  await until('it is refused', async () => (await dashboard.call('models/count', made.key)).status !== 200)
  await row.getByRole('button', { name: 'Enable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click()
  await row.getByText('active').waitFor()
  await row.getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Make a new key' }).click()
  const next = await page.getByLabel('API key turned').inputValue()
  await page.getByRole('button', { name: 'Done' }).click()
  t.equal((await dashboard.call('embeddings', next, embeddings)).status, 200)
  t.not(next, made.key)
})

t.test('sets a budget, and lowers it until a call is refused', { skip }, async (t) => {
  const dashboard = opened()
  const { page, inferenceKey } = dashboard
  await dashboard.visit('Spend')
  await page.getByRole('button', { name: 'Set a budget' }).click()
  await page.getByLabel('Limit in USD each month').fill('1000')
  await page.getByRole('dialog').getByRole('button', { name: 'Set' }).click()
  const row = page
    .getByRole('table', { name: 'Budgets of workspaces' })
    .getByRole('row', { name: /each month/ })
  await row.getByText('of $1,000.00').waitFor()
  t.equal((await dashboard.call('embeddings', inferenceKey, embeddings)).status, 200)
  await row.getByRole('button', { name: /^Change/ }).click()
  await page.getByLabel('Limit in USD each month').fill('0.001')
  await page.getByRole('dialog').getByRole('button', { name: 'Change' }).click()
  await row.getByText('of $0.001').waitFor()
  await until('the call is refused', async () =>
    [402, 403].includes((await dashboard.call('embeddings', inferenceKey, embeddings)).status),
  )
  await row.getByRole('button', { name: /^Delete/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the budget' }).click()
  await row.waitFor({ state: 'detached' })
  await until(
    'calls are answered',
    async () => (await dashboard.call('embeddings', inferenceKey, embeddings)).status === 200,
  )
})

t.test('shows what was spent, by model, key and workspace, and adds credit', { skip }, async (t) => {
  const dashboard = opened()
  const { page } = dashboard
  const spent = page.getByRole('region', { name: 'Where it went' })
  await until('the books have it', async () => {
    await dashboard.visit('Keys')
    await dashboard.visit('Spend')
    await until('it is loaded', async () => (await page.locator('.waiting').count()) === 0)
    return (await spent.getByRole('row', { name: new RegExp(PRICED_MODEL) }).count()) === 1
  })
  const asked: string[] = []
  const hear = (request: Request): void =>
    void asked.push(new URL(request.url()).pathname.replace(/^\/api\/v1|[0-9a-f-]{36}/g, ''))
  page.on('request', hear)
  const before = await page.locator('.head time').getAttribute('datetime')
  await page.getByRole('button', { name: 'Reload' }).click()
  await until(
    'all is of another moment',
    async () => (await page.locator('.head time').getAttribute('datetime')) !== before,
  )
  page.off('request', hear)
  t.same(asked.sort(), ['/activity', '/credits', '/keys', '/workspaces//budgets'])
  await spent.getByLabel('By', { exact: true }).selectOption('key')
  await spent
    .getByRole('row', { name: /sk-sluice-v1-/ })
    .first()
    .waitFor()
  await spent.getByLabel('By', { exact: true }).selectOption('workspace')
  await spent.getByRole('row', { name: /100 %/ }).waitFor()
  t.match(page.url(), /#\/spend\?.*by=workspace/)
  await page.getByRole('button', { name: 'Add credit' }).click()
  await page.getByLabel('Amount in USD').fill('500')
  await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('$500.00 of credit are added.').waitFor()
  await page.getByText('Credit is unlimited').waitFor({ state: 'detached' })
})

t.test('books credit once, though the answer to the first press was lost', { skip }, async (t) => {
  const dashboard = opened()
  const { page, managementKey } = dashboard
  const credit = async (): Promise<number> =>
    (JSON.parse((await dashboard.call('credits', managementKey)).body) as { data: { total_credits: number } })
      .data.total_credits
  const before = await credit()
  await page.getByRole('button', { name: 'Add credit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Amount in USD').fill('7')
  const lose = async (route: Route): Promise<void> => {
    if (route.request().method() !== 'POST') return route.fallback()
    await route.fetch()
    await route.abort()
  }
  await page.route('**/api/v1/credits', lose)
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByRole('alert').getByText('The node cannot be reached.').waitFor()
  await page.unroute('**/api/v1/credits', lose)
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('$7.00 of credit are added.').waitFor()
  t.equal((await credit()) - before, 7)
})

t.test('is not ended by a late refusal of the session before', { skip }, async () => {
  const { page, managementKey } = opened()
  let refuse = (): void => undefined
  const held = new Promise<void>((resolve) => (refuse = resolve))
  const hold = async (route: Route): Promise<void> => {
    if (route.request().method() !== 'POST') return route.fallback()
    await held
    await route.fulfill({
      status: 401,
      json: { error: { code: 401, message: 'This API key is not known.' } },
    })
  }
  await page.route('**/api/v1/credits', hold)
  await page.getByRole('button', { name: 'Add credit' }).click()
  await page.getByRole('dialog').getByLabel('Amount in USD').fill('1')
  const asked = page.waitForRequest((request) => request.method() === 'POST')
  await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click()
  await asked
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Management key').fill(managementKey)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Add credit' }).waitFor()
  const refused = page.waitForResponse((response) => response.status() === 401)
  refuse()
  await (await refused).finished()
  await page.unroute('**/api/v1/credits', hold)
  const before = await page.locator('.head time').getAttribute('datetime')
  await page.getByRole('button', { name: 'Reload' }).click()
  await until(
    'it is loaded anew',
    async () => (await page.locator('.head time').getAttribute('datetime')) !== before,
  )
})

t.test('is led by the keyboard, and keeps what the address says', { skip }, async (t) => {
  const { page } = opened()
  await page.keyboard.press('Escape')
  await page.locator('h1').focus()
  await page.keyboard.press('g')
  await page.keyboard.press('k')
  await page.locator('h1:focus', { hasText: 'Keys' }).waitFor()
  await page.goBack()
  await page.locator('h1:focus', { hasText: 'Spend' }).waitFor()
  t.equal(await page.getByLabel('By', { exact: true }).inputValue(), 'workspace')
  const first = "document.querySelector('a, button, select, input')"
  t.equal(await page.evaluate<string>(`${first}.textContent`), 'Skip to the page')
  await page.evaluate(`${first}.focus()`)
  await page.keyboard.press('Enter')
  await page.locator('h1:focus').waitFor()
})

for (const title of ['Now', 'Spend', 'Keys'])
  t.test(
    `${title} can be read and used by everybody: in the light, in the dark, and on a telephone`,
    { skip },
    async (t) => {
      const dashboard = opened()
      const { page } = dashboard
      await dashboard.visit(title)
      t.same(await findingsInAllLooks(page), [])
      await page.setViewportSize({ width: 380, height: 800 })
      t.equal(await overflowOf(page), 0)
    },
  )

t.test('asks nobody else for anything, and has no error', { skip }, async (t) => {
  const { seen } = opened()
  t.same(seen.abroad, [])
  t.same(seen.errors, [])
})

t.test('has ended the session of a key that was deleted meanwhile', { skip }, async (t) => {
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
