import t from 'tap'
import type { Locator } from 'playwright-core'
import { appendAudit } from '../../src/server/store/base/append-audit.ts'
import { auditEvent } from '../support/audit/audit.ts'
import { skipWithoutBrowser } from '../support/wire/browser.ts'
import { cutFilters, findingsInNextLook, openTables, overflowOf } from '../support/operator/dashboard.ts'
import { present } from '../support/must.ts'
import { until } from '../support/nodes/node.ts'
import { openRecords, OPEN_PROVIDER } from '../support/operator/dashboard-records.ts'
import { partsOf, rowsOf, type RecordParts } from '../support/operator/record-parts.ts'

/** Events that fill more than one page of the log. */
const EVENTS = 55

/** Resolves when the length of the clip is known. */
const LOADED = `new Promise((resolve) => {
  const video = document.querySelector('dialog video')
  if (video.readyState > 0) resolve()
  else video.addEventListener('loadedmetadata', () => resolve())
})`

/** Between two looks of the page at what may still change. */
const REFRESH_MS = 4_000

t.setTimeout(600_000)

const skip = skipWithoutBrowser
const records = skip === false ? await openRecords(t) : null
const parts = (): RecordParts => partsOf(present(records))

t.test('Jobs lists the newest first, filtered by state, provider and workspace', { skip }, async (t) => {
  const {
    dashboard,
    open,
    dead: [first = ''],
  } = present(records)
  const { page, jobs, select } = parts()
  await dashboard.visit('Jobs')
  await linkOf(jobs, open).waitFor()
  t.same(await rowsOf(jobs), 4)
  await select('State', 'completed')
  await linkOf(jobs, open).waitFor({ state: 'detached' })
  t.same(await rowsOf(jobs), 2)
  await select('State', '')
  await jobs.getByRole('link', { name: OPEN_PROVIDER, exact: true }).first().click()
  await linkOf(jobs, first).waitFor({ state: 'detached' })
  t.same(await rowsOf(jobs), 2)
  t.equal(await page.getByLabel('Provider').inputValue(), OPEN_PROVIDER)
  t.match(page.url(), /#\/jobs\?provider=fake$/)
  await page.getByLabel('Provider').fill('nobody')
  await page.getByText('No jobs match.').waitFor()
  await page.goBack()
  await linkOf(jobs, first).waitFor()
  await page.getByLabel('Workspace').selectOption({ label: 'Default' })
  await page.waitForURL(/workspace=[0-9a-f-]{36}/)
  await linkOf(jobs, first).waitFor()
  await select('Workspace', '')
})

t.test('a live view waits for a slow request instead of repeating it', { skip }, async (t) => {
  const {
    dashboard: { browser, url, managementKey },
    open,
  } = present(records)
  const page = await browser.newPage()
  await page.clock.install()
  await page.goto(`${url}#/jobs`)
  await page.getByLabel('Management key').fill(managementKey)
  await page.keyboard.press('Enter')
  await page.getByTitle(open).waitFor()
  let asked = 0
  await page.route('**/api/v1/admin/jobs?*', () => void asked++)
  for (let nth = 0; nth < 3; nth++) {
    await page.clock.fastForward(REFRESH_MS)
    await until('it is looked at', () => asked > 0)
  }
  t.equal(asked, 1)
  await page.close()
})

t.test('the keyboard opens a job, and closing it returns the focus to its row', { skip }, async (t) => {
  const { open } = present(records)
  const { page, jobs, dialog } = parts()
  await linkOf(jobs, open).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: `Job ${open}` }).waitFor()
  await dialog.getByText('Running at the provider').waitFor()
  t.match(await dialog.innerText(), /in progress[\s\S]*The job has no callback URL\./)
  t.match(page.url(), `job=${open}`)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  // A dialog that the browser closes by itself is gone for the eye before the page hears of it.
  await page.waitForURL(({ hash }) => !hash.includes('job='))
  await page.locator(':focus').and(page.getByTitle(open)).waitFor()
})

t.test('a failed job shows its reason, in the list and in its details', { skip }, async (t) => {
  const { failed } = present(records)
  const { page, jobs, dialog, select } = parts()
  await select('State', 'failed')
  const row = jobs.getByRole('row').filter({ has: page.getByTitle(failed) })
  await jobs.getByRole('row').nth(2).waitFor({ state: 'detached' })
  t.match(await row.innerText(), /failed[\s\S]*provider_filtered/)
  await linkOf(jobs, failed).click()
  t.match(await dialog.locator('.notice.bad').innerText(), /^provider_filtered ./)
  t.match(await dialog.innerText(), /Ended[\s\S]*No clips\./)
  await page.keyboard.press('Escape')
  await select('State', '')
})

