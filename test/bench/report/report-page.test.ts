import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Locator } from 'playwright-core'
import { NOT_TAKEN } from '../../../bench/report/figures.ts'
import { skipWithoutBrowser as skip } from '../../support/wire/browser.ts'
import { resultsFile, rowRecord, scenarioRecord } from '../../support/load/results-file.ts'
import { fullResults, HOSTILE } from './full-results.ts'
import { reportOpener, type Opened } from './open-report.ts'

const open = reportOpener(t)

/** One page for all that only look at it: to open and draw it is most of what a test here takes. */
let looked: Promise<Opened> | null = null
function lookedAt(): Promise<Opened> {
  return (looked ??= open(t, fullResults()))
}

const cellsOf = async (rows: Locator): Promise<readonly (readonly string[])[]> =>
  Promise.all((await rows.all()).map((row) => row.locator('th, td').allTextContents()))
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')

t.test('a page requests nothing and has no error, whatever the results contain', { skip }, async (t) => {
  const { page, requests, errors, address } = await lookedAt()
  await page.waitForSelector('.plot canvas')
  t.same(requests, [address])
  t.same(errors, [])
  t.equal(await page.locator('img').count(), 0)
  t.equal(await page.title(), 'Sluice bench, 2026-11-21')
})

t.test(
  "the browser itself keeps the page's content from requesting or running anything",
  { skip },
  async (t) => {
    const { page, requests, address } = await open(t, fullResults())
    const refused = "fetch('http://127.0.0.1:9/').then(() => 'asked', (error) => error.name)"
    t.equal(await page.evaluate(refused), 'TypeError')
    const added = `(() => {
    const one = document.createElement('script')
    one.textContent = 'window.ran = true'
    document.body.append(one)
    return window.ran === true
  })()`
    t.equal(await page.evaluate(added), false)
    t.same(requests, [address])
  },
)

t.test('shows machine, versions, command and load of the run', { skip }, async (t) => {
  const { page } = await lookedAt()
  const text = flat(await page.locator('.facts').innerText())
  const reported = [
    'npm run bench -- --repeats 5',
    '10 min 12 s',
    '2 × Planted CPU @ 2.50GHz, 8.2 GB',
    'glibc 2.36',
    'Load before 0.12',
    'sluice 0.1.0, node v20.20.2 and nginx 1.22.1',
  ]
  for (const fact of reported) t.match(text, fact)
})

t.test(
  'every row, ratio, check, subject, absent peer and note has its place in the part of its scenario',
  { skip },
  async (t) => {
    const results = fullResults()
    const { page } = await lookedAt()
    for (const [at, scenario] of results.scenarios.entries()) {
      const part = page.locator('main > section[id^=scenario-]').nth(at)
      const text = flat((await part.textContent()) ?? '')
      const reported = [
        scenario.scenario,
        scenario.question,
        ...scenario.notes,
        ...scenario.subjects.flatMap(({ name, note }) => [name, note]),
        ...scenario.absent.flatMap(({ name, reason }) => [name, reason]),
        ...scenario.checks.map((check) => check.text),
        ...scenario.curves.map(({ title }) => title),
        ...scenario.rows.flatMap((row) => row.failures),
      ]
      t.same(
        reported.filter((one) => !text.includes(flat(one))),
        [],
      )
      t.equal(await part.locator('.rows tbody tr').count(), scenario.rows.length)
      t.equal(await part.locator('.checks tbody tr').count(), scenario.checks.length)
      const cells = await cellsOf(part.locator('.rows tbody tr'))
      t.same(
        cells.map((row) => row.slice(0, 2)),
        scenario.rows.map((row) => [row.case, row.subject]),
      )
      t.ok((await part.locator('.ratios tbody tr').count()) >= scenario.ratios.length)
    }
  },
)

t.test(
  'figures show their spread, limits of the generator are marked, and missing ones are a dash',
  { skip },
  async (t) => {
    const { page } = await lookedAt()
    const row = (name: string, subject: string) =>
      page
        .locator('.rows tbody tr', { hasText: name })
        .filter({ has: page.locator(`th:text-is("${subject}")`) })
    t.match(
      flat(await row('48 connections', 'sluice').first().innerText()),
      / 85\.2 82\.7–86\.1 9,100 9,009–9,191 /,
    )
    t.match(await row('48 connections', 'direct').first().innerText(), '*')
    t.ok((await row('ten minutes', 'sluice').locator('td').allInnerTexts()).includes(NOT_TAKEN))
  },
)

