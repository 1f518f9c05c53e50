import t from 'tap'
import type { Page } from 'playwright-core'
import { axeFindings, LOOKS, showAs, skipWithoutBrowser as skip } from '../../support/wire/browser.ts'
import { fullResults } from './full-results.ts'
import { reportOpener } from './open-report.ts'

// A machine that does other things takes seconds for each page.
t.setTimeout(180_000)
const open = reportOpener(t)
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')

t.test('the result comes first, then losses and wins, then the rest', { skip }, async (t) => {
  const { page } = await open(t, fullResults())
  const ids = await page.locator('main > [id]').evaluateAll((all) => all.map(({ id }) => id))
  t.same(ids.slice(0, 3), ['result', 'sides', 'rest'])
  const lead = (await page.locator('#result .lead').textContent()) ?? ''
  t.match(flat(lead).trim(), /^a call costs 8\d\.\d µs of CPU at sluice/)
  t.equal(await page.locator('#result .cost li .name').count(), 4)
  const titles = await page.locator('#result figcaption').allTextContents()
  t.same(
    titles.map((title) => title.split(' logarithmic')[0]),
    ['CPU of a call, µs', 'p50 latency against offered load', 'p99 latency against offered load'],
  )
  t.ok(((await page.locator('#result').boundingBox())?.y ?? Infinity) < 200)
})

t.test('latencies of every case with two subjects are drawn, without a script', { skip }, async (t) => {
  const { page } = await open(t, fullResults(), { javaScriptEnabled: false })
  const part = page.locator('#scenario-embeddings .distributions figure')
  t.same(await part.locator('figcaption').allInnerTexts(), ['1 connection', '48 connections'])
  t.equal(await part.nth(1).locator('polyline').count(), 6)
  t.match(
    await part.nth(1).locator('svg[role=img]').getAttribute('aria-label'),
    'sluice 50 % within 4.00 ms, 90 % within 6.00 ms, 99 % within 9.00 ms',
  )
})

t.test('drawings follow the colours of the screen, and their text keeps its size', { skip }, async (t) => {
  const stroke = async (page: Page): Promise<string> =>
    page.evaluate("getComputedStyle(document.querySelector('polyline.ours')).stroke")
  const [light, dark] = [
    await open(t, fullResults(), { viewport: { width: 1_280, height: 900 } }),
    await open(t, fullResults(), { viewport: { width: 380, height: 800 }, colorScheme: 'dark' }),
  ]
  t.same([await stroke(light.page), await stroke(dark.page)], ['rgb(0, 114, 178)', 'rgb(79, 176, 234)'])
  const height = "document.querySelector('#result .drawn text').getBoundingClientRect().height"
  const heights = await Promise.all([light, dark].map(({ page }) => page.evaluate<number>(height)))
  t.ok((heights[0] ?? 0) > 8)
  t.equal(heights[0], heights[1])
  t.same(dark.errors, [])
})

for (const look of LOOKS) {
  t.test(`axe-core finds nothing serious: ${look.name}`, { skip }, async (t) => {
    const whole = fullResults()
    const { page } = await open(t, { ...whole, scenarios: whole.scenarios.slice(0, 3) })
    await showAs(page, look)
    t.same(await axeFindings(page), [])
  })
}
