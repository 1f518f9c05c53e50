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

/** A name that must be shown as text. */
const NAME = '<img src=x onerror=alert(1)> & co'
const LIMIT_USD = 0.05
/** 15 tokens at 0.001 USD. A call may cost a token for each byte: the limit refuses the second or third call. */
const INPUT = Array.from({ length: 15 }, () => 'a').join(' ')
const SECRET = 'canary-of-the-vault'

interface Stand {
  readonly dashboard: Dashboard
  /** Of a key whose limit has refused a call. */
  readonly hash: string
  readonly workspaceId: string
}

/** Calls of a key until its limit refuses them, a secret, a key for a provider and a preset. */
async function open(): Promise<Stand> {
  // A node of its own: its budget and its limit have the spend of these tests alone.
  const dashboard = await openDashboard(t, {})
  const { call, managementKey, inferenceKey } = dashboard
  const manage = async (path: string, more: object): Promise<Readonly<Record<string, unknown>>> => {
    const { status, body } = await call(path, managementKey, more)
    if (status >= 300) throw new Error(`${path}: ${status} ${body}`)
    return JSON.parse(body) as Readonly<Record<string, unknown>>
  }
  const made = await manage('keys', { body: { name: NAME, limit: LIMIT_USD } })
  const { hash, workspace_id: workspaceId } = made['data'] as Record<'hash' | 'workspace_id', string>
  const body = { model: PRICED_MODEL, input: INPUT }
  await until(
    'the limit refuses a call',
    async () => (await call('embeddings', String(made['key']), { body })).status === 403,
  )
  await manage(`workspaces/${workspaceId}/budgets/monthly`, { method: 'PUT', body: { limit_usd: 25 } })
  const secret = { hosts: ['api.github.com'], value: SECRET }
  const put = await call('vault/secrets/github_token', inferenceKey, { method: 'PUT', body: secret })
  if (put.status !== 200) throw new Error(put.body)
  await manage('byok', { body: { provider: 'openai', key: SECRET } })
  await dashboard.signIn()
  return { dashboard, hash, workspaceId }
}

const skip = skipWithoutBrowser
const stand = skip === false ? await open() : null
const opened = (): Stand => present(stand)
const page = () => opened().dashboard.page
const headed = (text: string) => page().locator('h1', { hasText: text }).waitFor()
const goTo = (address: string): Promise<unknown> => page().evaluate(`location.hash = '#/${address}'`)

t.test('says that an id is unknown, and still searches for its calls', { skip }, async (t) => {
  for (const [address, title] of [
    [`key?id=${'0'.repeat(64)}`, 'Key'],
    ['key?id=..%2F..%2Fworkspaces%3Fx%23y', 'Key'],
    ['model?id=nobody%2Fnothing', 'Model nobody/nothing'],
    ['model?id=%3Cb%3E', 'Model <b>'],
    ['workspace?id=nobody', 'Workspace'],
  ] as const) {
    await goTo(address)
    await headed(title)
    await page().getByRole('alert').first().waitFor()
    t.equal(await page().getByText('This page could not be displayed').count(), 0, address)
  }
  for (const address of ['key', 'model?id=', 'workspace?name=x']) {
    await goTo(address)
    await headed('Page not found')
  }
  await goTo('provider?id=nobody')
  await headed('Provider nobody')
  await page().getByText('no calls yet').waitFor()
  await page().getByText('No calls in the request log.').waitFor()
})

t.test('a key can be opened by a click in its row, and by the keyboard', { skip }, async (t) => {
  const { dashboard } = opened()
  await dashboard.visit('Keys')
  const row = page().getByRole('row', { name: /co inference/ })
  await row.getByText('active').click()
  await headed(`Key ${NAME}`)
  t.equal(await page().locator('main img').count(), 0)
  t.equal(await page().locator('nav [aria-current]').innerText(), 'Keys')
  t.equal(await page().title(), `Key ${NAME} – Sluice`)
  await page().goBack()
  await row.getByRole('link', { name: NAME }).focus()
  await page().keyboard.press('Enter')
  await headed(`Key ${NAME}`)
})

