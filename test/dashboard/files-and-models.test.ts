import t from 'tap'
import { skipWithoutBrowser } from '../support/wire/browser.ts'
import { findingsInNextLook, overflowOf } from '../support/operator/dashboard.ts'
import { present } from '../support/must.ts'
import { openRecords, OPEN_PROVIDER } from '../support/operator/dashboard-records.ts'
import { partsOf, type RecordParts } from '../support/operator/record-parts.ts'

t.setTimeout(600_000)

const skip = skipWithoutBrowser
const records = skip === false ? await openRecords(t) : null
const parts = (): RecordParts => partsOf(present(records))

t.test('Files shows the storage of a workspace, its quota and the last sweep', { skip }, async (t) => {
  const { dashboard } = present(records)
  const { page } = parts()
  await dashboard.visit('Files')
  const row = page.getByRole('table', { name: 'Storage by workspace' }).getByRole('row', { name: /Default/ })
  t.match(await row.innerText(), /\b1\b[\s\S]*4 KiB/)
  t.match(await row.getByRole('meter').getAttribute('aria-valuetext'), /^4 KiB of /)
  await page.getByText(/No sweep has finished yet|Finished/).waitFor()
})

t.test('Files describes a sweep in words, and marks a quota that is nearly used', { skip }, async (t) => {
  const { dashboard } = present(records)
  const { page } = parts()
  const report = { uploads: 1, objects: 0, containers: 2, odd_things: 3, recounted: 1 }
  const workspaces = [
    {
      workspace_id: 'w',
      slug: 'full',
      name: 'Full',
      files: 100_000,
      bytes: 700,
      containers_bytes: 200,
      quota_bytes: 1_000,
    },
  ]
  const body = { data: { workspaces, sweep: { ended_at: new Date().toISOString(), report } }, total_count: 1 }
  await page.route('**/api/v1/admin/storage?*', (route) => route.fulfill({ json: body }))
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByText('Deleted 1 abandoned upload, 2 unused containers and 3 odd things.').waitFor()
  await page.getByText('Corrected the size of 1 container file.').waitFor()
  await page.locator('.meter.warn').getByText('900 bytes of 1,000 bytes').waitFor()
  t.match(await page.getByRole('row', { name: /Full/ }).innerText(), '100,000 or more')
  await page.unroute('**/api/v1/admin/storage?*')
  await dashboard.visit('Jobs')
})

t.test('Models can be searched, and shows the endpoints of a model', { skip }, async (t) => {
  const { dashboard } = present(records)
  const { page, select } = parts()
  await dashboard.visit('Models')
  const catalogue = page.getByRole('table', { name: 'Models', exact: true })
  await page.getByLabel('Search').fill('clip small')
  await catalogue.getByRole('link', { name: 'Sluice: Clip 1' }).waitFor()
  await catalogue.getByRole('row').nth(2).waitFor({ state: 'detached' })
  t.match(await catalogue.getByRole('row').nth(1).innerText(), /video[\s\S]*free/)
  await catalogue.getByRole('link', { name: 'Sluice: Clip 1' }).click()
  await page.locator('h1', { hasText: 'Model sluice/clip-1' }).waitFor()
  const endpoints = page.getByRole('table', { name: /^Endpoints of/ })
  await endpoints.getByRole('row', { name: /local/i }).getByText('free').waitFor()
  await page.goBack()
  await page.getByLabel('Search').fill('embedding 004')
  await catalogue
    .getByRole('row', { name: /Text Embedding 004/ })
    .getByText('ended 2026-01-14')
    .waitFor()
  await page.getByLabel('Search').fill('clip small')
  await catalogue.getByRole('link', { name: 'Sluice: Clip 1' }).waitFor()
  await catalogue.getByRole('row').nth(2).waitFor({ state: 'detached' })
  await select('Makes', 'embeddings')
  await page.getByText('No models match.').waitFor()
  t.match(page.url(), /q=clip\+small&kind=embeddings/)
  await page.getByLabel('Search').fill('small')
  await catalogue.getByRole('link', { name: /Text Embedding 3 Small/ }).click()
  await endpoints
    .getByRole('row', { name: /OpenAI/ })
    .getByText('$0.02')
    .waitFor()
  t.same(await findingsInNextLook(page), [])
  await page.goBack()
  await page
    .getByRole('table', { name: 'Providers with calls' })
    .getByRole('row', { name: new RegExp(OPEN_PROVIDER) })
    .waitFor()
})

t.test('a space after a word remains in a search field while the user types', { skip }, async (t) => {
  const { page } = parts()
  const field = page.getByLabel('Search')
  await field.fill('clip ')
  await page.waitForURL(/q=clip(?:&|$)/)
  await field.pressSequentially('small')
  await page.waitForURL(/q=clip\+small/)
  t.equal(await field.inputValue(), 'clip small')
  await field.fill('small')
  await page.waitForURL(/q=small/)
})

/** Each with few rows: what is to be found is in one of them as in fifty. */
const LOOKED_AT = [
  ['Files', 'files'],
  ['Models', 'models?q=small'],
] as const
for (const [title, address] of LOOKED_AT)
  t.test(`${title} is accessible in light and dark mode and on a phone`, { skip }, async (t) => {
    const { page } = parts()
    await page.evaluate(`location.hash = '#/${address}'`)
    await page.locator('h1:focus', { hasText: title }).waitFor()
    t.same(await findingsInNextLook(page), [])
    await page.setViewportSize({ width: 380, height: 800 })
    t.equal(await overflowOf(page), 0)
  })

t.test('calls no other host and logs no error', { skip }, async (t) => {
  const { seen } = parts()
  t.same(seen.abroad, [])
  t.same(seen.errors, [])
})