t.test('plays a clip of sluice/clip-1 in its job, and unloads it on closing', { skip }, async (t) => {
  const {
    dead: [first = ''],
  } = present(records)
  const { page, jobs, dialog } = parts()
  await linkOf(jobs, first).click()
  await dialog.getByRole('button', { name: 'Show clip' }).click()
  const video = dialog.locator('video')
  await video.waitFor()
  const length = "document.querySelector('dialog video').duration"
  await page.evaluate(LOADED)
  t.equal(await page.evaluate<number>(length), 1)
  t.match(await video.getAttribute('src'), /^blob:/)
  t.same(await page.evaluate<number[]>('[made.length, gone.length]'), [1, 0])
  t.same(await findingsInNextLook(page), [])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await until('it is let go of', () => page.evaluate<boolean>('made[0] === gone[0]'))
})

t.test('Webhooks shows dead letters first, and a replayed one is delivered', { skip }, async (t) => {
  const {
    dashboard,
    receiver,
    dead: [first = ''],
  } = present(records)
  const { page, dialog } = parts()
  await dashboard.visit('Webhooks')
  const letters = page.getByRole('table', { name: 'Dead letters, newest first' })
  await linkOf(letters, first).waitFor()
  t.match(await letters.getByRole('row').nth(1).innerText(), /dead[\s\S]*410, address gone/)
  t.same(await rowsOf(letters), 2)
  receiver.isOpen = true
  // A click next to the links of a row opens the object of the row.
  await letters
    .getByRole('row')
    .filter({ has: page.getByTitle(first) })
    .getByText('410, address gone')
    .click()
  await page.getByRole('dialog', { name: 'Webhook to' }).getByText('address gone').waitFor()
  t.match(page.url(), /delivery=/)
  t.same(await findingsInNextLook(page), [])
  await dialog.getByRole('button', { name: 'Replay' }).click()
  await page.getByText(/^Webhook to 127\.0\.0\.1.* queued/).waitFor()
  await until('it arrives', () => receiver.taken.length === 1)
  t.match(receiver.taken[0], first)
  await linkOf(letters, first).waitFor({ state: 'detached' })
  t.equal(
    await page
      .locator('h2:focus')
      .innerText()
      .then((text) => text.split('\n')[0]),
    'Dead letters 1',
  )
})

t.test('replays all dead letters at once, after confirming their number', { skip }, async (t) => {
  const {
    receiver,
    dead: [, second = ''],
  } = present(records)
  const { page, dialog } = parts()
  await page.getByRole('button', { name: 'Replay all 1' }).click()
  await dialog.getByText('All dead letters of all workspaces are sent again').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  t.equal(receiver.taken.length, 1)
  await page.getByRole('button', { name: 'Replay all 1' }).click()
  await dialog.getByRole('button', { name: 'Replay 1' }).click()
  await page.getByText('1 webhook queued for another delivery.').waitFor()
  await until('it arrives', () => receiver.taken.length === 2)
  t.match(receiver.taken[1], second)
  await page.getByText('No dead letters:').waitFor()
  await page.getByRole('link', { name: 'Show all webhooks' }).click()
  const all = page.getByRole('table', { name: 'All, newest first' })
  await all.getByText('delivered', { exact: true }).nth(1).waitFor()
})

t.test('a webhook that was delivered is sent again only after a confirmation', { skip }, async (t) => {
  const {
    receiver,
    dead: [first = ''],
  } = present(records)
  const { page, dialog } = parts()
  const all = page.getByRole('table', { name: 'All, newest first' })
  await all.getByRole('button', { name: `Webhook of ${first}` }).click()
  await dialog.getByRole('button', { name: 'Replay' }).click()
  await dialog.getByText('already accepted this webhook').waitFor()
  t.equal(receiver.taken.length, 2)
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await until('it arrives', () => receiver.taken.length === 3)
  t.match(receiver.taken[2], first)
})

