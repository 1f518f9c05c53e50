import type { Request, Route } from 'playwright-core'
import t from 'tap'
import { LOOKS, showAs, skipWithoutBrowser } from '../support/wire/browser.ts'
import {
  findingsInNextLook,
  openDashboard,
  overflowOf,
  PRICED_MODEL,
  type Dashboard,
} from '../support/operator/dashboard.ts'
import { present } from '../support/must.ts'
import { until } from '../support/nodes/node.ts'

t.setTimeout(600_000)

const skip = skipWithoutBrowser
const dashboard = skip === false ? await openDashboard(t) : null
await dashboard?.signIn()
const opened = (): Dashboard => present(dashboard)
/** A call that waits for no money. */
const UNPAID = 'models/count'
const embeddings = { body: { model: PRICED_MODEL, input: 'seven' } }

t.test('says that a list cannot be loaded, and loads it when the user tries again', { skip }, async (t) => {
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
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create key' })
  await dialog.getByLabel('Name').fill('made in the browser')
  await dialog.getByLabel('Limit (USD)').fill('25')
  t.ok(await dialog.getByLabel('Burst').isDisabled(), 'without a limit of requests')
  await dialog.getByLabel('Requests per minute').fill('600')
  await dialog.getByLabel('Burst').fill('601')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('exceeds the limit of 600 requests a minute').first().waitFor()
  t.equal(await dialog.getByLabel('Burst').getAttribute('aria-invalid'), 'true')
  await dialog.getByLabel('Burst').fill('50')
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
  t.equal((await dashboard.call(UNPAID, key)).status, 200)
  const row = page.getByRole('row', { name: /made in the browser/ })
  t.match(await row.innerText(), /active[\s\S]*of \$25\.00[\s\S]*600 requests\/min, burst 50/)
  await row.getByText('active').click()
  await page.locator('h1', { hasText: 'Key made in the browser' }).waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete key' }).click()
  await page.getByText('made in the browser deleted.').waitFor()
  await page.locator('h1:focus', { hasText: 'Keys' }).waitFor()
  await page.getByRole('table', { name: 'API keys' }).waitFor()
  t.equal(await row.count(), 0)
  await until('the key is refused', async () => (await dashboard.call(UNPAID, key)).status === 401)
})

t.test('shows an error of the API at its field', { skip }, async (t) => {
  const { page } = opened()
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('late')
  await dialog.getByLabel('Expires').fill('2001-01-01T00:00')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByRole('alert').waitFor()
  t.equal(await dialog.getByLabel('Expires').getAttribute('aria-invalid'), 'true')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Create key' }).and(page.locator(':focus')).waitFor()
})

