/** The dashboard of a whole node in a real browser. */
import type { Browser, Page } from 'playwright-core'
import { openStore, type Store } from '../../../src/server/store/base/open.ts'
import {
  axeFindings,
  GRAVE,
  LOOKS,
  openBrowser,
  showAs,
  watch,
  type Look,
  type Seen,
} from '../wire/browser.ts'
import { catalogueFile } from '../models/catalogue.ts'
import { present } from '../must.ts'
import { firstKeys, nodeSettings, startNode, type Settings, type TestNode } from '../nodes/node.ts'
import type { Teardown } from '../teardown.ts'

/** An embeddings model that needs no outside service and costs 0.001 USD a token. */
export const PRICED_MODEL = 'test/priced'
const CATALOGUE = {
  models: [
    {
      id: PRICED_MODEL,
      name: 'Priced',
      architecture: { output_modalities: ['embeddings'] },
      context_length: 8_192,
      endpoints: [{ provider: 'local', upstream_model: 'lexical-1', pricing: { prompt: '0.001' } }],
    },
  ],
}

export interface Dashboard {
  readonly node: TestNode
  readonly browser: Browser
  /** Not signed in yet. */
  readonly page: Page
  readonly seen: Seen
  readonly url: string
  readonly inferenceKey: string
  readonly managementKey: string
  /** As a new session, which begins with the page Now. */
  signIn(): Promise<void>
  /** By the navigation, to the page of this title; resolves when it has the focus. */
  visit(title: string): Promise<void>
  /** A call of the public API, past the dashboard. */
  call(
    path: string,
    key: string,
    more?: { readonly method?: string; readonly body?: unknown },
  ): Promise<{ readonly status: number; readonly body: string }>
}

interface Started {
  readonly node: TestNode
  readonly browser: Browser
}

async function start(t: Teardown, more: Settings): Promise<Started> {
  const settings = { ...(await nodeSettings(t)), SLUICE_CATALOG: catalogueFile(t, CATALOGUE), ...more }
  // One after the other: each takes all of a small machine while it starts.
  const node = await startNode(t, settings)
  return { node, browser: await openBrowser(t) }
}

let shared: Promise<Started> | null = null
/** Of the file of tests that ran before: an open page draws what it hears. */
let before: Page | null = null

/**
 * The dashboard of a node in a page of its own. Files of a process share node and browser, one after the other.
 *
 * @param own settings of a node that no other file sees
 */
export async function openDashboard(t: Teardown, own?: Settings): Promise<Dashboard> {
  if (own !== undefined) return openPage(await start(t, own))
  shared ??= start(t, {})
  await before?.context().close()
  const dashboard = await openPage(await shared)
  before = dashboard.page
  return dashboard
}

async function openPage({ node, browser }: Started): Promise<Dashboard> {
  const keys = firstKeys(node.dataDir)
  const [inferenceKey, managementKey] = [keys['inference_key'] ?? '', keys['management_key'] ?? '']
  const url = `${node.ready.admin_url}/dashboard/`
  const { page, seen } = await openWatchedPage(browser, url)
  return {
    node,
    browser,
    page,
    seen,
    url,
    inferenceKey,
    managementKey,
    async signIn() {
      await page.context().clearCookies()
      // A page that differs by its hash alone would not be loaded again.
      await page.goto('about:blank')
      await page.goto(`${url}#/now`)
      await page.getByLabel('Management key').fill(managementKey)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor()
    },
    async visit(title) {
      await page
        .getByRole('navigation', { name: 'Pages' })
        .getByRole('link', { name: title, exact: true })
        .click()
      await page.locator('h1:focus', { hasText: title }).waitFor()
    },
    async call(path, key, { body, method = body === undefined ? 'GET' : 'POST' } = {}) {
      const sent = { method, body: body === undefined ? null : JSON.stringify(body) }
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const answer = await fetch(`${node.ready.url}/api/v1/${path}`, { ...sent, headers })
      return { status: answer.status, body: await answer.text() }
    },
  }
}

/** The tables of the node, for rows that would take many calls; and the organization of its keys. */
export async function openTables(
  t: Teardown,
  { node }: Dashboard,
): Promise<{ readonly store: Store; readonly organizationId: string }> {
  const url = node.settings['DATABASE_URL'] ?? ''
  const store = openStore({ url, poolMax: 1, applicationName: 'sluice-test' })
  t.teardown(() => store.close())
  const [own] = await store.sql<{ id: string }[]>`SELECT id FROM organizations ORDER BY id LIMIT 1`
  return { store, organizationId: present(own).id }
}

/** An empty page with a clipboard, which is to show the dashboard at the address. */
export async function openWatchedPage(
  browser: Browser,
  url: string,
): Promise<{ readonly page: Page; readonly seen: Seen }> {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await context.newPage()
  const seen = watch(page, {
    origin: new URL(url).origin,
    // A key that the test ends on purpose is refused.
    mayBeRefused: (address) => /\/dashboard\/(?:session$|api\/v1\/)/.test(address),
  })
  return { page, seen }
}

/** Elements that are shown paler because they are loaded, or late. */
const NOT_AT_REST = '.busy, .waiting, .stale'

let looked = 0

/**
 * What axe-core finds in the page that is shown, in the next of its looks: each look has a third of the pages
 * and dialogs of the tests. `prove dashboard-looks` has all looks of all pages.
 */
export function findingsInNextLook(page: Page): Promise<readonly string[]> {
  return findingsInLooks(page, [present(LOOKS[looked++ % LOOKS.length])])
}

/** What axe-core finds in the page that is shown, with the name of the look. */
export async function findingsInLooks(
  page: Page,
  looks: readonly Look[],
  impacts: readonly string[] = GRAVE,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const look of looks) {
    await showAs(page, look)
    let findings: readonly string[] = []
    // What is found while something is loaded is looked at again.
    do {
      await page.locator(NOT_AT_REST).first().waitFor({ state: 'detached' })
      findings = await axeFindings(page, impacts)
    } while (findings.length > 0 && (await page.locator(NOT_AT_REST).count()) > 0)
    found.push(...findings.map((finding) => `${look.name}: ${finding}`))
  }
  await showAs(page, LOOKS[0])
  return found
}

/**
 * Pixels by which the page is wider than its window: 0 when only tables and plots scroll, in their own boxes.
 */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
}

/** Filters that are not read at a glance: choices that are cut, and labels and buttons on two lines. */
export function cutFilters(page: Page): Promise<readonly string[]> {
  return page.evaluate<
    readonly string[]
  >(`[...document.querySelectorAll('main .filters :is(select, label, .actions)')]
    .filter((one) => {
      if (!one.checkVisibility()) return false
      if (one.matches('.actions')) return new Set([...one.children].map(({ offsetTop }) => offsetTop)).size > 1
      if (one.matches('label')) return one.offsetHeight > 1.5 * parseFloat(getComputedStyle(one).lineHeight)
      const whole = one.cloneNode(true)
      whole.style.cssText = 'position: absolute; width: auto; max-width: none; visibility: hidden'
      one.after(whole)
      const isCut = whole.offsetWidth > one.offsetWidth
      whole.remove()
      return isCut
    })
    .map((one) => one.labels?.[0]?.textContent ?? one.textContent)`)
}

/** Captions of the tables of which a part is beyond the edge of their boxes. */
export function tablesBeyond(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`[...document.querySelectorAll('main :is(.scroll, .log)')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    .map((box) => box.querySelector('caption')?.textContent ?? '')`)
}