t.test('a private endpoint is validated, activated, disabled, enabled and deleted', { skip }, async (t) => {
  const { dashboard } = present(records)
  const { page, dialog } = parts()
  await dashboard.visit('Models')
  await page.getByRole('table', { name: 'Private endpoints, oldest first' }).getByRole('link').click()
  await dialog.getByRole('button', { name: 'Activate' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByRole('button', { name: 'Validate' }).click()
  await dialog.getByText('Validation passed.').waitFor()
  await dialog.getByRole('button', { name: 'Activate' }).click()
  await dialog.getByText('active', { exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Disable' }).click()
  await page
    .getByRole('dialog', { name: 'Disable endpoint?' })
    .getByRole('button', { name: 'Disable' })
    .click()
  await dialog.getByText('disabled', { exact: true }).waitFor()
  t.same(await findingsInNextLook(page), [])
  await dialog.getByRole('button', { name: 'Enable' }).click()
  await dialog.getByText('active', { exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete endpoint' }).click()
  await page.getByText('Create an endpoint for your own server with').waitFor()
  await page.waitForURL(({ hash }) => !hash.includes('endpoint='))
})

t.test('Audit shows the changes made here, before and after, and can be searched', { skip }, async (t) => {
  const { dashboard, endpointId } = present(records)
  const { page, dialog, select } = parts()
  await dashboard.visit('Audit')
  const events = page.getByRole('table', { name: 'Events, newest first' })
  await events.getByRole('link', { name: 'admin.get_job_content' }).first().waitFor()
  await events.getByRole('link', { name: 'admin.replay_webhook' }).first().click()
  await events.getByRole('link', { name: 'private_endpoints.delete' }).waitFor({ state: 'detached' })
  t.equal(await page.getByLabel('Operation').inputValue(), 'admin.replay_webhook')
  await events
    .getByRole('link', { name: /details/ })
    .last()
    .click()
  t.match(
    await dialog
      .getByRole('table')
      .getByRole('row', { name: /^state/ })
      .innerText(),
    /state\s+dead\s+waiting/,
  )
  t.same(await findingsInNextLook(page), [])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await page.getByLabel('Object', { exact: true }).fill(endpointId)
  await page.keyboard.press('Enter')
  await events.getByRole('link', { name: 'admin.replay_webhook' }).first().waitFor({ state: 'detached' })
  t.equal(await events.getByRole('link', { name: /^private_endpoints\./ }).count(), await rowsOf(events))
  await select('Outcome', 'released')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByText('No events match.').waitFor()
  t.match(page.url(), new RegExp(`object_id=${endpointId}&outcome=released`))
})

t.test('Audit accepts times in local time, and pages to older events and back', { skip }, async (t) => {
  const { page } = parts()
  const { store, organizationId } = await openTables(t, present(records).dashboard)
  const events = Array.from({ length: EVENTS }, () => auditEvent(organizationId))
  await store.sql.begin((tx) => appendAudit(tx, ...events))
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  const table = page.getByRole('table', { name: 'Events, newest first' })
  await page.getByRole('button', { name: 'Older' }).click()
  await table.getByRole('link', { name: 'admin.get_job_content' }).waitFor()
  t.match(page.url(), /before=\d+$/)
  await page.getByRole('button', { name: 'Newest' }).click()
  await table.getByRole('link', { name: 'admin.get_job_content' }).waitFor({ state: 'detached' })
  await page.getByLabel('Before', { exact: true }).fill('2020-01-02T03:04:05')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByText('No events match.').waitFor()
  t.equal(await page.getByLabel('Before', { exact: true }).inputValue(), '2020-01-02T03:04:05')
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await table.waitFor()
})

t.test('sends a test event after confirmation, and shows the response', { skip }, async (t) => {
  const { dashboard, receiver, manage } = present(records)
  const { page, dialog } = parts()
  await manage('PATCH', 'workspaces/default', { default_callback_url: `${receiver.origin}/default` })
  await dashboard.visit('Webhooks')
  await page.getByRole('button', { name: 'Send test' }).click()
  receiver.isOpen = false
  await dialog.getByRole('button', { name: 'Send' }).click()
  await dialog
    .getByRole('alert')
    .getByText(/^Not delivered: 127\.0\.0\.1 answered 410 .* \(gone\)\.$/)
    .waitFor()
  receiver.isOpen = true
  await dialog.getByRole('button', { name: 'Send' }).click()
  await page.getByText(/^Delivered: 127\.0\.0\.1 answered 200 after \d+ ms\.$/).waitFor()
  t.match(receiver.taken.at(-1), '"type":"webhook.test"')
  t.same(await findingsInNextLook(page), [])
})

t.test('a list that cannot be loaded says why, and can be loaded again', { skip }, async () => {
  const { dashboard, open } = present(records)
  const { page, jobs } = parts()
  await page.route('**/api/v1/admin/jobs?*', (route) =>
    route.fulfill({ status: 503, json: { error: { code: 503, message: 'The database is away.' } } }),
  )
  await dashboard.visit('Jobs')
  await page.getByRole('alert').getByText('The database is away.').waitFor()
  await page.unroute('**/api/v1/admin/jobs?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await linkOf(jobs, open).waitFor()
})

/** Each with few rows: what is to be found is in one of them as in fifty. */
const LOOKED_AT = [
  ['Webhooks', 'webhooks?state=all'],
  ['Audit', 'audit?operation=admin.replay_webhook'],
  ['Jobs', 'jobs'],
] as const
for (const [title, address] of LOOKED_AT)
  t.test(`${title} is accessible in light and dark mode and on a phone`, { skip }, async (t) => {
    const { page } = parts()
    await page.evaluate(`location.hash = '#/${address}'`)
    await page.locator('h1:focus', { hasText: title }).waitFor()
    t.same(await findingsInNextLook(page), [])
    t.same(await cutFilters(page), [])
    await page.setViewportSize({ width: 380, height: 800 })
    t.equal(await overflowOf(page), 0)
  })

t.test('calls no other host and logs no error', { skip }, async (t) => {
  const { seen } = parts()
  t.same(seen.abroad, [])
  t.same(seen.errors, [])
})

function linkOf(table: Locator, jobId: string): Locator {
  return table.getByTitle(jobId)
}
