import type { Browser } from 'playwright-core'
import t from 'tap'
import { WEBHOOKS } from '../../src/server/http/reference/openapi.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'
import {
  axeFindings,
  LOOKS,
  openBrowser,
  showAs,
  skipWithoutBrowser as skip,
  watch,
} from '../support/wire/browser.ts'
import { KEY, openFront, operation } from '../support/front.ts'
import { present } from '../support/must.ts'

const NARROW = present(LOOKS.at(-1))

/** Hundreds of operations on a machine that does ten other things. */
t.setTimeout(600_000)

const { url } = await openFront(t, [])
const opened = skip === false ? await openBrowser(t) : null
const browser = (): Browser => present(opened)

t.test('without scripts the reference has every operation, and links to the guides', { skip }, async (t) => {
  const page = await (await browser().newContext({ javaScriptEnabled: false })).newPage()
  const seen = watch(page, { origin: url })
  await page.goto(`${url}/docs`)
  const links = await page.locator('.operations a').count()
  t.equal(links, OPERATIONS.length)
  await page.getByRole('link', { name: 'Create embeddings' }).click()
  await page.getByRole('heading', { level: 2, name: 'Create embeddings' }).waitFor()
  await page.locator('summary', { hasText: 'Python' }).first().click()
  t.match(await page.locator('details[data-language=python]').first().innerText(), 'urllib.request')
  t.equal(await page.locator('details.try:visible').count(), 0)
  await page.goto(`${url}/docs/reference/videos`)
  for (const name of Object.keys(WEBHOOKS)) t.equal(await page.locator(`h2[id="${name}"]`).count(), 1)
  await page.getByRole('link', { name: 'Guides' }).click()
  await page.locator('nav.groups').getByRole('link', { name: 'Videos', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Videos' }).waitFor()
  t.same({ ...seen }, { abroad: [], errors: [] })
})

t.test(
  'a call from the reference uses this node and the typed key, which is not stored',
  { skip },
  async (t) => {
    const created = OPERATIONS.find(({ id }) => id === 'embeddings.create')
    const received: unknown[] = []
    const echo = operation({
      ...(created as object),
      id: 'embeddings.create',
      path: '/embeddings',
      run: (call) => {
        received.push(call.body)
        return { ok: true, value: { kind: 'json', value: { stated: '<b>not bold</b>' } } }
      },
    })
    const { url } = await openFront(t, [echo])
    const page = await browser().newPage()
    const seen = watch(page, { origin: url, mayBeRefused: (at) => at.endsWith('/embeddings') })
    await page.goto(`${url}/docs/reference/embeddings`)
    const form = page.locator('details.try').first()
    await form.locator('summary').click()
    await form.getByRole('button', { name: 'Send POST' }).click()
    await form.getByRole('status').getByText('401').waitFor()
    await form.getByLabel('Key').fill(KEY)
    await form.getByRole('button', { name: 'Send POST' }).click()
    await form.getByRole('status').getByText('200').waitFor()
    t.match(await form.locator('pre').innerText(), '<b>not bold</b>')
    t.match(received, [{ model: 'sluice/lexical-1' }])
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, document.documentElement.outerHTML])',
    )
    t.notMatch(kept, KEY)
    await page.reload()
    await form.locator('summary').click()
    t.equal(await form.getByLabel('Key').inputValue(), '')
    t.same({ ...seen }, { abroad: [], errors: [] })
  },
)

t.test('the search finds a section for a question, by the keyboard alone', { skip }, async (t) => {
  const page = await browser().newPage()
  const seen = watch(page, { origin: url })
  await page.goto(`${url}/docs/guides/files`)
  await page.keyboard.press('/')
  await page.keyboard.type('rotate an api key')
  await page.locator('.results a').first().waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
  t.match(page.url(), /\/docs\/guides\/keys/)
  t.same({ ...seen }, { abroad: [], errors: [] })
})

t.test('the Copy button copies a block letter for letter', { skip }, async (t) => {
  const context = await browser().newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await context.newPage()
  await page.goto(`${url}/docs/guides/errors`)
  const text = await page.locator('pre').first().innerText()
  await page.getByRole('button', { name: 'Copy' }).first().click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  t.equal((await page.evaluate<string>('navigator.clipboard.readText()')).trim(), text.trim())
})

/** Blocks whose text is wider than they are, and blocks whose Copy button covers a line of the text. */
const MISPLACED = `[...document.querySelectorAll('main .block')].flatMap((block) => {
  const [pre, button] = [block.querySelector('pre'), block.querySelector('.copy').getBoundingClientRect()]
  const range = document.createRange()
  range.selectNodeContents(pre)
  const isCovered = [...range.getClientRects()].some(({ left, right, top, bottom }) =>
    left < button.right && right > button.left && top < button.bottom && bottom > button.top)
  return [
    ...(pre.scrollWidth > pre.clientWidth ? ['overflows: ' + pre.textContent.slice(0, 60)] : []),
    ...(isCovered ? ['is covered: ' + pre.textContent.slice(0, 60)] : []),
  ]
})`

t.test('code fits its block, and no Copy button covers it', { skip }, async (t) => {
  const page = await browser().newPage()
  for (const path of ['/guides/', '/guides/chat', '/guides/deployment', '/reference/inference'])
    for (const look of [present(LOOKS[0]), NARROW]) {
      await showAs(page, look)
      await page.goto(`${url}/docs${path}`)
      await page.locator('main .copy').first().waitFor()
      await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
      t.same(await page.evaluate(MISPLACED), [], `${path} ${look.name}`)
    }
})

t.test(
  'reference and guides are readable in both colours and on a phone, and request no other host',
  { skip },
  async (t) => {
    const page = await browser().newPage()
    const seen = watch(page, { origin: url })
    for (const [nth, path] of [
      '',
      '/reference/inference',
      '/reference/keys',
      '/guides/',
      '/guides/money',
      '/errors',
    ].entries()) {
      // Each look has its share of the pages; the pages share one style sheet.
      const look = present(LOOKS[nth % LOOKS.length])
      await showAs(page, look)
      await page.goto(`${url}/docs${path}`)
      t.same(await axeFindings(page), [], `${path} ${look.name}`)
      await showAs(page, NARROW)
      t.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= NARROW.width, path)
    }
    t.same({ ...seen }, { abroad: [], errors: [] })
  },
)
