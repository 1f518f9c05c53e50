import { useEffect, useRef } from 'preact/hooks'
import { hashOf, type Page } from './page.ts'

/** Between `g` and the letter of a page, in milliseconds. */
const PAIR_MS = 1_000
/** The field that searches what a page shows. */
const SEARCH = 'main input[type=search], main [role=search] input'

/**
 * `g n` leads to the page whose letter is `n`, and `/` to the search of the page, unless the focus is in a
 * field or a dialog is open. Control or command with `k` opens the commands everywhere.
 */
export function useShortcuts(pages: readonly Page[], openCommands: () => void): void {
  const open = useRef(openCommands)
  open.current = openCommands
  useEffect(() => {
    let leadAt = -Infinity
    const press = (event: KeyboardEvent): void => {
      const { key, target, timeStamp } = event
      if ((event.ctrlKey || event.metaKey) && !event.altKey && key.toLowerCase() === 'k') {
        // The browser's own search waits behind the same keys.
        event.preventDefault()
        return open.current()
      }
      const isTyped = target instanceof Element && target.closest('input, select, textarea, dialog') !== null
      if (isTyped || event.ctrlKey || event.metaKey || event.altKey) return
      if (key === '/') {
        event.preventDefault()
        const search = document.querySelector<HTMLInputElement>(SEARCH)
        if (search === null) return open.current()
        search.focus()
        return search.select()
      }
      const page = timeStamp - leadAt < PAIR_MS ? pages.find(({ letter }) => letter === key) : undefined
      leadAt = key === 'g' && page === undefined ? timeStamp : -Infinity
      if (page !== undefined) location.hash = hashOf(page.path)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [pages])
}