t.test(
  'a key shows its limit with a burn-down, its errors with remedies, its calls and its spend',
  { skip },
  async (t) => {
    const { hash } = opened()
    const about = page().getByRole('region', { name: 'Key', exact: true })
    await about.getByText(/of \$0\.05 \(lifetime\)/).waitFor()
    await about
      .getByText(/^refusing calls now \(\d+ in the last hour\)|^\d+ calls? refused in the last hour/)
      .waitFor()
    t.equal(await about.locator('.burn path').count(), 2, 'no forecast')
    const errors = page().getByRole('region', { name: 'Errors' })
    const refused = errors.getByRole('row', { name: /key lifetime/ })
    await refused.waitFor()
    const help = await refused.getByRole('link', { name: 'Cause and fix' }).getAttribute('href')
    t.equal((await fetch(new URL(help ?? '', page().url()))).status, 200)
    await page()
      .getByRole('region', { name: 'Last calls' })
      .getByRole('row', { name: /test\/priced/ })
      .first()
      .waitFor()
    t.equal(
      await page()
        .getByRole('region', { name: 'Last calls' })
        .getByRole('columnheader', { name: 'Key' })
        .count(),
      0,
      'it stands above them',
    )
    await until('the books have it', async () => {
      await page().getByLabel('Time').selectOption('7')
      await page().getByLabel('Time').selectOption('31')
      await until('it is loaded', async () => (await page().locator('.waiting').count()) === 0)
      return (await page().getByRole('table', { name: 'Spend by model' }).count()) === 1
    })
    await page()
      .getByRole('table', { name: 'Spend by model' })
      .getByRole('link', { name: PRICED_MODEL })
      .waitFor()
    const traffic = page().getByRole('region', { name: 'Traffic' })
    for (const metric of ['requests', 'refused', 'latency', 'cost']) {
      await page().getByLabel('Figure').selectOption(metric)
      await traffic.getByRole('application').waitFor()
    }
    t.match(page().url(), new RegExp(`#/key\\?id=${hash}.*metric=cost`))
  },
)

t.test('the dialog of a call links to its key, model, provider and workspace', { skip }, async () => {
  for (const [fact, heading] of [
    ['Provider', 'Provider local'],
    ['Model', `Model ${PRICED_MODEL}`],
    ['Workspace', 'Workspace Default'],
    ['Key', `Key ${NAME}`],
  ] as const) {
    await goTo(`requests?key=${opened().hash}&model=test%2Fpriced&status=200`)
    await page().getByRole('region', { name: 'Calls, newest first' }).getByRole('link').first().click()
    const dialog = page().getByRole('dialog')
    await dialog.locator('dt', { hasText: fact }).locator('+ dd').getByRole('link').first().click()
    await headed(heading)
    await dialog.waitFor({ state: 'detached' })
  }
})

t.test('a model shows its providers, traffic, errors and spend', { skip }, async () => {
  await goTo(`model?id=${PRICED_MODEL}`)
  await page()
    .getByRole('table', { name: /^Endpoints of/ })
    .getByRole('link', { name: 'Sluice' })
    .waitFor()
  await page()
    .getByRole('region', { name: 'Traffic' })
    .getByRole('application', { name: /^Requests per second/ })
    .waitFor()
  await page()
    .getByRole('table', { name: 'Spend by key' })
    .getByRole('link', { name: /co sk-sluice/ })
    .waitFor()
  await page().getByLabel('By', { exact: true }).selectOption('workspace')
  await page()
    .getByRole('table', { name: 'Spend by workspace' })
    .getByRole('link', { name: 'Default' })
    .waitFor()
})

t.test('a provider shows its state, its traffic and its models', { skip }, async () => {
  await goTo('models')
  await page()
    .getByRole('table', { name: 'Providers with calls' })
    .getByRole('link', { name: 'local' })
    .click()
  await headed('Provider local')
  await page().getByRole('region', { name: 'Health' }).getByText('requests/s').waitFor()
  await page()
    .getByRole('table', { name: 'Models', exact: true })
    .getByRole('link', { name: 'Priced' })
    .waitFor()
  await page().getByRole('link', { name: 'Last 31 days, hourly' }).click()
  await page().waitForURL(/metric=cost/)
  await page().locator('option[value=cost]:checked').waitFor({ state: 'attached' })
})

t.test('a workspace shows its objects: secrets by name and host, without values', { skip }, async (t) => {
  const { dashboard, workspaceId } = opened()
  await dashboard.visit('Workspaces')
  await page()
    .getByRole('row', { name: /Default/ })
    .getByText('default', { exact: true })
    .first()
    .click()
  await headed('Workspace Default')
  t.match(page().url(), `id=${workspaceId}`)
  const part = (name: string) => page().getByRole('region', { name, exact: true })
  await part('Keys').getByRole('link', { name: NAME }).waitFor()
  await part('Budgets').getByText('of $25.00').waitFor()
  await part('Secrets')
    .getByRole('row', { name: /github_token api\.github\.com/ })
    .waitFor()
  await part('Provider keys').getByRole('link', { name: 'openai' }).waitFor()
  await part('Members').getByText('The workspace has no members.').waitFor()
  await part('Presets').getByText('No presets.').waitFor()
  t.notMatch(await page().content(), SECRET)
  await part('Webhooks').getByRole('button', { name: 'Send test' }).click()
  await page().getByRole('dialog').getByRole('button', { name: 'Send' }).click()
  await page().getByRole('dialog').getByRole('alert').waitFor()
  await page().keyboard.press('Escape')
})

