/** What tests look for in the pages of a dashboard that has records. */
import type { Locator, Page } from 'playwright-core'
import type { Seen } from '../wire/browser.ts'
import type { Records } from './dashboard-records.ts'

export interface RecordParts {
  readonly page: Page
  readonly seen: Seen
  readonly jobs: Locator
  readonly dialog: Locator
  select(label: string, value: string): Promise<unknown>
}

/** The page, and what tests look for in it. */
export function partsOf({ dashboard: { page, seen } }: Records): RecordParts {
  return {
    page,
    seen,
    jobs: page.getByRole('table', { name: 'Video jobs, newest first' }),
    dialog: page.getByRole('dialog'),
    select: (label, value) => page.getByLabel(label, { exact: true }).selectOption(value),
  }
}

export async function rowsOf(table: Locator): Promise<number> {
  return (await table.getByRole('row').count()) - 1
}
