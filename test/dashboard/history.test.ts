import t from 'tap'
import { skipWithoutBrowser } from '../support/wire/browser.ts'
import {
  cutFilters,
  findingsInNextLook,
  openDashboard,
  overflowOf,
  PRICED_MODEL,
  type Dashboard,
} from '../support/operator/dashboard.ts'
import { present } from '../support/must.ts'
import { until } from '../support/nodes/node.ts'

t.setTimeout(600_000)

const CALLS = 12
/** Points by which a range is marked. */
const MARKED = 20

const skip = skipWithoutBrowser
const dashboard = skip === false ? await openDashboard(t) : null
const opened = (): Dashboard => present(dashboard)
const chart = () => opened().page.getByRole('application')

t.test('the page Now shows calls from before it was opened', { skip }, async (t) => {
  const dashboard = opened()
  const { page, inferenceKey } = dashboard
  for (let nth = 0; nth < CALLS; nth++)
    await dashboard.call('embeddings', inferenceKey, { body: { model: PRICED_MODEL, input: 'seven' } })
  await dashboard.call('embeddings', `${inferenceKey.slice(0, -2)}zz`, { body: {} })
  await dashboard.signIn()
  await page.getByLabel('Lines', { exact: true }).selectOption('status')
  await until('the calls are drawn', async () => {
    await page.getByLabel('Range').selectOption('quarter')
    return /2xx .*4xx/.test((await chart().getAttribute('aria-label')) ?? '')
  })
  t.equal(await chart().locator('.lines path').count(), 3)
})

for (const [by, name] of [
  ['operation', /embeddings\.create/],
  ['provider', /local/],
  ['model', /test\/priced/],
  ['key', /first|Default|k/i],
] as const)
  t.test(`has a line for each ${by}`, { skip }, async () => {
    await opened().page.getByLabel('Lines', { exact: true }).selectOption(by)
    await opened()
      .page.getByRole('group', { name: 'Visible lines' })
      .getByRole('button', { name })
      .first()
      .waitFor()
  })

t.test('p50, p90 and p99 are lines, and each can be hidden', { skip }, async (t) => {
  const { page } = opened()
  await page.getByLabel('Lines', { exact: true }).selectOption('all')
  await page.getByLabel('Figure').selectOption('latency')
  const lines = page.getByRole('group', { name: 'Visible lines' })
  await lines.getByRole('button', { name: 'p99' }).click()
  await chart().locator('.lines path').nth(2).waitFor({ state: 'detached' })
  await lines.getByRole('button', { name: 'p99' }).click()
  t.equal(await lines.getByRole('button', { pressed: true }).count(), 3)
})

t.test('a range can be selected and reset by the keyboard alone', { skip }, async (t) => {
  const { page } = opened()
  await chart().focus()
  await page.keyboard.press('End')
  for (let nth = 0; nth < MARKED; nth++) await page.keyboard.press('Shift+ArrowLeft')
  await chart().locator('.marked').waitFor()
  t.match(await chart().locator('[aria-live]').innerText(), /^\d\d:\d\d:\d\d: p50/)
  await page.keyboard.press('Enter')
  await page.waitForURL(/from=.*to=/)
  const query = new URLSearchParams(page.url().replace(/.*\?/, ''))
  const seconds = (Date.parse(query.get('to') ?? '') - Date.parse(query.get('from') ?? '')) / 1_000
  t.equal(seconds, MARKED + 1)
  await chart().focus()
  await page.keyboard.press('Escape')
  await page.waitForURL((url) => !url.hash.includes('from='))
})

t.test('a range can be selected by dragging', { skip }, async (t) => {
  const { page } = opened()
  await chart().locator('.lines path').first().waitFor({ state: 'attached' })
  const box = present(await chart().boundingBox())
  await page.mouse.move(box.x + box.width * 0.5, box.y + 80)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.75, box.y + 80, { steps: 4 })
  await page.mouse.up()
  await page.waitForURL(/from=.*to=/)
  await page.getByRole('button', { name: 'Until now' }).click()
  await page.waitForURL((url) => !url.hash.includes('from='))
  t.equal(await page.getByLabel('Range').inputValue(), 'quarter')
})

t.test('shows the same figures as a table, with its events', { skip }, async (t) => {
  const { page } = opened()
  await page.getByText('As a table').click()
  const table = page.getByRole('table', { name: /^Latency, the newest 120 points/ })
  await table.waitFor()
  t.equal(await table.getByRole('columnheader').count(), 4)
  await page.getByRole('list', { name: 'Events' }).getByText('start: Sluice').waitFor()
})

t.test('is accessible in light and dark mode and on a phone', { skip }, async (t) => {
  const { page, seen } = opened()
  t.same(await findingsInNextLook(page), [])
  await page.setViewportSize({ width: 380, height: 800 })
  t.equal(await overflowOf(page), 0)
  t.same(await cutFilters(page), [])
  t.same([...seen.errors, ...seen.abroad], [])
})
