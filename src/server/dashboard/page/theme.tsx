import { h, type ComponentChild } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { THEME_STORED } from '../../../schemas/api-prefix.ts'
import { THEME_EVENT } from './parts/plot.tsx'

/** As pages of the documentation have it: on one port, a choice holds for both. */
const STORED: typeof THEME_STORED = 'sluice-theme'
const SYSTEM = 'auto'

export const THEMES: readonly (readonly [theme: string, text: string])[] = [
  [SYSTEM, 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

/** What was chosen in this browser; as the system prefers, unless something was. */
function storedTheme(): string {
  try {
    const stored = localStorage.getItem(STORED)
    return THEMES.find(([theme]) => theme === stored)?.[0] ?? SYSTEM
  } catch {
    return SYSTEM
  }
}

function show(theme: string): void {
  document.documentElement.dataset['theme'] = theme
  document.dispatchEvent(new Event(THEME_EVENT))
}

/** Shows a theme, and keeps it in the browser. */
export function chooseTheme(theme: string): void {
  try {
    if (theme === SYSTEM) localStorage.removeItem(STORED)
    else localStorage.setItem(STORED, theme)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  show(theme)
}

/** Before the first drawing: the theme that was chosen, and from then on what another window chooses. */
export function followTheme(): void {
  show(storedTheme())
  addEventListener('storage', ({ key }) => (key === STORED || key === null) && show(storedTheme()))
}

const shownTheme = (): string => document.documentElement.dataset['theme'] ?? SYSTEM

/** Dark or light, as the system prefers unless the person has chosen. */
export function ThemeSwitch(): ComponentChild {
  const [theme, setTheme] = useState(shownTheme)
  useEffect(() => {
    const look = (): void => setTheme(shownTheme())
    document.addEventListener(THEME_EVENT, look)
    return () => document.removeEventListener(THEME_EVENT, look)
  }, [])
  const change = (event: Event): void => chooseTheme((event.currentTarget as HTMLSelectElement).value)
  return (
    <select class="quiet" aria-label="Theme" onChange={change}>
      {THEMES.map(([value, text]) => (
        <option key={value} value={value} selected={value === theme}>
          {text}
        </option>
      ))}
    </select>
  )
}
