import t from 'tap'
import { present } from '../support/must.ts'
import { until } from '../support/nodes/node.ts'
import { isOnPath } from '../support/nodes/outside-stores.ts'
import {
  findingsInNextLook,
  openDashboard,
  overflowOf,
  type Dashboard,
} from '../support/operator/dashboard.ts'
import {
  copiedCall,
  copied,
  firstCallSeen,
  paste,
  signInTyped,
  step,
  tabTo,
} from '../support/operator/keystrokes.ts'
import { LOOKS, showAs, skipWithoutBrowser } from '../support/wire/browser.ts'

const skip = skipWithoutBrowser
const dashboard = skip === false ? await openDashboard(t, {}) : null
const opened = (): Dashboard => present(dashboard)
const PROVIDER_KEY = 'sk-of-the-provider-0123456789'
t.setTimeout(300_000)

t.test(
  'a fresh node opens the page Start, with the first key done and the other steps to do',
  { skip },
  async (t) => {
    const { page, url, managementKey } = opened()
    await signInTyped(page, { url, managementKey })
    await page.getByText('3. Call a model').waitFor()
    await step(page, '2. Create').getByText('Existing keys: ').waitFor()
    t.equal(await page.getByText('to do', { exact: true }).count(), 2)
    t.same(await findingsInNextLook(page), [])
    await page.setViewportSize({ width: 380, height: 800 })
    t.equal(await overflowOf(page), 0)
    await showAs(page, LOOKS[0])
  },
)

t.test('a provider without a key says where to put the key', { skip }, async (t) => {
  const { page } = opened()
  await tabTo(page, /^SELECT.*Provider$/)
  await page.keyboard.type('OpenAI')
  await page.getByText('OPENAI_API_KEY', { exact: true }).waitFor()
  t.match(await step(page, '1. Choose').innerText(), /to do/)
  t.same(await findingsInNextLook(page), [])
  t.match(await page.getByLabel(/^Sample call to openai\//).inputValue(), /"model":"openai\//)
})

t.test('a key for a provider is stored in the vault, and nowhere in the page', { skip }, async (t) => {
  const { page, call, managementKey } = opened()
  await tabTo(page, /^INPUT.*OpenAI key/)
  await page.keyboard.type(PROVIDER_KEY)
  await page.keyboard.press('Enter')
  await step(page, '1. Choose').getByText('ready').waitFor()
  await page.getByText('A workspace has its own OpenAI key.').waitFor()
  const { body } = await call('byok', managementKey)
  t.match(JSON.parse(body), { data: [{ provider: 'openai', name: 'openai_api_key' }], total_count: 1 })
  t.notMatch((await page.content()) + body, PROVIDER_KEY)
  await tabTo(page, /^SELECT.*Provider$/)
})

t.test('works from a fresh node to a visible first call by keyboard alone', { skip }, async (t) => {
  const { page, node } = opened()
  const { key, call } = await copiedCall(page)
  t.match(key, /^sk-sluice-v1-[\w-]{43}$/)
  t.match(call, `curl '${node.ready.url}/api/v1/chat/completions'`)
  await paste(call.replace(key, `${key.slice(0, -2)}zz`))
  await page.getByText('A chat.create call was refused').waitFor()
  t.match(JSON.parse(await paste(call)), { model: 'sluice/echo-1' })
  await firstCallSeen(page)
  t.match(await step(page, '3. Call').innerText(), /first call seen/)
})

const hasPython = await isOnPath('python3')

for (const [language, skipped] of [
  ['TypeScript', skip],
  ['Python', skip === false && !hasPython ? 'no python3 on the PATH' : skip],
] as const) {
  t.test(`the call in ${language} works as pasted`, { skip: skipped }, async (t) => {
    const { page } = opened()
    await page.getByLabel('Language').focus()
    await page.keyboard.type(language)
    await tabTo(page, /^BUTTON Copy Sample call to sluice\/echo-1/)
    t.match(await paste(await copied(page)), /Hello there/)
  })
}

t.test('a node that was called opens Now, and its empty pages link to Start', { skip }, async (t) => {
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
  t.match(await page.locator('.empty').innerText(), /No video jobs yet[^]*Open the guide/)
  await page.keyboard.type('gt')
  await page.locator('h1:focus', { hasText: 'Start' }).waitFor()
  await page.getByText('First call seen').first().waitFor()
})

t.test('calls no other host and logs no error', { skip }, async (t) => {
  const { seen } = opened()
  t.same(seen.abroad, [])
  t.same(seen.errors, [])
})
