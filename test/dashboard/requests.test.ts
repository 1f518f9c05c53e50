import { readFileSync } from 'node:fs'
import t from 'tap'
import { insertRequests } from '../../src/server/store/requests/request-rows.ts'
import { skipWithoutBrowser } from '../support/wire/browser.ts'
import {
  cutFilters,
  findingsInNextLook,
  openDashboard,
  openTables,
  overflowOf,
  PRICED_MODEL,
  type Dashboard,
} from '../support/operator/dashboard.ts'
import { present } from '../support/must.ts'
import { until } from '../support/nodes/node.ts'
import { batchOfCalls, KEY_HASH } from '../support/requests/settled-call.ts'

t.setTimeout(600_000)

const skip = skipWithoutBrowser
const dashboard = skip === false ? await openDashboard(t) : null
/** Before the page made a look for new calls. */
const startedMs = Date.now()
await dashboard?.signIn()
const opened = (): Dashboard => present(dashboard)
/** More than one answer has: it ends by its bytes. */
const OLD_CALLS = 1_200

/** Milliseconds by which a look of the page overlaps the one before. */
const LATE_MS = 5_000

/** Pixels by which the list is wider than its box. */
const LOG_BEYOND =
  "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.log'))"

t.test('new calls appear without a reload, and can be found by their error', { skip }, async (t) => {
  const { page, visit, call, inferenceKey } = opened()
  await visit('Requests')
  t.equal(
    (await call('embeddings', inferenceKey, { body: { model: PRICED_MODEL, input: 'seven' } })).status,
    200,
  )
  await call('embeddings', inferenceKey, { body: { model: 'nobody/nothing', input: 'canary-text' } })
  const row = page.getByRole('row', { name: /model_unknown/ })
  await row.waitFor()
  await page.getByRole('row', { name: /embeddings\.create.*test\/priced/ }).waitFor()
  await page.getByLabel('Error').fill('model_unknown')
  await page.getByRole('row', { name: /test\/priced/ }).waitFor({ state: 'detached' })
  t.match(page.url(), /error_type=model_unknown/)
  t.notMatch(await page.content(), 'canary-text')
  await page.getByLabel('Error').fill('')
})

