import type { Locator } from 'playwright-core'
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

t.setTimeout(300_000)

const skip = skipWithoutBrowser
const dashboard = skip === false ? await openDashboard(t) : null
await dashboard?.signIn()
const opened = (): Dashboard => present(dashboard)
const field = (): Locator => opened().page.getByRole('combobox', { name: /request id/ })
/** Choices in fields of the page are options, too. */
const option = (name: string | RegExp = /./): Locator =>
  opened().page.getByRole('dialog').getByRole('option', { name })
const chosen = (): Locator => option().and(opened().page.getByRole('option', { selected: true }))
const at = (title: string): Promise<void> => opened().page.locator('h1:focus', { hasText: title }).waitFor()
const REQUEST_ID = 'palette-call-0001'

/** Opens the commands by their keys, and types. */
async function command(text: string): Promise<void> {
  const { page } = opened()
  await page.keyboard.press('Control+k')
  await page.locator('input:focus').and(field()).waitFor()
  await page.keyboard.type(text)
}

t.test('commands show no match for unknown text, and Escape returns the focus', { skip }, async (t) => {
  const { page } = opened()
  const link = page.getByRole('link', { name: 'Requests', exact: true })
  await link.focus()
  await command('<script>alert(1)</script> \' " %00')
  await page.getByText('No matches.').waitFor()
  t.equal(await option().count(), 0)
  t.equal(await field().getAttribute('aria-activedescendant'), null)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  t.ok(await field().isVisible())
  await page.keyboard.press('Escape')
  await field().waitFor({ state: 'detached' })
  await page.locator(':focus').and(link).waitFor()
})

t.test('arrow keys move the selection, which labels the field; Enter opens it', { skip }, async (t) => {
  const { page } = opened()
  await command('')
  const first = await chosen().innerText()
  await page.keyboard.press('ArrowDown')
  await until('another is chosen', async () => (await chosen().innerText()) !== first)
  t.equal(await field().getAttribute('aria-activedescendant'), await chosen().getAttribute('id'))
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await chosen().getByText('Sign out').waitFor()
  await page.keyboard.type('audit')
  await chosen().getByText('Audit').waitFor()
  t.same(await findingsInNextLook(page), [])
  await page.keyboard.press('Enter')
  await at('Audit')
  await page.keyboard.press('Meta+k')
  await page.keyboard.type('webh')
  await chosen().getByText('Webhooks').waitFor()
  await page.keyboard.press('Enter')
  await at('Webhooks')
})

t.test('an action can be started from any page', { skip }, async (t) => {
  const { page } = opened()
  await command('create a key')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Create key' })
  await dialog.getByLabel('Name').fill('from anywhere')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'Done' }).click()
  t.notMatch(page.url(), 'do=')
  await command('theme: dark')
  await page.keyboard.press('Enter')
  await page.locator('html[data-theme=dark]').waitFor()
  await command('theme: system')
  await page.keyboard.press('Enter')
  await page.locator('html[data-theme=auto]').waitFor()
})

t.test('finds keys, models, workspaces and providers by name, and keys by hash', { skip }, async (t) => {
  const { page, call, managementKey } = opened()
  await command('from anyw')
  await option(/from anywhere.*Key/).waitFor()
  await page.keyboard.press('Escape')
  await command(PRICED_MODEL)
  await option(/Priced.*Model/).waitFor()
  await page.keyboard.press('Enter')
  await at(`Model ${PRICED_MODEL}`)
  await command('default')
  await option(/Default.*Workspace/).waitFor()
  await page.keyboard.press('Escape')
  const { body } = await call('keys', managementKey)
  const { data } = JSON.parse(body) as { data: readonly { name: string; hash: string }[] }
  const made = present(data.find(({ name }) => name === 'from anywhere'))
  await command(made.hash)
  await option(/from anywhere.*Key/).waitFor()
  t.equal(await option().count(), 1)
  await page.keyboard.press('Enter')
  await at('Key from anywhere')
  await command('openai')
  await option(/OpenAI.*Provider/)
    .first()
    .waitFor()
  await page.keyboard.press('Escape')
})

t.test(
  'a pasted request id opens its row, even if Enter is pressed before the row is found',
  { skip },
  async (t) => {
    const { page, node, inferenceKey } = opened()
    const answer = await fetch(`${node.ready.url}/api/v1/embeddings`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${inferenceKey}`,
        'content-type': 'application/json',
        'x-request-id': REQUEST_ID,
      },
      body: JSON.stringify({ model: PRICED_MODEL, input: 'seven' }),
    })
    t.equal(answer.headers.get('x-request-id'), REQUEST_ID)
    await until('the log has it', async () => {
      await page.keyboard.press('Control+k')
      await field().fill(` ${REQUEST_ID} `)
      await page.getByText(/found\.|No matches\./).waitFor()
      const found = await option(REQUEST_ID).count()
      await page.keyboard.press('Escape')
      await field().waitFor({ state: 'detached' })
      return found === 1
    })
    await page.keyboard.press('Control+k')
    await page.evaluate(`navigator.clipboard.writeText('${REQUEST_ID}')`)
    await page.keyboard.press('Control+v')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'embeddings.create 200' }).getByText(REQUEST_ID).first().waitFor()
    t.match(page.url(), /#\/requests\?request_id=palette-call-0001&call=/)
    await page.keyboard.press('Escape')
    await command('palette-call-9999')
    await page.getByText('No matches.').waitFor()
    await page.keyboard.press('Escape')
  },
)

/** Pages with a list, and the field that searches it. */
const SEARCHED = ['Keys', 'Requests', 'Workspaces', 'Jobs', 'Files', 'Models', 'Audit']
t.test('a slash focuses the search of a page, and is a letter inside a field', { skip }, async (t) => {
  const { page, visit } = opened()
  for (const title of SEARCHED) {
    await visit(title)
    await page.locator('main').locator('input[type=search], [role=search] input').first().waitFor()
    await page.keyboard.press('/')
    await page.locator('main input:focus').waitFor()
    await page.keyboard.press('/')
    t.equal(await page.locator('input:focus').inputValue(), '/', title)
    await page.locator('input:focus').fill('')
  }
  await visit('Now')
  await page.keyboard.press('/')
  await field().waitFor()
  await page.keyboard.press('Escape')
})

t.test('finds rows by their words in a list that has no search operation', { skip }, async (t) => {
  const { page, visit } = opened()
  await visit('Keys')
  await page.getByLabel('Find in this list').fill('FROM anywhere')
  await page.getByRole('table').getByRole('row').nth(2).waitFor({ state: 'detached' })
  await page.getByLabel('Find in this list').fill('nobody at all')
  await page.getByText('No rows match.').waitFor()
  t.match(page.url(), /find=nobody\+at\+all/)
  await page.getByLabel('Find in this list').fill('')
  await page.getByRole('table').waitFor()
})

t.test('commands fit a phone and call no other host', { skip }, async (t) => {
  const { page, seen } = opened()
  await page.setViewportSize({ width: 380, height: 800 })
  await page.getByRole('button', { name: /^Commands/ }).click()
  await option(/^Jobs/).waitFor()
  t.equal(await overflowOf(page), 0)
  await option(/^Jobs/).click()
  await at('Jobs')
  t.same([seen.abroad, seen.errors], [[], []])
})