t.test('disables a key and enables it, and rotates it', { skip }, async (t) => {
  const dashboard = opened()
  const { page, managementKey } = dashboard
  const made = JSON.parse(
    (await dashboard.call('keys', managementKey, { body: { name: 'turned' } })).body,
  ) as { key: string }
  await page.getByLabel('Include disabled keys').check()
  await page
    .getByRole('row', { name: /turned/ })
    .getByRole('link', { name: 'turned' })
    .click()
  await page.locator('h1', { hasText: 'Key turned' }).waitFor()
  const about = page.getByRole('region', { name: 'Key' })
  await about.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await about.getByText('disabled').waitFor()
  await until('it is refused', async () => (await dashboard.call(UNPAID, made.key)).status !== 200)
  await about.getByRole('button', { name: 'Enable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click()
  await about.getByText('active').waitFor()
  await about.getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Create new key' }).click()
  const next = await page.getByLabel('API key turned').inputValue()
  await page.getByRole('button', { name: 'Done' }).click()
  t.equal((await dashboard.call(UNPAID, next)).status, 200)
  t.not(next, made.key)
})

t.test(
  'selected keys are disabled together, and the table shows when keys were last used',
  { skip },
  async () => {
    const dashboard = opened()
    const { page, managementKey } = dashboard
    for (const name of ['twin', 'twin', 'stays'])
      await dashboard.call('keys', managementKey, { body: { name } })
    await dashboard.visit('Spend')
    await dashboard.visit('Keys')
    const table = page.getByRole('table', { name: 'API keys' })
    const twins = table.getByRole('row', { name: /twin …[\w-]{3}/ })
    await twins.nth(1).waitFor()
    await table
      .getByText(/second|minute/)
      .first()
      .waitFor()
    for (const twin of await twins.getByRole('checkbox').all()) await twin.check()
    await page.getByRole('button', { name: 'Disable 2 keys' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable 2 keys' }).click()
    await page.getByText('2 keys disabled.').waitFor()
    await twins.first().waitFor({ state: 'detached' })
    await table.getByRole('row', { name: /stays/ }).waitFor()
  },
)

t.test('sets a budget, and lowers it until a call is refused', { skip }, async () => {
  const dashboard = opened()
  const { page, inferenceKey } = dashboard
  await dashboard.visit('Spend')
  await page.getByRole('button', { name: 'Create budget' }).click()
  await page.getByLabel('Limit (USD)').fill('1000')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  const row = page.getByRole('table', { name: 'Workspace budgets' }).getByRole('row', { name: /monthly/ })
  await row.getByText('of $1,000.00').waitFor()
  const isAnswered = async (): Promise<boolean> =>
    (await dashboard.call('embeddings', inferenceKey, embeddings)).status === 200
  await until('a call is answered', isAnswered)
  await row.getByRole('button', { name: /^Edit/ }).click()
  await page.getByLabel('Limit (USD)').fill('0.001')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await row.getByText('of $0.001').waitFor()
  await until('the call is refused', async () =>
    [402, 403].includes((await dashboard.call('embeddings', inferenceKey, embeddings)).status),
  )
  await row.getByText('monthly').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete budget…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete budget', exact: true }).click()
  await row.waitFor({ state: 'detached' })
  await until('calls are answered', isAnswered)
})

t.test('shows the spend by model, key and workspace, and adds credit', { skip }, async (t) => {
  const dashboard = opened()
  const { page } = dashboard
  const spent = page.getByRole('region', { name: 'Spend breakdown' })
  await until('the books have it', async () => {
    await dashboard.visit('Keys')
    await dashboard.visit('Spend')
    await until('it is loaded', async () => (await page.locator('.waiting').count()) === 0)
    return (await spent.getByRole('row', { name: new RegExp(PRICED_MODEL) }).count()) === 1
  })
  const asked: string[] = []
  const hear = (request: Request): void =>
    void asked.push(new URL(request.url()).pathname.replace(/^\/dashboard\/api\/v1|[0-9a-f-]{36}/g, ''))
  page.on('request', hear)
  const before = await page.locator('.head time').getAttribute('datetime')
  await page.getByRole('button', { name: 'Reload' }).click()
  await until(
    'all is of another moment',
    async () => (await page.locator('.head time').getAttribute('datetime')) !== before,
  )
  page.off('request', hear)
  t.same(asked.sort(), [
    '/activity',
    ...['/admin/requests', '/admin/requests', '/admin/requests'],
    ...['/credits', '/keys', '/workspaces//budgets'],
  ])
  await spent.getByLabel('By', { exact: true }).selectOption('key')
  await spent
    .getByRole('row', { name: /sk-sluice-v1-/ })
    .first()
    .waitFor()
  await spent.getByLabel('By', { exact: true }).selectOption('workspace')
  await spent.getByRole('row', { name: /100 %/ }).waitFor()
  t.match(page.url(), /#\/spend\?.*by=workspace/)
  await page.getByRole('button', { name: 'Add credit' }).click()
  await page.getByLabel('Amount (USD)').fill('500')
  await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('$500.00 of credit added.').waitFor()
  await page.getByText('Credit is unlimited').waitFor({ state: 'detached' })
})

t.test('adds credit once, even if the answer to the first press was lost', { skip }, async (t) => {
  const dashboard = opened()
  const { page, managementKey } = dashboard
  const credit = async (): Promise<number> =>
    (JSON.parse((await dashboard.call('credits', managementKey)).body) as { data: { total_credits: number } })
      .data.total_credits
  const before = await credit()
  await page.getByRole('button', { name: 'Add credit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Amount (USD)').fill('7')
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
  await page.getByText('$7.00 of credit added.').waitFor()
  t.equal((await credit()) - before, 7)
})

t.test('a late refusal of an earlier session does not end the current session', { skip }, async () => {
  const { page, managementKey } = opened()
  let refuse = (): void => undefined
  const held = new Promise<void>((resolve) => (refuse = resolve))
  const hold = async (route: Route): Promise<void> => {
    if (route.request().method() !== 'POST') return route.fallback()
    await held
    await route.fulfill({
      status: 401,
      json: { error: { code: 401, message: 'Invalid API key.' } },
    })
  }
  await page.route('**/api/v1/credits', hold)
  await page.getByRole('button', { name: 'Add credit' }).click()
  await page.getByRole('dialog').getByLabel('Amount (USD)').fill('1')
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
    'it is loaded again',
    async () => (await page.locator('.head time').getAttribute('datetime')) !== before,
  )
})

t.test('works by the keyboard alone, and keeps its state in the address', { skip }, async (t) => {
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
  t.equal(await page.evaluate<string>(`${first}.textContent`), 'Skip to content')
  await page.evaluate(`${first}.focus()`)
  await page.keyboard.press('Enter')
  await page.locator('h1:focus').waitFor()
})

for (const title of ['Keys', 'Spend'])
  t.test(`${title} is accessible in light and dark mode and on a phone`, { skip }, async (t) => {
    const dashboard = opened()
    const { page } = dashboard
    await dashboard.visit(title)
    t.same(await findingsInNextLook(page), [])
    await page.setViewportSize({ width: 380, height: 800 })
    t.equal(await overflowOf(page), 0)
  })

t.test('calls no other host and logs no error', { skip }, async (t) => {
  const { seen } = opened()
  t.same(seen.abroad, [])
  t.same(seen.errors, [])
})
