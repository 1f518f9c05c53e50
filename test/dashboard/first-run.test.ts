import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import t from 'tap'
import { present } from '../support/must.ts'
import { until } from '../support/nodes/node.ts'
import { isOnPath } from '../support/nodes/outside-stores.ts'
import {
  findingsInAllLooks,
  openDashboard,
  overflowOf,
  type Dashboard,
} from '../support/operator/dashboard.ts'
import { LOOKS, showAs, skipWithoutBrowser } from '../support/wire/browser.ts'

const run = promisify(execFile)
const skip = skipWithoutBrowser
const dashboard = skip === false ? await openDashboard(t) : null
const opened = (): Dashboard => present(dashboard)
const PROVIDER_KEY = 'sk-of-the-provider-0123456789'
/** Elements that a page may have before the one that is looked for. */
const TABS_MAX = 60
const FOCUSED = `(({ tagName, textContent, title, labels }) =>
  [tagName, textContent, title, labels?.[0]?.textContent].join(' '))(document.activeElement)`

t.setTimeout(300_000)

/** Presses the tabulator until an element has the focus whose text, title or label is like that. */
async function tabTo(page: Page, wanted: RegExp): Promise<void> {
  for (let tab = 0; tab < TABS_MAX; tab++) {
    await page.keyboard.press('Tab')
    if (wanted.test(await page.evaluate<string>(FOCUSED))) return
  }
  throw new Error(`nothing like ${wanted} has the focus`)
}

async function copied(page: Page): Promise<string> {
  await page.keyboard.press('Enter')
  await page.getByText('Copied.').last().waitFor()
  return page.evaluate<string>('navigator.clipboard.readText()')
}

/** Runs a pasted text as a terminal does; what it printed. */
async function paste(text: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', text])
  return stdout
}

const step = (page: Page, title: string) => page.getByRole('listitem').filter({ hasText: title })

t.test('a fresh node opens the page Start, whose steps are to be done', { skip }, async (t) => {
  const { page, url, managementKey } = opened()
  await page.goto(url)
  await page.locator('input:focus').waitFor()
  await page.keyboard.type(managementKey)
  await page.keyboard.press('Enter')
  await page.locator('h1:focus', { hasText: 'Start' }).waitFor()
  await page.getByText('3. Paste a call').waitFor()
  t.equal(await page.getByText('to do', { exact: true }).count(), 3)
  t.same(await findingsInAllLooks(page), [])
  await page.setViewportSize({ width: 380, height: 800 })
  t.equal(await overflowOf(page), 0)
  await showAs(page, LOOKS[0])
})

t.test('a provider without a key says where the key goes', { skip }, async (t) => {
  const { page } = opened()
  await tabTo(page, /^SELECT.*Provider$/)
  await page.keyboard.type('OpenAI')
  await page.getByText('OPENAI_API_KEY', { exact: true }).waitFor()
  t.match(await step(page, '1. Choose').innerText(), /to do/)
  t.same(await findingsInAllLooks(page), [])
  t.match(await page.getByLabel(/^A call of openai\//).inputValue(), /"model":"openai\//)
})

t.test('a key for a provider is stored in the vault, and stays nowhere in the page', { skip }, async (t) => {
  const { page, call, managementKey } = opened()
  await tabTo(page, /^INPUT.*Key of OpenAI/)
  await page.keyboard.type(PROVIDER_KEY)
  await page.keyboard.press('Enter')
  await step(page, '1. Choose').getByText('ready').waitFor()
  await page.getByText('A workspace has a key of its own for OpenAI.').waitFor()
  const { body } = await call('byok', managementKey)
  t.match(JSON.parse(body), { data: [{ provider: 'openai', name: 'openai_api_key' }], total_count: 1 })
  t.notMatch((await page.content()) + body, PROVIDER_KEY)
  await tabTo(page, /^SELECT.*Provider$/)
})

t.test('from a fresh node to the first call that is seen, by keystrokes alone', { skip }, async (t) => {
  const { page, node } = opened()
  // The first one behind "Choose one".
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowDown')
  await step(page, '1. Choose').getByText('ready').waitFor()
  await tabTo(page, /^BUTTON Make a key/)
  await page.keyboard.press('Enter')
  await step(page, '2. Make').getByText('made', { exact: true }).waitFor()
  await tabTo(page, /^BUTTON Copy API key/)
  const key = await copied(page)
  t.match(key, /^sk-sluice-v1-[\w-]{43}$/)
  await page.getByText('Waiting for a first call…').waitFor()
  await tabTo(page, /^BUTTON Copy A call of sluice\/echo-1/)
  const call = await copied(page)
  t.match(call, `curl '${node.ready.url}/api/v1/chat/completions'`)
  await paste(call.replace(key, `${key.slice(0, -2)}zz`))
  await page.getByText('A call of chat.create came and was refused').waitFor()
  t.match(JSON.parse(await paste(call)), { model: 'sluice/echo-1' })
  await page.getByText('First call seen: chat.create.').waitFor()
  await page.getByRole('status').getByText('First call seen.').waitFor()
  t.match(await step(page, '3. Paste').innerText(), /first call seen/)
})

const hasPython = await isOnPath('python3')

for (const [language, skipped] of [
  ['TypeScript', skip],
  ['Python', skip === false && !hasPython ? 'no python3 on the PATH' : skip],
] as const) {
  t.test(`the call in ${language} works as it is pasted`, { skip: skipped }, async (t) => {
    const { page } = opened()
    await page.getByLabel('Language').focus()
    await page.keyboard.type(language)
    await tabTo(page, /^BUTTON Copy A call of sluice\/echo-1/)
    t.match(await paste(await copied(page)), /Hello there/)
  })
}

t.test('a node that was called opens Now, and its empty pages lead back to Start', { skip }, async (t) => {
  const { page, url } = opened()
  const called = async (): Promise<boolean> => {
    await page.goto('about:blank')
    await page.goto(url)
    await page.locator('h1:focus').waitFor()
    return (await page.title()) === 'Now – Sluice'
  }
  await until('the books have the call', called)
  t.equal(await page.getByRole('navigation').getByRole('link', { name: 'Start' }).count(), 0)
  await page.getByRole('link', { name: 'Jobs', exact: true }).click()
  t.match(await page.locator('.empty').innerText(), /no video job yet[^]*The guide shows how/)
  await page.keyboard.type('gt')
  await page.locator('h1:focus', { hasText: 'Start' }).waitFor()
  await page.getByText('First call seen').first().waitFor()
})

t.test('asks nobody else for anything, and has no error', { skip }, async (t) => {
  const { seen } = opened()
  t.same(seen.abroad, [])
  t.same(seen.errors, [])
})