t.test('a click in a row opens the details of the call, with links', { skip }, async (t) => {
  const { page } = opened()
  await page
    .getByRole('row', { name: /test\/priced/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog', { name: 'embeddings.create 200' })
  await dialog.waitFor()
  t.match(await dialog.innerText(), /Key[\s\S]*Body and checks[\s\S]*Reservation[\s\S]*Charged[\s\S]*\$0\.00/)
  const command = await dialog.getByLabel('Command to repeat this call', { exact: true }).inputValue()
  t.match(command, /^curl "\$SLUICE_URL\/api\/v1\/embeddings"/)
  await page.evaluate(
    "Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })",
  )
  await dialog.getByRole('button', { name: 'Copy' }).click()
  await dialog.getByText('The text is selected').waitFor()
  const selected = `(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(
    document.querySelector('dialog textarea'))`
  t.equal(await page.evaluate<string>(selected), command)
  t.ok(await dialog.getByRole('link', { name: 'Changes made by this key' }).isVisible())
  t.same(await findingsInNextLook(page), [])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page
    .getByRole('row', { name: /model_unknown/ })
    .getByRole('link')
    .focus()
  await page.keyboard.press('Enter')
  const failed = page.getByRole('dialog', { name: 'embeddings.create 404' })
  const docs = failed.getByRole('link', { name: 'Cause and fix' })
  t.equal(await docs.getAttribute('href'), '/docs/errors/model_unknown')
  t.equal((await fetch(new URL('/docs/errors/model_unknown', page.url()))).status, 200)
  await page.keyboard.press('Escape')
  await failed.waitFor({ state: 'detached' })
})

t.test('the list scrolls with any number of rows, and draws only the visible ones', { skip }, async (t) => {
  const { page } = opened()
  const { store, organizationId } = await openTables(t, opened())
  const calls = Array.from({ length: OLD_CALLS }, (_, n) => ({
    organizationId,
    keyHash: KEY_HASH,
    requestId: `old-${n}`,
    endedMs: startedMs - 60_000 - n,
  }))
  await insertRequests(store, batchOfCalls(...calls))
  await page.getByLabel('Key').fill(KEY_HASH)
  const log = page.getByRole('region', { name: 'Calls, newest first' })
  const rows = async (): Promise<number> =>
    Number(await log.locator('table').getAttribute('aria-rowcount')) - 1
  await log.locator('[title*="old-0"]').first().waitFor()
  await until('the first answer is there', async () => (await rows()) > 100)
  t.ok((await log.locator('tbody tr').count()) < 100, 'the others are not drawn')
  await until('the end is reached', async () => {
    await page.evaluate("document.querySelector('.log').scrollTo(0, 1e9)")
    return (await rows()) === OLD_CALLS
  })
  await log.locator(`[title*="old-${OLD_CALLS - 1}"]`).waitFor()
  t.equal(await overflowOf(page), 0)
  t.same(await findingsInNextLook(page), [])
  await page.getByLabel('Key').fill('')
})

t.test('a search without results says so, and a refresh reads only new calls', { skip }, async (t) => {
  const { page, seen } = opened()
  await page.getByLabel('Model').fill('nobody/nothing')
  await page.getByText('No calls match.').waitFor()
  const look = await page.waitForRequest((request) => /admin\/requests\?.*nothing/.test(request.url()))
  const from = Date.parse(new URL(look.url()).searchParams.get('from') ?? '')
  t.ok(from >= startedMs - LATE_MS, 'a look reads what has come since, not the whole log')
  await page.getByLabel('Status').fill('what')
  await page.getByRole('alert').waitFor()
  t.match(await page.getByRole('alert').innerText(), /query parameter/)
  t.same([seen.abroad, seen.errors], [[], []])
})

t.test('duration, tokens and cost fit within 1,280 pixels, and cards within 380', { skip }, async (t) => {
  const { page } = opened()
  await page.evaluate("location.hash = '#/requests'")
  const row = page.locator('.log tbody tr[aria-rowindex]').first()
  await row.waitFor()
  for (const title of ['Duration', 'Tokens', 'Cost']) {
    const box = present((await page.getByRole('columnheader', { name: title }).boundingBox()) ?? undefined)
    t.ok(box.x + box.width <= 1_280, title)
  }
  t.equal(await page.evaluate<number>(LOG_BEYOND), 0)
  t.same(await cutFilters(page), [])
  await page.setViewportSize({ width: 380, height: 800 })
  const card = present((await row.boundingBox()) ?? undefined)
  t.ok(card.height > 90, 'a row is a card')
  t.equal(await page.evaluate<number>(LOG_BEYOND), 0)
  t.equal(await page.getByLabel('Model').isVisible(), false)
  await page.getByRole('button', { name: 'Filters' }).click()
  await page.getByLabel('Model').waitFor()
  t.same(await findingsInNextLook(page), [])
  await page.setViewportSize({ width: 1_280, height: 900 })
})

t.test(
  'filters are in the address, suggestions complete them, and one button clears them',
  { skip },
  async (t) => {
    const { page } = opened()
    await page.evaluate("location.hash = '#/requests?key_name=nothing&show=failed'")
    await until('the field follows', async () => (await page.getByLabel('Key').inputValue()) === 'nothing')
    await page.getByText('No calls match.').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    t.notMatch(page.url(), /key_name|show/)
    await page.getByLabel('Model').fill('pric')
    await page.getByRole('option', { name: PRICED_MODEL }).waitFor()
    t.same(await findingsInNextLook(page), [])
    await page.getByLabel('Model').press('ArrowDown')
    await page.getByLabel('Model').press('Enter')
    await page.waitForURL(({ hash }) => hash.includes(encodeURIComponent(PRICED_MODEL)))
    t.equal(await page.getByLabel('Model').inputValue(), PRICED_MODEL)
  },
)

t.test('the calls that match the filters are exported as a file', { skip }, async (t) => {
  const { page, seen } = opened()
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Export calls' })
  await dialog.getByLabel('Format').selectOption('csv')
  const coming = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Export', exact: true }).click()
  const file = await coming
  t.equal(file.suggestedFilename(), 'requests.csv')
  const [head = '', ...lines] = readFileSync(await file.path(), 'utf8')
    .trimEnd()
    .split('\r\n')
  t.match(head, /^id,request_id/)
  t.ok(lines.length > 0 && lines.every((line) => line.includes(PRICED_MODEL)))
  await dialog.waitFor({ state: 'detached' })
  t.same([seen.abroad, seen.errors], [[], []])
})
