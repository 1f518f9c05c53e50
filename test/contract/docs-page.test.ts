import t from 'tap'
import { chromium, type Page } from 'playwright-core'
import { WEBHOOKS } from '../../src/server/http/openapi-webhooks.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'
import { BROWSERS, browserFile } from '../support/browser.ts'
import { openFront } from '../support/front.ts'

/** Hundreds of operations on a machine that does ten other things. */
t.setTimeout(120_000)

const skip = browserFile === null ? `no browser on the PATH: ${BROWSERS.join(', ')}` : false

t.test(
  'the reference page shows every operation in a browser, and asks nobody else for anything',
  { skip },
  async (t) => {
    const { url } = await openFront(t, OPERATIONS)
    const browser = await chromium.launch({ executablePath: browserFile ?? '', args: ['--no-sandbox'] })
    t.teardown(() => browser.close())
    const page = await browser.newPage()
    const seen = watch(page)
    await page.goto(`${url}/docs`)
    // One of all methods is shown under each of the usual ones; what we send to receivers stands below what we take.
    const paths = OPERATIONS.flatMap(({ path, method }) => method === 'any' ? Array.from({ length: 7 }, () => path) : [path])
    const expected = [...paths, ...Object.keys(WEBHOOKS)].sort()
    await page.locator('.opblock-summary-path').first().waitFor()
    t.same((await shownBy(page)).map((text) => text.replaceAll('\u200b', '')).sort(), expected)
    t.same(
      seen.requests.filter((address) => !address.startsWith(`${url}/`) && !address.startsWith('data:')),
      [],
    )
    t.same(seen.errors, [])
  },
)

/** Of so many operations the page holds those alone that are to be seen: it is scrolled through. */
async function shownBy(page: Page): Promise<readonly string[]> {
  const shown = new Map<string, string>()
  for (let isAtEnd = false; ;) {
    const blocks = await page.evaluate<[string, string][]>(BLOCKS)
    const before = shown.size
    for (const [id, path] of blocks) shown.set(id, path)
    if (isAtEnd && shown.size === before) return [...shown.values()]
    isAtEnd = await page.evaluate<boolean>(FURTHER)
  }
}

const BLOCKS = "[...document.querySelectorAll('.opblock')].map((one) => [one.id, one.querySelector('.opblock-summary-path').innerText])"
/** Two frames: what comes into view is drawn in the second one. @returns whether there is nothing below */
const FURTHER = `new Promise((resolve) => {
  const before = scrollY
  scrollBy(0, innerHeight * 0.8)
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(scrollY <= before)))
})`

interface Seen {
  readonly requests: readonly string[]
  readonly errors: readonly string[]
}

function watch(page: Page): Seen {
  const [requests, errors]: [string[], string[]] = [[], []]
  page.on('request', (request) => requests.push(request.url()))
  page.on('requestfailed', (request) => errors.push(`${request.url()} ${request.failure()?.errorText ?? ''}`))
  page.on('response', (response) => {
    if (!response.ok()) errors.push(`${response.url()} ${response.status()}`)
  })
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  return { requests, errors }
}
