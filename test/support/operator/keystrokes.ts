/** The first run of the dashboard by keystrokes alone. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'

const run = promisify(execFile)
/** Elements that a page may have before the one that is looked for. */
const TABS_MAX = 60
const FOCUSED = `(({ tagName, textContent, title, labels }) =>
  [tagName, textContent, title, labels?.[0]?.textContent].join(' '))(document.activeElement)`

/** Presses the tabulator until an element has the focus whose text, title or label is like that. */
export async function tabTo(page: Page, wanted: RegExp): Promise<void> {
  for (let tab = 0; tab < TABS_MAX; tab++) {
    await page.keyboard.press('Tab')
    if (wanted.test(await page.evaluate<string>(FOCUSED))) return
  }
  throw new Error(`nothing like ${wanted} has the focus`)
}

/** Presses the button of a copy, which has the focus; what was copied. */
export async function copied(page: Page): Promise<string> {
  await page.keyboard.press('Enter')
  await page.getByText('Copied.').last().waitFor()
  return page.evaluate<string>('navigator.clipboard.readText()')
}

/** Runs a pasted text as a terminal does; what it printed. */
export async function paste(text: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', text])
  return stdout
}

/** The step of the page Start that has the title. */
export const step = (page: Page, title: string) => page.getByRole('listitem').filter({ hasText: title })

/** Types the key where a fresh node asks for it; resolves when the page Start has the focus. */
export async function signInTyped(
  page: Page,
  { url, managementKey }: { readonly url: string; readonly managementKey: string },
): Promise<void> {
  await page.goto(url)
  await page.locator('input:focus').waitFor()
  await page.keyboard.type(managementKey)
  await page.keyboard.press('Enter')
  await page.locator('h1:focus', { hasText: 'Start' }).waitFor()
}

/**
 * Goes through the steps from the list of providers, which has the focus, by the one that needs no key.
 * @returns the key that was made, and the call to paste
 */
export async function copiedCall(page: Page): Promise<{ readonly key: string; readonly call: string }> {
  // The first one after "Choose a provider".
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowDown')
  await step(page, '1. Choose').getByText('ready').waitFor()
  await tabTo(page, /^BUTTON Create key/)
  await page.keyboard.press('Enter')
  await page.getByText('Copy the key now: it is not shown again.').waitFor()
  await tabTo(page, /^BUTTON Copy API key/)
  const key = await copied(page)
  await page.getByText('Waiting for the first call…').waitFor()
  await tabTo(page, /^BUTTON Copy Sample call to sluice\/echo-1/)
  return { key, call: await copied(page) }
}

/** Resolves when the page says so, in the step and to a reader of the screen. */
export async function firstCallSeen(page: Page): Promise<void> {
  await page.getByText('First call seen: chat.create.').waitFor()
  await page.getByRole('status').getByText('First call seen.').waitFor()
}