t.test('spend is stacked by day, and limits show their forecasts', { skip }, async (t) => {
  const { dashboard } = opened()
  await dashboard.visit('Spend')
  const limits = page().getByRole('region', { name: 'Key limits' })
  await limits
    .getByRole('row', {
      name: /of \$0\.05.*(?:refusing calls now \(\d+|\d+ calls? refused) in the last hour/,
    })
    .waitFor()
  await page().getByText('Forecasts extend your average daily spend of the last seven days').waitFor()
  await page()
    .getByRole('table', { name: 'Workspace budgets' })
    .getByText(/at the end, in|no spend/)
    .waitFor()
  const spent = page().getByRole('region', { name: 'Spend breakdown' })
  const chart = spent.getByRole('application', { name: /^Daily/ })
  await chart.locator('.bars path').first().waitFor({ state: 'attached' })
  await chart.focus()
  await page().keyboard.press('End')
  t.match(await chart.locator('[aria-live]').innerText(), /^\d\d-\d\d: test\/priced \$0\.0\d/)
  await page().keyboard.press('Shift+ArrowLeft')
  t.equal(await chart.locator('.marked').count(), 0, 'a range of it is not chosen')
  await spent.getByLabel('By', { exact: true }).selectOption('key')
  await spent
    .getByRole('table', { name: 'Spend by key' })
    .getByRole('link', { name: /co sk-sluice/ })
    .click()
  await headed(`Key ${NAME}`)
})

const WORKSPACE = 'Workspace Default'

/** Texts of the cells of a kind that their column cuts. */
const cutCells = (kind: string): Promise<readonly string[]> =>
  page().evaluate<readonly string[]>(`[...document.querySelectorAll('.fixed :is(th, td).c-${kind}')]
    .flatMap((cell) => [cell, ...cell.querySelectorAll(':scope > div')])
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ textContent }) => textContent)`)

t.test('the last calls of a workspace show their status and duration in full', { skip }, async (t) => {
  const { workspaceId } = opened()
  await goTo(`workspace?id=${workspaceId}`)
  await headed(WORKSPACE)
  await page().getByRole('table', { name: 'Last calls' }).waitFor()
  for (const kind of ['ended', 'status', 'duration', 'cost']) t.same(await cutCells(kind), [], kind)
})

t.test('a card wraps a long column title, and leaves out an empty error', { skip }, async (t) => {
  await goTo(`model?id=${encodeURIComponent(PRICED_MODEL)}`)
  await headed(`Model ${PRICED_MODEL}`)
  await page().getByRole('table', { name: 'Last calls' }).waitFor()
  await page().locator('td.n[data-title^="Input per"]').first().waitFor()
  await page().setViewportSize({ width: 380, height: 800 })
  const wrap = `getComputedStyle(document.querySelector('td.n[data-title^="Input per"]'), '::before').whiteSpace`
  t.equal(await page().evaluate<string>(wrap), 'normal')
  const errors = page().locator('td.c-error')
  t.equal(await errors.locator('visible=true').filter({ hasText: /^$/ }).count(), 0)
  t.not(await errors.filter({ hasText: /^$/ }).count(), 0)
  await showAs(page(), LOOKS[0])
})

for (const [name, address, title] of [
  ['key', () => `key?id=${opened().hash}`, `Key ${NAME}`],
  ['model', () => `model?id=${PRICED_MODEL}`, `Model ${PRICED_MODEL}`],
  ['provider', () => 'provider?id=local', 'Provider local'],
  ['workspace', () => `workspace?id=${opened().workspaceId}`, WORKSPACE],
  ['workspaces', () => 'workspaces', 'Workspaces'],
  ['spend', () => 'spend', 'Spend'],
] as const)
  t.test(`the page of a ${name} is accessible in light and dark mode and on a phone`, { skip }, async (t) => {
    await goTo(address())
    await headed(title)
    await page().locator('.panel').first().waitFor()
    t.same(await findingsInNextLook(page()), [])
    await page().setViewportSize({ width: 380, height: 800 })
    t.equal(await overflowOf(page()), 0)
    await page().setViewportSize({ width: 1_280, height: 900 })
  })

t.test('calls no other host and logs no error', { skip }, async (t) => {
  const { seen } = opened().dashboard
  t.same([seen.abroad, seen.errors], [[], []])
})
