/** A browser of the machine: none is downloaded. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import type { Teardown } from '../teardown.ts'

export const BROWSERS: readonly string[] = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]

/** Null when the PATH has none: tests that need one are skipped, and say so. */
export const browserFile: string | null =
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => BROWSERS.map((name) => join(folder, name)))
    .find((path) => existsSync(path)) ?? null

/** For `t.test`: why what needs a browser is left out, or false. */
export const skipWithoutBrowser: string | false =
  browserFile === null ? `no browser on the PATH: ${BROWSERS.join(', ')}` : false

/**
 * Milliseconds after which a wait for what never comes fails with its name: before the limit of a test file does,
 * which names nothing.
 */
const SHOWN_MS_MAX = 150_000

/** Ended with the test. As root it has no sandbox of its own. */
export async function openBrowser(t: Teardown): Promise<Browser> {
  const settings = { executablePath: browserFile ?? '', args: ['--no-sandbox'], timeout: 0 }
  const browser = await chromium.launch(settings)
  t.teardown(() => browser.close())
  browser.on('context', (context) => {
    context.setDefaultTimeout(SHOWN_MS_MAX)
  })
  return browser
}

export interface Seen {
  /** Addresses that were asked for and are not below the page's own origin. */
  readonly abroad: readonly string[]
  /** Of scripts, of the console, and of the page's policy. */
  readonly errors: readonly string[]
}

/**
 * Notes a page's requests to other hosts and its errors. An error answer is not an error of the page, but
 * Chromium writes each to the console: `mayBeRefused` says which are expected.
 */
export function watch(
  page: Page,
  { origin, mayBeRefused = () => false }: { readonly origin: string; mayBeRefused?(url: string): boolean },
): Seen {
  const [abroad, errors]: [string[], string[]] = [[], []]
  page.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin)
      abroad.push(request.url())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    const isRefusal =
      message.text().startsWith('Failed to load resource') && mayBeRefused(message.location().url)
    if (['error', 'warning'].includes(message.type()) && !isRefusal)
      errors.push(`${message.text()} ${message.location().url}`)
  })
  return { abroad, errors }
}

/** In which forms a page is looked at: two colours, and the width of a telephone. */
export const LOOKS = [
  { name: 'light', colorScheme: 'light', width: 1_280, height: 900 },
  { name: 'dark', colorScheme: 'dark', width: 1_280, height: 900 },
  { name: 'narrow', colorScheme: 'light', width: 380, height: 800 },
] as const
/** Each width of a proof, light and dark. */
export const ALL_LOOKS = [1_280, 1_024, 380].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({
    ...{ name: `${width}-${colorScheme}`, colorScheme, width, height: width > 380 ? 900 : 800 },
  })),
)
export interface Look {
  readonly name: string
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
  readonly height: number
}

export async function showAs(page: Page, { colorScheme, width, height }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  await page.setViewportSize({ width, height })
}

/** Impacts of axe-core's findings: those that exclude users, and all. */
export const GRAVE = ['serious', 'critical'] as const
export const ALL_IMPACTS = ['minor', 'moderate', ...GRAVE] as const

/** What axe-core finds of these impacts in what is shown now, a line each. */
export async function axeFindings(
  page: Page,
  impacts: readonly string[] = GRAVE,
): Promise<readonly string[]> {
  await page.evaluate(axeScript())
  return page.evaluate<
    readonly string[]
  >(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
    .filter(({ impact }) => ${JSON.stringify(impacts)}.includes(impact))
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target.join(' ') + ': ' + failureSummary)))`)
}

let axe = ''

function axeScript(): string {
  axe ||= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  return axe
}
