import t from 'tap'
import { openStore } from '../../src/server/store/base/open.ts'
import { insertRequests } from '../../src/server/store/requests/request-rows.ts'
import { skipWithoutBrowser } from '../support/wire/browser.ts'
import {
  findingsInAllLooks,
  openDashboard,
  overflowOf,
  PRICED_MODEL,
  type Dashboard,
} from '../support/operator/dashboard.ts'
import { present } from '../support/must.ts'
import { until } from '../support/nodes/node.ts'
import { batchOfCalls, KEY_HASH } from '../support/requests/settled-call.ts'

const skip = skipWithoutBrowser
const dashboard = skip === false ? await openDashboard(t) : null
await dashboard?.signIn()
const opened = (): Dashboard => present(dashboard)
/** More than one answer has: it ends by its bytes. */
const OLD_CALLS = 1_200

t.setTimeout(600_000)

t.test('calls come by themselves, newest first, and are found by their error', { skip }, async (t) => {
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

t.test('a click in a row opens what the call did, and the ways on from there', { skip }, async (t) => {
  const { page } = opened()
  await page
    .getByRole('row', { name: /test\/priced/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog', { name: 'embeddings.create 200' })
  await dialog.waitFor()
  t.match(await dialog.innerText(), /Key[\s\S]*Body and checks[\s\S]*Reservation[\s\S]*Charged[\s\S]*\$0\.00/)
  const command = await dialog.getByLabel('The same call, for a terminal', { exact: true }).inputValue()
  t.match(command, /^curl "\$SLUICE_URL\/api\/v1\/embeddings"/)
  await page.evaluate(
    "Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })",
  )
  await dialog.getByRole('button', { name: 'Copy' }).click()
  await dialog.getByText('it is selected now').waitFor()
  const selected = `(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(
    document.querySelector('dialog textarea'))`
  t.equal(await page.evaluate<string>(selected), command)
  t.ok(await dialog.getByRole('link', { name: 'What it changed' }).isVisible())
  t.same(await findingsInAllLooks(page), [])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page
    .getByRole('row', { name: /model_unknown/ })
    .getByRole('link')
    .focus()
  await page.keyboard.press('Enter')
  const failed = page.getByRole('dialog', { name: 'embeddings.create 404' })
  const docs = failed.getByRole('link', { name: 'What it means, and what helps' })
  t.equal(await docs.getAttribute('href'), '/docs/errors/model_unknown')
  t.equal((await fetch(new URL('/docs/errors/model_unknown', page.url()))).status, 200)
  await page.keyboard.press('Escape')
  await failed.waitFor({ state: 'detached' })
})

t.test('any number of rows is scrolled, and only those in sight are drawn', { skip }, async (t) => {
  const { page, node } = opened()
  const store = openStore({
    url: node.settings['DATABASE_URL'] ?? '',
    poolMax: 1,
    applicationName: 'sluice-test',
  })
  t.teardown(() => store.close())
  const [own] = await store.sql<{ id: string }[]>`SELECT id FROM organizations ORDER BY id LIMIT 1`
  const organizationId = present(own).id
  const calls = Array.from({ length: OLD_CALLS }, (_, n) => ({
    organizationId,
    keyHash: KEY_HASH,
    requestId: `old-${n}`,
    endedMs: Date.now() - 60_000 - n,
  }))
  await insertRequests(store, batchOfCalls(...calls))
  await page.getByLabel('Key').fill(KEY_HASH)
  const log = page.getByRole('region', { name: 'Calls, newest first' })
  const rows = async (): Promise<number> =>
    Number(await log.locator('table').getAttribute('aria-rowcount')) - 1
  await until('the first answer is there', async () => (await rows()) > 100)
  t.ok((await log.locator('tbody tr').count()) < 100, 'the others are not drawn')
  await until('the end is reached', async () => {
    await page.evaluate("document.querySelector('.log').scrollTo(0, 1e9)")
    return (await rows()) === OLD_CALLS
  })
  await log.locator(`[title*="old-${OLD_CALLS - 1}"]`).waitFor()
  t.equal(await overflowOf(page), 0)
  t.same(await findingsInAllLooks(page), [])
  await page.getByLabel('Key').fill('')
})

t.test('a search that finds nothing says what would be there', { skip }, async (t) => {
  const { page, seen } = opened()
  await page.getByLabel('Model').fill('nobody/nothing')
  await page.getByText('No call is like that.').waitFor()
  const look = await page.waitForRequest((request) => /admin\/requests\?.*nothing/.test(request.url()))
  const from = Date.parse(new URL(look.url()).searchParams.get('from') ?? '')
  t.ok(Date.now() - from < 60_000, 'a look reads what has come since, not the whole log')
  await page.getByLabel('Status').fill('what')
  await page.getByRole('alert').waitFor()
  t.match(await page.getByRole('alert').innerText(), /query parameter/)
  t.same([seen.abroad, seen.errors], [[], []])
})
