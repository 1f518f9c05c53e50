/** An operator who knows only that a customer's calls fail since an hour finds the cause in a few clicks. */
import type { Locator } from 'playwright-core'
import t from 'tap'
import { FAULTS, openFaultyNode } from '../support/operator/faults.ts'
import { findingsInNextLook, overflowOf, type Dashboard } from '../support/operator/dashboard.ts'
import { present } from '../support/must.ts'
import { until } from '../support/wait.ts'
import { skipWithoutBrowser } from '../support/wire/browser.ts'

const CLICKS_MAX = 3

t.setTimeout(600_000)

const skip = skipWithoutBrowser
const dashboard = skip === false ? await openFaultyNode(t) : null
const opened = (): Dashboard => present(dashboard)

for (const { customer, error, cause, remedy, page: mended } of FAULTS)
  t.test(
    `${error}: call, cause, key and remedy are at most ${CLICKS_MAX} clicks away`,
    { skip },
    async (t) => {
      const { page, signIn } = opened()
      let clicks = 0
      const click = async (where: Locator): Promise<void> => {
        await where.click()
        clicks++
      }
      await signIn()
      await click(page.getByRole('link', { name: 'Failed calls of the last hour' }))
      const calls = page.getByRole('region', { name: 'Calls, newest first' })
      await click(calls.getByRole('row').filter({ hasText: customer }).first())
      const dialog = page.getByRole('dialog')
      const words = await dialog.innerText()
      t.match(words, error, 'the call')
      t.match(words, cause)
      t.match(words, remedy)
      t.match(await dialog.locator('dl').innerText(), new RegExp(`Key\\s+${customer}\\b`), 'whose key')
      const docs = dialog.getByRole('link', { name: 'Cause and fix' })
      t.equal(await docs.getAttribute('href'), `/docs/errors/${error}`)
      if (error === FAULTS[0]?.error) t.same(await findingsInNextLook(page), [])
      await click(dialog.locator('.notice').getByRole('link', { name: /^View / }))
      await page.locator('h1', { hasText: mended }).waitFor()
      t.ok(clicks <= CLICKS_MAX, `${clicks} clicks`)
      t.comment(`${error}: ${clicks} clicks`)
    },
  )

t.test('a search that one click starts removes all filters of the search before it', { skip }, async (t) => {
  const { page, visit, seen } = opened()
  await visit('Requests')
  await page.getByLabel('Model').fill('test/priced')
  await page.waitForURL(/model(?:_prefix)?=test/)
  await page.getByLabel('Min. duration (ms)').fill('100000')
  await page.getByRole('button', { name: 'Failed calls in the last hour' }).click()
  await page
    .getByRole('row', { name: /upstream_failed/ })
    .first()
    .waitFor()
  t.equal(await page.getByLabel('Model').inputValue(), '')
  await page.getByRole('button', { name: 'Slow calls in the last hour' }).click()
  await page.waitForURL(/min_duration_ms=5000/)
  t.equal(await overflowOf(page), 0)
  t.same([seen.abroad, seen.errors], [[], []])
})

for (const [field, typed, customer, error] of [
  ['Key', 'eve', 'Eve', 'endpoint_unavailable'],
  ['Model', 'pricd', 'Dan', 'model_unknown'],
] as const)
  t.test(
    `"${typed}" in the field ${field} finds ${error} within ${CLICKS_MAX} clicks`,
    { skip },
    async (t) => {
      const { page, signIn, visit } = opened()
      await signIn()
      await visit('Requests')
      await page.getByLabel(field, { exact: true }).fill(typed)
      const calls = page.getByRole('region', { name: 'Calls, newest first' })
      await until('the others are gone', async () => {
        const keys = await calls.locator('tbody .c-key').allInnerTexts()
        return keys.length > 0 && keys.every((name) => name === customer)
      })
      // Suggestions close with the field.
      await page.keyboard.press('Tab')
      await calls.getByRole('row').filter({ hasText: error }).first().click()
      t.match(
        await page.getByRole('dialog').innerText(),
        error,
        'the page, the field and the row: three clicks',
      )
    },
  )
