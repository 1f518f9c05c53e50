import { useEffect } from 'preact/hooks'
import { hashOf, type Page } from './page.ts'

/** Between `g` and the letter of a page, in milliseconds. */
const PAIR_MS = 1_000

/** `g n` leads to the page whose letter is `n`, unless the focus is in a field or a dialog is open. */
export function useShortcuts(pages: readonly Page[]): void {
  useEffect(() => {
    let leadAt = -Infinity
    const press = (event: KeyboardEvent): void => {
      const isTyped =
        event.target instanceof Element && event.target.closest('input, select, textarea, dialog') !== null
      if (isTyped || event.ctrlKey || event.metaKey || event.altKey) return
      const page =
        event.timeStamp - leadAt < PAIR_MS ? pages.find(({ letter }) => letter === event.key) : undefined
      leadAt = event.key === 'g' && page === undefined ? event.timeStamp : -Infinity
      if (page !== undefined) location.hash = hashOf(page.path)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [pages])
}
