import t from 'tap'
import type { Page } from 'playwright-core'
import { WEBHOOKS } from '../../src/server/http/reference/openapi-webhooks.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'
import {
  axeFindings,
  LOOKS,
  openBrowser,
  showAs,
  skipWithoutBrowser as skip,
  watch,
} from '../support/wire/browser.ts'
import { openFront } from '../support/front.ts'

/** Hundreds of operations on a machine that does ten other things. */
t.setTimeout(600_000)

t.test(
  'the reference page shows every operation in a browser, leads to the guides, and asks nobody else for anything',
  { skip },
  async (t) => {
    const { url } = await openFront(t, OPERATIONS)
    const page = await (await openBrowser(t)).newPage()
    const seen = watch(page, { origin: url })
    await page.goto(`${url}/docs`)
    // One of all methods is shown under each of the usual ones; what we send to receivers stands below what
    // we take.
    const paths = OPERATIONS.flatMap(({ path, method }) =>
      method === 'any' ? Array.from({ length: 7 }, () => path) : [path],
    )
    const expected = [...paths, ...Object.keys(WEBHOOKS)].sort()
    await page.locator('.opblock-summary-path').first().waitFor()
    t.same((await shownBy(page)).map((text) => text.replaceAll('\u200b', '')).sort(), expected)
    await page.getByRole('link', { name: 'Guides' }).click()
    await page.locator('nav.groups').getByRole('link', { name: 'Videos', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Videos' }).waitFor()
    t.same({ ...seen }, { abroad: [], errors: [] })
  },
)

t.test(
  'guides can be read in both colours and on a telephone, and ask nobody else for anything',
  { skip },
  async (t) => {
    const { url } = await openFront(t, [])
    const page = await (await openBrowser(t)).newPage()
    const seen = watch(page, { origin: url })
    for (const path of ['', 'money'])
      for (const look of LOOKS.filter(({ name }) => name !== 'light')) {
        await showAs(page, look)
        await page.goto(`${url}/docs/guides/${path}`)
        t.ok(
          (await page.evaluate<number>('document.documentElement.scrollWidth')) <= look.width,
          `${path} ${look.name}`,
        )
        t.same(await axeFindings(page), [], `${path} ${look.name}`)
      }
    t.same({ ...seen }, { abroad: [], errors: [] })
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

const BLOCKS =
  "[...document.querySelectorAll('.opblock')].map((one) => [one.id, one.querySelector('.opblock-summary-path').innerText])"
/** Two frames: what comes into view is drawn in the second one. @returns whether there is nothing below */
const FURTHER = `new Promise((resolve) => {
  const before = scrollY
  scrollBy(0, innerHeight * 0.8)
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(scrollY <= before)))
})`