t.test(
  'every curve is drawn, in colours that differ, and has a table that says the same',
  { skip },
  async (t) => {
    const results = fullResults()
    const { page } = await lookedAt()
    await page.waitForSelector('.plot canvas')
    const curves = results.scenarios.flatMap((scenario) => scenario.curves)
    const drawn = curves.filter(({ lines }) => lines.length > 0)
    t.equal(await page.locator('figure.curve').count(), curves.length)
    const colours = `[...document.querySelectorAll('.plot canvas')].map((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    const strong = new Set()
    for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) strong.add(data.subarray(at, at + 3).join())
    return strong.size
  })`
    const found = await page.evaluate<readonly number[]>(colours)
    t.equal(found.length, drawn.length)
    t.ok(found.every((count, at) => count > (drawn[at]?.lines.length ?? 0)))
    const tables = page.locator('figure.curve details table')
    t.equal(await tables.count(), drawn.length)
    const cells = await cellsOf(tables.nth(1).locator('tbody tr'))
    t.same(cells, [
      ['1,000', '0.400', '0.300'],
      ['2,500', '0.500', '0.350'],
      ['5,000', '0.900', '0.500'],
      ['7,500', '2.50', NOT_TAKEN],
      ['9,000', '44.0', '0.800'],
      ['18,000', NOT_TAKEN, '6.00'],
    ])
  },
)

t.test('latency is drawn on a logarithmic scale, memory from zero on', { skip }, async (t) => {
  const { page } = await lookedAt()
  t.same(await page.locator('.plot').evaluateAll((all) => all.map((one) => one.getAttribute('data-scale'))), [
    'log',
    'log',
    'linear',
    'linear',
    'linear',
  ])
})

t.test('a plot is read with the keyboard alone', { skip }, async (t) => {
  const { page } = await open(t, fullResults())
  const plot = page.locator('.plot').nth(1)
  const text = page.locator('.reading').nth(1)
  await plot.focus()
  await page.keyboard.press('End')
  t.equal(await text.innerText(), 'requests offered per second 18,000: sluice –, nginx 6')
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowRight')
  t.equal(await text.innerText(), 'requests offered per second 2,500: sluice 0.5, nginx 0.35')
  t.same(await plot.locator('.u-legend .u-value').allInnerTexts(), ['2,500', '0.5', '0.35'])
  await page.keyboard.press('Escape')
  t.equal(await text.innerText(), '')
  const name = plot.locator('.u-legend th').nth(2)
  await name.focus()
  await page.keyboard.press('Enter')
  t.equal(await name.getAttribute('aria-pressed'), 'false')
})

t.test('results.json comes out of the page as it went in', { skip }, async (t) => {
  const { page, requests, address } = await open(t, fullResults())
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')])
  t.equal(download.suggestedFilename(), 'results.json')
  t.same(JSON.parse(readFileSync(await download.path(), 'utf8')), JSON.parse(JSON.stringify(fullResults())))
  t.same(
    requests.filter((url) => url !== address && !url.startsWith('blob:')),
    [],
  )
})

t.test('without scripts nothing but the plots is missing', { skip }, async (t) => {
  const { page } = await open(t, fullResults(), { javaScriptEnabled: false })
  const text = flat(await page.locator('main').innerText())
  t.match(text, 'What Sluice lost')
  t.equal(await page.locator('#result polyline').count(), 4)
  t.match(text, 'sluice needs 2.22 × the CPU per request of nginx')
  t.ok(text.includes(flat(HOSTILE)))
})

t.test(
  'a narrow screen scrolls tables, not the page; dark screens have a dark page, paper has not',
  { skip },
  async (t) => {
    const { page } = await open(t, fullResults(), {
      viewport: { width: 360, height: 740 },
      colorScheme: 'dark',
    })
    await page.waitForSelector('.plot canvas')
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    const paper = 'getComputedStyle(document.body).backgroundColor'
    t.equal(await page.evaluate(paper), 'rgb(20, 24, 28)')
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    t.equal(await page.evaluate(paper), 'rgb(255, 255, 255)')
    await page.evaluate("dispatchEvent(new Event('afterprint'))")
    t.equal(await page.evaluate(paper), 'rgb(20, 24, 28)')
  },
)

t.test('no scenario, one row and two hundred rows make a page each', { skip }, async (t) => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, at) =>
      rowRecord({ scenario: 'operations', case: `operation ${at}`, subject: 'sluice' }),
    )
  for (const count of [1, 200]) {
    const { page, errors } = await open(
      t,
      resultsFile([scenarioRecord({ scenario: 'operations', rows: rows(count) })]),
    )
    t.equal(await page.locator('.rows tbody tr').count(), count)
    t.equal(await page.locator('.bars li').count(), 2 * count)
    t.same(errors, [])
  }
  const { page, errors, requests, address } = await open(t, resultsFile([]))
  t.match(await page.locator('main').innerText(), 'No scenario was run')
  t.same(errors, [])
  t.same(requests, [address])
})
