/** Opens the page of a run in a real browser, as a recipient of the file does. */
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { renderReport } from '../../../bench/report/report-page.ts'
import type { ResultsFile } from '../../../bench/record.ts'
import { openBrowser } from '../../support/wire/browser.ts'
import type { Teardown } from '../../support/teardown.ts'

export interface Opened {
  readonly page: Page
  readonly requests: readonly string[]
  readonly errors: readonly string[]
  /** Of the page itself. */
  readonly address: string
}

interface Place extends Teardown {
  testdir(content: Readonly<Record<string, string>>): string
}

let browser: Promise<Browser> | null = null

/** @param whole the test that all others belong to, with whose end the browser ends */
export function reportOpener(
  whole: Teardown,
): (t: Place, results: ResultsFile, options?: BrowserContextOptions) => Promise<Opened> {
  return async (t, results, options = {}) => {
    browser ??= openBrowser(whole)
    // Through JSON, as a run leaves it.
    const folder = t.testdir({ 'report.html': renderReport(JSON.parse(JSON.stringify(results))) })
    const address = pathToFileURL(`${folder}/report.html`).href
    const context = await (await browser).newContext(options)
    t.teardown(() => context.close())
    const page = await context.newPage()
    const [requests, errors]: [string[], string[]] = [[], []]
    page.on('request', (request) => requests.push(request.url()))
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('dialog', (dialog) => errors.push(`dialog ${dialog.message()}`))
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) errors.push(message.text())
    })
    await page.goto(address)
    return { page, requests, errors, address }
  }
}
